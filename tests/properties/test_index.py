"""The index and the fold say the same of every life of a registry and a channel, whatever became of their files."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from budgets import examples
from pawl.canonical import digest_of, record_bytes
from pawl.errors import IntegrityError, PawlError
from pawl.ids import REGISTRY_JOURNAL, Channel, Name, Version, parse_ref
from pawl.registry.anchors import check_anchor
from pawl.registry.catalog import Catalog, fold_registry
from pawl.registry.channels import ChannelState, Pin, fold_channel, follow, projection, projection_bytes, state_digest
from pawl.registry.closure import dependents_of
from pawl.registry.journal import EMPTY, Actor, Record, draft, seal
from pawl.releases.planning import pin_of
from pawl.workspace import Workspace
from pawl.workspace.journal_files import record_data
from registry.make import pin, publication

STAGING = Channel("staging")
NAMES = tuple(Name(name) for name in ("a", "b/c", "d"))
PEOPLE = (Actor(name="Ada", email="ada@example.invalid"), Actor(name="Bert"), Actor(name="Zoë", verified=True))
AT = "2026-03-01T12:00:{:02d}Z"
UNTIL = "2027-01-01T00:00:00Z"
VERSIONS = ("1.0.0", "2.0.0", "3.0.0", "4.0.0", "2.0.0rc1", "12.0.0")
PLACES = tuple(Version(version) for version in ("0.0.1", "1.0.0", "2.0.0", "3.5.0", "10.0.0"))
lives = examples(10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@dataclass
class Life:
    """A workspace whose journals are written record by record, and what lazy readers were told before."""

    root: Path
    long_lived: Workspace = field(init=False)
    late: list[tuple[Any, Any]] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        settings_file = Workspace(self.root).settings_file
        settings_file.parent.mkdir(parents=True)
        settings_file.write_text("format: 1\nchannels:\n  staging: {}\n", encoding="utf-8")
        self.long_lived = Workspace(self.root)

    def records(self, journal: str) -> tuple[Record, ...]:
        return Workspace(self.root).journal(journal)

    def write(self, journal: str, action: str, body: Mapping[str, Any]) -> None:
        """Append a record if it can follow; a life holds only what the fold takes."""
        try:
            records = self.records(journal)
        except PawlError:
            return
        self.count += 1
        head = records[-1].head if records else EMPTY
        fields: dict[str, Any] = {
            "journal": journal,
            "after": head,
            "action": action,
            "at": AT.format(self.count % 60),
            "actor": PEOPLE[self.count % 3],
            "reason": "because",
        }
        try:
            if journal == REGISTRY_JOURNAL:
                record = seal(**fields, body=body)
                fold_registry((*records, record))
            else:
                state = fold_channel(STAGING, records)
                whole = {"evidence": [], **body, "registry": self.anchor().as_dict(), "actor_kind": "human"}
                after = follow(state, seal(**fields, body=whole))
                record = seal(**fields, body={**whole, "state": state_digest(after)})
        except (PawlError, ValueError, KeyError):
            return
        path = Workspace(self.root).record_file(journal, record.serial)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(".new")
        new.write_bytes(record.data)
        new.replace(path)  # whole or not there, as pawl writes them
        if self.count % 2:  # as a command tells that wrote it itself; others come from elsewhere
            self.long_lived.appended(record, digest_of("a projection that is not there"))

    def anchor(self) -> Any:
        try:
            records = self.records(REGISTRY_JOURNAL)
        except PawlError:
            return EMPTY
        return records[-1].head if records else EMPTY

    def files(self, journal: str) -> list[Path]:
        folder = self.root / "releases" / journal
        return sorted(folder.iterdir()) if folder.is_dir() else []


def catalog_answers(catalog: Catalog) -> dict[str, Any]:
    refs = [parse_ref(f"{name}@{major}.0.0") for name in NAMES for major in range(1, 5)]
    return {
        "head": catalog.head,
        "published": list(catalog.published.items()),
        "there": [ref in catalog.published for ref in refs],
        "names": [(name, list(items)) for name, items in catalog.names.items()],
        "versions": [list(catalog.versions_of(name)) for name in NAMES],
        "last": [catalog.versions_of(name)[-1:] for name in NAMES],
        "finals": [[*finals.below(None), *finals.above(None)] for finals in map(catalog.finals, NAMES)],
        "near": [
            [list(islice(way(version), 2)) for way in (finals.below, finals.above)]
            for finals in map(catalog.finals, NAMES)
            for version in PLACES
        ],
        "authors": [(digest, list(actors)) for digest, actors in catalog.authors.items()],
        "withdrawals": list(catalog.withdrawals.items()),
        "one": [catalog.withdrawal(ref) for ref in refs],
        "policies": list(catalog.policies),
        "policy": catalog.policy,
        "sizes": [len(part) for part in (catalog.published, catalog.names, catalog.authors, catalog.policies)],
    }


def channel_answers(state: ChannelState) -> dict[str, Any]:
    versions = [pin(name, f"{major}.0.0") for name in NAMES for major in range(1, 5)]
    parts = ("pins", "rejections", "halts", "approvals", "waivers", "freezes", "moved")
    return {
        "heads": (state.head, state.registry),
        **{part: list(getattr(state, part).items()) for part in parts},
        "sizes": [len(getattr(state, part)) for part in (*parts, "past", "evidence")],
        "past": [(name, list(items)) for name, items in state.past.items()],
        "evidence": list(state.evidence),
        "digest": state_digest(state),
        "bytes": projection_bytes(state),
        "projection": record_bytes(projection(state)),
        "was": [state.was_live(item.digest, item.name) for item in versions],
        "stays": [list(state.stays(item.digest, item.name)) for item in versions],
        "times": [state.live_times(item.digest, item.name) for item in versions],
        "earlier": [state.earlier(name) for name in NAMES],
        "last": [state.last(name) for name in NAMES],
        "users": [dependents_of([name], state.pins) for name in NAMES],
        "halted": [state.halted(name) for name in NAMES],
    }


def answer(ask: Callable[[], Any], answers: Callable[[Any], Any]) -> Any:
    """Return everything that a state says, or the words with which it is refused."""
    try:
        return answers(ask())
    except PawlError as error:
        return str(error), type(error)


def folded_registry(files: Workspace) -> Catalog:
    """Return what the files of the registry come to; none at all are damage where a channel knows of one."""
    records = files.journal(REGISTRY_JOURNAL)
    if not records:
        check_anchor(records, fold_channel(STAGING, files.journal(STAGING)))
    return fold_registry(records)


def compare(life: Life) -> None:
    files = Workspace(life.root)
    registry = answer(partial(folded_registry, files), catalog_answers)
    channel = answer(lambda: fold_channel(STAGING, files.journal(STAGING)), channel_answers)
    for workspace in (life.long_lived, Workspace(life.root)):
        assert answer(workspace.catalog, catalog_answers) == registry
        assert answer(partial(workspace.channel, STAGING), channel_answers) == channel
        assert answer(partial(workspace.whole, STAGING), channel_answers) == channel
        for journal in (REGISTRY_JOURNAL, STAGING):
            records = answer(partial(files.journal, journal), list)
            if isinstance(records, list):
                assert workspace.head(journal) == (records[-1].head if records else EMPTY)
                assert workspace.newest(journal) == (records[-1] if records else None)
                assert not records or workspace.time_of(journal, records[-1].head) == records[-1].at


def keep_for_later(life: Life) -> None:
    """Somebody opens both states and reads nothing of them yet."""
    try:
        catalog, state = life.long_lived.catalog(), life.long_lived.channel(STAGING)
        folds = (fold_registry(life.records(REGISTRY_JOURNAL)), fold_channel(STAGING, life.records(STAGING)))
    except PawlError:
        return
    life.late += [(catalog, folds[0]), (state, folds[1])]


def read_late(life: Life) -> None:
    """What was opened then still says what it would have said, or that its records are not there any more."""
    for opened, fold in life.late:
        answers: Any = catalog_answers if isinstance(fold, Catalog) else channel_answers
        found = answer(partial(answers, opened), lambda found: found)
        gone = isinstance(found, tuple) and found[1] is IntegrityError
        assert gone or found == answers(fold)
    life.late.clear()


def publish(life: Life, draw: Any) -> None:
    name, version = draw(st.sampled_from(NAMES)), draw(st.sampled_from(VERSIONS))
    wanted = draw(st.sets(st.sampled_from(NAMES), max_size=2))
    member = pin(name, version, draw(st.sampled_from(["same", None])), **dict.fromkeys(sorted(wanted), ">=1"))
    life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(member).as_dict()]})


def withdraw(life: Life, draw: Any) -> None:
    ref, level = f"{draw(st.sampled_from(NAMES))}@{draw(st.integers(1, 4))}.0.0", draw(st.sampled_from(LEVELS))
    life.write(REGISTRY_JOURNAL, "withdraw", {"ref": ref, "level": level})
    if draw(st.booleans()):
        life.write(REGISTRY_JOURNAL, "restore", {"ref": ref})


LEVELS = ("deprecated", "yanked", "revoked")


def adopt(life: Life, draw: Any) -> None:
    number = 1 + sum(record.action == "adopt-policy" for record in answered(life, REGISTRY_JOURNAL))
    people = {"ada@example.invalid": ["risk"]} if draw(st.booleans()) else {}
    body = {"policy": number, "rules": {"format": 1, "é": [number]}, "channels": {STAGING: None}, "people": people}
    life.write(REGISTRY_JOURNAL, "adopt-policy", body)


def answered(life: Life, journal: str) -> Sequence[Record]:
    try:
        return life.records(journal)
    except PawlError:
        return ()


def move(life: Life, draw: Any) -> None:
    try:
        catalog = fold_registry(life.records(REGISTRY_JOURNAL))
        state = fold_channel(STAGING, life.records(STAGING))
    except PawlError:
        return
    items = sorted(catalog.published.values(), key=lambda item: item.ref)
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    rows = []
    for name in names:
        there = [item for item in items if item.name == name]
        after = pin_of(draw(st.sampled_from(there))) if there and draw(st.integers(0, 3)) else None
        rows.append({"name": name, "kind": "tool", "from": shown(state.pins.get(name)), "to": shown(after)})
    left = [state.pins[name] for name in names if name in state.pins]
    rejects = [{"ref": str(item.ref), "content": item.content, "cause": "rollback", "until": None} for item in left]
    action = draw(st.sampled_from(["promote", "rollback", "remove"]))
    body = {"moves": rows, "rejects": rejects if action == "rollback" else [], "evidence": evidence(draw)}
    life.write(STAGING, action, body)


def shown(member: Pin | None) -> dict[str, Any] | None:
    return {key: value for key, value in member.as_dict().items() if key != "since"} if member else None


def evidence(draw: Any) -> list[Any]:
    subjects = draw(st.lists(st.sampled_from(["x", "y"]), max_size=2))
    return [{"file": f"{subject}.json", "key": {"subject": digest_of(subject)}, "words": "ü"} for subject in subjects]


def hold(life: Life, draw: Any) -> None:
    name = draw(st.sampled_from(NAMES))
    content = digest_of([name, "same"])
    row = {"ref": f"{name}@1.0.0", "content": content, "cause": "reject", "until": draw(st.sampled_from([None, UNTIL]))}
    word = draw(st.sampled_from(["halt", "resume", "reject", "unreject", "drill", "refused"]))
    bodies: Mapping[str, Mapping[str, Any]] = {
        "halt": {"name": name, "version": draw(st.sampled_from([None, "1.0.0"]))},
        "resume": {"name": name},
        "reject": {"rejects": [row]},
        "unreject": {"unrejects": [content]},
        "drill": {"drilled": [{"allowed": True}], "evidence": evidence(draw)},
        "refused": {"attempt": {"action": "promote"}},
    }
    life.write(STAGING, word, bodies[word])


def grant(life: Life, draw: Any) -> None:
    name = draw(st.sampled_from(NAMES))
    digest, closure = digest_of([name, "1.0.0"]), digest_of([name, "closure", draw(st.integers(0, 1))])
    approval = {"ref": f"{name}@1.0.0", "digest": digest, "closure": closure, "policy": 1, "until": UNTIL}
    before = [record.serial for record in answered(life, STAGING) if record.action in {"waive", "freeze"}]
    serials = draw(st.lists(st.sampled_from(before), max_size=2, unique=True)) if before else []
    waiver = {
        "rule": "R",
        "name": name,
        "digest": digest,
        "closure": None,
        "versions": None,
        "actions": ["promote"],
        "owner": "o",
        "until": UNTIL,
        "break_glass": False,
        "review_by": None,
    }
    spares = {"labels": {"über": "é"}, "names": ["a/*"], "roles": []}
    word = draw(st.sampled_from(["approve", "waive", "freeze", "unfreeze"]))
    bodies: Mapping[str, Mapping[str, Any]] = {
        "approve": {"approvals": [approval], "waivers": serials},
        "waive": {"waiver": waiver},
        "freeze": {"freeze": {"until": None, "actions": ["promote"], "spares": spares}},
        "unfreeze": {"freezes": serials},
    }
    life.write(STAGING, word, bodies[word])


def spoil(life: Life, draw: Any) -> None:
    """Something becomes of the files that no command of pawl does."""
    journal = draw(st.sampled_from([REGISTRY_JOURNAL, STAGING]))
    files = life.files(journal)
    what = draw(st.sampled_from(["cut", "gap", "byte", "strange", "forget", "damage index", "remove", "hidden"]))
    if what == "forget":
        shutil.rmtree(life.root / ".pawl", ignore_errors=True)
    elif what == "damage index" and (life.root / ".pawl" / "index.db").exists():
        (life.root / ".pawl" / "index.db").write_bytes(b"SQLite format 3\0" + bytes(draw(st.integers(0, 9_000))))
    elif not files:
        return
    elif what == "cut":  # later records are then written anew, with other digests
        for path in files[-draw(st.integers(1, 3)) :]:
            path.unlink()
    elif what == "gap":
        files[0].unlink()
    elif what == "byte":
        files[-1].write_bytes(files[-1].read_bytes().replace(b"because", b"becausE", 1))
    elif what == "strange":
        files[0].with_name("000001.json.orig").write_bytes(b"{}")
    elif what == "hidden":
        files[0].with_name(".gitkeep").write_bytes(b"")
    elif what == "remove":
        shutil.rmtree(files[0].parent)


STEPS: Mapping[str, Callable[[Life, Any], None]] = {
    "publish": publish,
    "withdraw": withdraw,
    "adopt": adopt,
    "move": move,
    "hold": hold,
    "grant": grant,
}
OFTEN = ("publish", "move", "move", "move", "hold", "grant", "withdraw", "adopt")


def lived(life: Life, draw: Any, *, spoilt: bool) -> Iterator[None]:
    for name in NAMES:
        life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin(name)).as_dict()]})
    for _ in range(draw(st.integers(1, 5))):
        for word in draw(st.lists(st.sampled_from(OFTEN), max_size=4)):
            STEPS[word](life, draw)
        if draw(st.booleans()):
            keep_for_later(life)
        if spoilt and draw(st.integers(0, 2)) == 0:
            spoil(life, draw)
        yield


@lives
@given(data=st.data())
def test_the_index_says_what_the_fold_says(tmp_path: Path, data: st.DataObject) -> None:
    life = Life(_fresh(tmp_path))
    for _ in lived(life, data.draw, spoilt=False):
        compare(life)
    read_late(life)


@lives
@given(data=st.data())
def test_whatever_becomes_of_the_files_the_answer_is_that_of_the_fold(tmp_path: Path, data: st.DataObject) -> None:
    life = Life(_fresh(tmp_path))
    for _ in lived(life, data.draw, spoilt=True):
        compare(life)
        read_late(life)


@lives
@given(data=st.data())
def test_marks_that_have_settled_hide_no_change(
    tmp_path: Path, data: st.DataObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if each step came long after the one before: files are believed by their marks."""
    root = _fresh(tmp_path)
    monkeypatch.setattr("pawl.io.file_marks.SETTLED_NS", 0)
    life = Life(root)
    for _ in lived(life, data.draw, spoilt=True):
        _let_the_clock_of_files_go_on(root)
        compare(life)
        compare(life)
        read_late(life)
        _let_the_clock_of_files_go_on(root)


def test_what_was_opened_before_the_journal_was_written_again_is_not_read_as_another_one(tmp_path: Path) -> None:
    life = Life(tmp_path / "w")
    for name in NAMES:
        life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin(name)).as_dict()]})
    catalog = life.long_lived.catalog()
    life.files(REGISTRY_JOURNAL)[-1].unlink()
    life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin("other")).as_dict()]})
    assert Workspace(life.root).catalog().versions_of(Name("other"))
    with pytest.raises(PawlError, match="written again while it was read"):
        catalog.versions_of(Name("d"))


def test_a_record_that_was_told_of_and_is_not_the_one_that_is_there_is_not_believed(tmp_path: Path) -> None:
    """As where the file that was written is replaced before anybody looks."""
    life = Life(tmp_path / "w")
    life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin("a")).as_dict()]})
    life.long_lived.catalog()
    before = life.files(REGISTRY_JOURNAL)[-1].read_bytes()
    for name in NAMES[1:]:
        life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin(name)).as_dict()]})
        written = life.records(REGISTRY_JOURNAL)[-1]
        life.files(REGISTRY_JOURNAL)[-1].unlink()
        life.long_lived.appended(written)
        compare(life)
        life.long_lived.appended(written)
        compare(life)
    assert life.files(REGISTRY_JOURNAL)[-1].read_bytes() == before
    life.long_lived.appended(written)  # which does not follow what the index knows any more, or does and is not there
    life.files(REGISTRY_JOURNAL)[-1].write_bytes(before.replace(b"because", b"becausE"))
    compare(life)


def test_a_record_that_was_told_of_costs_no_look_at_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(tmp_path / "w")
    for name in NAMES[:2]:
        life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin(name)).as_dict()]})
    life.long_lived.catalog()
    life.count = 0  # so that it is told of
    life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin("d")).as_dict()]})
    read: list[int] = []

    def reading(places: Any, journal: str, serial: int) -> bytes:
        read.append(serial)
        return record_data(places, journal, serial)

    monkeypatch.setattr("pawl.workspace.index.record_data", reading)
    monkeypatch.setattr("pawl.workspace.index.serials_of", nobody_lists)
    monkeypatch.setattr("pawl.workspace.index.unseal", nobody_lists)
    for _ in range(2):
        assert life.long_lived.catalog().published.keys() == {parse_ref(f"{name}@1.0.0") for name in NAMES}
    assert read == [3, 3]  # until its mark has settled, its bytes are compared


def nobody_lists(*_: Any, **__: Any) -> Any:
    raise AssertionError("nothing is listed or parsed")


def test_an_index_that_somebody_else_brings_along_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = Life(tmp_path / "w")
    life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin("a")).as_dict()]})
    assert life.long_lived.catalog().published
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another-user"))
    index = life.root / ".pawl" / "index.db"
    before = index.stat().st_ino
    compare(life)
    assert index.stat().st_ino != before


def test_without_a_place_for_a_key_there_is_no_index_and_the_answers_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = Life(tmp_path / "w")
    life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin("a")).as_dict()]})
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    compare(life)
    assert not (life.root / ".pawl" / "index.db").exists()


def test_final_versions_come_in_the_order_of_their_numbers_from_any_place(tmp_path: Path) -> None:
    life = Life(tmp_path / "w")
    numbers = sorted((x, y, z) for x in (0, 1, 9, 10, 100) for y in (0, 2, 999_999_999) for z in (1, 10))
    finals = [Version(f"{x}.{y}.{z}") for x, y, z in numbers]
    versions = [*finals[1::2], *finals[::2], "10.0.1rc1", "0.0.1a1"]
    body = {"published": [publication(pin("a", version)).as_dict() for version in versions]}
    life.write(REGISTRY_JOURNAL, "publish", body)
    life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin("b/c", "5.0.0")).as_dict()]})
    indexed = life.long_lived.catalog()
    for catalog in (indexed, fold_registry(life.records(REGISTRY_JOURNAL))):
        found = catalog.finals(Name("a"))
        assert [list(found.above(None)), list(found.below(None))] == [finals, finals[::-1]]
        for place, version in enumerate(finals):
            assert list(found.above(version)) == finals[place + 1 :]
            assert list(found.below(version)) == finals[:place][::-1]
        assert list(catalog.finals(Name("d")).below(None)) == []
    lost = indexed.finals(Name("a")).above(finals[2])
    assert next(lost) == finals[3]
    with contextlib.closing(sqlite3.connect(life.root / ".pawl" / "index.db", isolation_level=None)) as connection:
        connection.execute("DELETE FROM records")
    assert list(lost) == finals[4:]


def test_a_damaged_record_far_back_is_found_by_whoever_reads_it(tmp_path: Path) -> None:
    """Commands go on from the index; verify, and whoever has none, reads every record."""
    life = Life(tmp_path / "w")
    for name in NAMES:
        life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin(name)).as_dict()]})
    whole = life.long_lived.catalog()
    first = life.files(REGISTRY_JOURNAL)[0]
    first.write_bytes(first.read_bytes().replace(b"because", b"becausE"))
    assert catalog_answers(Workspace(life.root).catalog()) == catalog_answers(whole)
    with pytest.raises(PawlError, match="record 1 of the journal registry is damaged"):
        Workspace(life.root).journal(REGISTRY_JOURNAL)
    shutil.rmtree(life.root / ".pawl")
    with pytest.raises(PawlError, match="record 1 of the journal registry is damaged"):
        Workspace(life.root).catalog()


def _fresh(folder: Path) -> Path:
    root = folder / "life"
    shutil.rmtree(root, ignore_errors=True)
    return root


def _let_the_clock_of_files_go_on(folder: Path) -> None:
    """Wait until the file system gives a later time than before: some keep it in steps of milliseconds."""
    probe = folder / "probe"
    probe.write_bytes(b"")
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == first:
        probe.write_bytes(json.dumps(first).encode())


def test_parts_of_which_there_are_many_are_read_one_by_one_as_few_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many small values are fetched together, each is found where it is asked for."""
    life = Life(tmp_path / "w")
    for name in NAMES:
        life.write(REGISTRY_JOURNAL, "publish", {"published": [publication(pin(name)).as_dict()]})
        life.write(REGISTRY_JOURNAL, "withdraw", {"ref": f"{name}@1.0.0", "level": "yanked"})
        life.write(STAGING, "halt", {"name": name, "version": None})
        rows = [
            {"ref": f"{name}@1.0.0", "content": digest_of([name, n]), "cause": "reject", "until": None} for n in "ab"
        ]
        life.write(STAGING, "reject", {"rejects": rows})
        life.write(STAGING, "freeze", {"freeze": FREEZE})
    assert [len(life.records(journal)) for journal in (REGISTRY_JOURNAL, STAGING)] == [6, 9]
    for number in (1, 2, 4, 8, 13):
        monkeypatch.setattr("pawl.workspace.index_rows._FEW", number)
        compare(life)
        keep_for_later(life)
    life.write(STAGING, "resume", {"name": NAMES[0]})
    read_late(life)


FREEZE: dict[str, Any] = {"until": None, "actions": ["promote"], "spares": {"labels": {}, "names": [], "roles": []}}


@lives
@given(data=st.data(), size=st.integers(1, 3))
def test_pieces_of_the_projection_are_those_of_the_pins_however_long_they_are(
    tmp_path: Path, data: st.DataObject, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pins come, move and go in any order; a state under way and one that is not the newest any more are told alike."""
    monkeypatch.setattr("pawl.workspace.index_writing._PIECE", size)
    life, names = Life(_fresh(tmp_path)), [Name(name) for name in (*"abcdefgh", "ü", "\U0010ffff", "\uffff")]
    for _ in range(data.draw(st.integers(1, 5))):
        state = fold_channel(STAGING, life.records(STAGING))
        chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=6, unique=True))
        gone = {name for name in chosen if name in state.pins and data.draw(st.booleans())}
        major = state.head.serial + 1
        new = {name: None if name in gone else pin(name, f"{major}.0.0", **{chosen[0]: ">=1"}) for name in chosen}
        rows = [
            {"name": name, "kind": "tool", "from": shown(state.pins.get(name)), "to": shown(after)}
            for name, after in new.items()
        ]
        body = {"moves": rows, "evidence": [], "registry": EMPTY.as_dict(), "actor_kind": "human"}
        fields: dict[str, Any] = {"journal": STAGING, "after": state.head, "action": "promote", "at": AT.format(1)}
        ahead = draft(**fields, actor=PEOPLE[0], reason="because", body=body)
        planned = [follow(known, ahead) for known in (life.long_lived.channel(STAGING), state)]
        assert [state_digest(each) for each in planned] == [state_digest(planned[1])] * 2
        assert [projection_bytes(each) for each in planned] == [record_bytes(projection(planned[1]))] * 2
        keep_for_later(life)
        life.write(STAGING, "promote", {"moves": rows})
        compare(life)
        assert state_digest(planned[0]) == state_digest(planned[1])  # another record is the newest meanwhile
        assert projection_bytes(planned[0]) == projection_bytes(planned[1])
    read_late(life)
