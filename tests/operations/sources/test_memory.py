"""What is remembered of files: it saves time, changes no answer, and is never believed where it was brought along."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from budgets import examples
from pawl.errors import ConflictError
from pawl.io import file_marks, strict_yaml
from pawl.operations.sources import Sources, files, read_sources, read_suites, reading, unopened, values
from pawl.operations.sources import memory as source_memory
from pawl.policy.sources import policy_document
from pawl.workspace import Workspace
from support import Shop, git

DRAFT = "procedures/support/refund-draft.yaml"
SUITE = "conformance/refund.yaml"
MEMORY = ".pawl/sources.db"
EVIL = "kind: prompt\nkind: tool\n"
TICK_NS = 12_000_000
"""More than the step in which file systems of Linux keep times, in nanoseconds."""


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled after a tick, so that nobody waits for two seconds."""
    monkeypatch.setattr(file_marks, "SETTLED_NS", TICK_NS)


def wait() -> None:
    time.sleep(2 * TICK_NS / 1e9)


@pytest.fixture
def opened(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every file that the quick reader opens."""
    seen: list[str] = []
    read = files.read_quickly

    def noted(path: str, limit: int) -> Any:
        seen.append(path.removeprefix(f"{shop.root}/"))
        return read(path, limit)

    monkeypatch.setattr(reading, "read_quickly", noted)
    return seen


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every file that is parsed."""
    seen: list[bytes] = []
    load = strict_yaml.load

    def noted(data: bytes) -> object:
        seen.append(data)
        return load(data)

    monkeypatch.setattr(reading, "load", noted)
    monkeypatch.setattr(unopened, "load", noted)
    monkeypatch.setattr(values, "load", noted)
    return seen


def test_only_what_changed_is_opened_again(shop: Shop, opened: list[str]) -> None:
    wait()
    shop.pawl("check")
    assert set(opened) == set(shop.files("procedures", "conformance", "registry/policies"))
    opened.clear()
    shop.pawl("check")
    assert opened == []
    shop.edit(DRAFT, ("You draft", "You write"))
    wait()
    shop.pawl("check")
    assert opened == [DRAFT]


def test_a_file_that_was_only_touched_is_not_judged_again(shop: Shop, opened: list[str], parsed: list[bytes]) -> None:
    wait()
    shop.pawl("check")
    os.utime(shop.root / DRAFT)
    wait()
    opened.clear()
    parsed.clear()
    shop.pawl("check")
    assert opened == [DRAFT]
    assert shop.read(DRAFT).encode() not in parsed
    opened.clear()
    shop.pawl("check")
    assert opened == []


def test_a_file_that_may_still_change_is_looked_at_again(shop: Shop, opened: list[str]) -> None:
    os.utime(shop.root / DRAFT, (2e9, 2e9))
    shop.pawl("check")
    opened.clear()
    shop.pawl("check")
    assert DRAFT in opened


def test_a_file_that_may_still_change_is_known_by_its_bytes(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, opened: list[str], parsed: list[bytes]
) -> None:
    monkeypatch.setattr(file_marks, "SETTLED_NS", 3_600_000_000_000)
    shop.pawl("check")
    opened.clear()
    parsed.clear()
    shop.pawl("check")
    assert {DRAFT, SUITE} <= set(opened)
    assert parsed == []
    shop.edit(DRAFT, ("You draft", "You write"))
    shop.pawl("check")
    assert parsed == [shop.read(DRAFT).encode()]


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every folder that is listed."""
    seen: list[str] = []
    names = files._listed

    def noted(root: Path, here: str, notes: str | None) -> Any:
        seen.append(here)
        return names(root, here, notes)

    monkeypatch.setattr(files, "_listed", noted)
    return seen


def test_only_folders_whose_names_changed_are_listed_again(plain_shop: Shop, listed: list[str]) -> None:
    workspace = Workspace(plain_shop.root)
    plain_shop.write("procedures/README.md", "what this is\n")
    wait()
    read_sources(workspace)
    assert {"procedures", "procedures/support", "conformance"} <= set(listed)
    listed.clear()
    read_sources(workspace)
    assert listed == []
    plain_shop.write("procedures/support/other.yaml", EVIL)
    for _ in range(2):  # what is in it does not read, so it is looked for each time
        wait()
        listed.clear()
        assert "procedures/support/other.yaml" in read_sources(workspace).unread
        assert listed == ["procedures/support"]


def test_nothing_is_written_where_nothing_is_new(plain_shop: Shop) -> None:
    workspace = Workspace(plain_shop.root)
    plain_shop.write("procedures/notes.txt", "not read\n")
    plain_shop.write("procedures/support/broken.yaml", EVIL)
    wait()
    read_sources(workspace)
    read_sources(workspace)
    before = shelves(plain_shop)
    read_sources(workspace)
    assert before == shelves(plain_shop)


def shelves(shop: Shop) -> dict[tuple[str, str], tuple[int, bytes]]:
    with sqlite3.connect(shop.root / MEMORY) as connection:
        rows = connection.execute("SELECT kind, name, rowid, data FROM columns").fetchall()
    connection.close()
    return {(kind, name): (place, data) for kind, name, place, data in rows}


def test_what_another_process_remembered_meanwhile_stays(plain_shop: Shop) -> None:
    workspace = Workspace(plain_shop.root)
    wait()
    read_sources(workspace)
    plain_shop.edit(DRAFT, ("You draft", "You write"))
    plain_shop.edit(SUITE, ("suite: refund", "suite: refunds"))
    wait()
    ours = source_memory.open_sources(workspace)
    row = ours.row(DRAFT)
    assert row is not None
    ours.mark("procedure", DRAFT, row.file, files.packed((plain_shop.root / DRAFT).stat()))
    read_sources(workspace)
    ours.save()  # of bytes that are not the remembered ones any more
    after = read_sources(workspace)
    assert "refunds" in after.suites
    assert all("You draft" not in str(source.value.document) for source in after.procedures.values())


def test_times_that_no_mark_can_hold_cost_time_alone(shop: Shop) -> None:
    os.utime(shop.root / DRAFT, (1e10, 1e10))
    wait()
    assert shop.pawl("check") == shop.pawl("check")


def test_an_edit_that_keeps_size_and_time_is_seen(shop: Shop) -> None:
    path = shop.root / DRAFT
    wait()
    before = path.stat()
    shop.pawl("check")
    path.write_bytes(path.read_bytes().replace(b"kind: prompt", b"kind: prompl"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "kind-unknown" in shop.codes(shop.pawl("check", code=1))


def test_answers_are_the_same_with_it(shop: Shop) -> None:
    shop.second()
    shop.edit("conformance/refund.yaml", ("{eligible: true}", "{eligible: true, reason: 5}"))
    wait()
    first = shop.pawl("check", code=1)
    assert (shop.root / MEMORY).exists()
    assert first == shop.pawl("check", code=1)


def test_what_is_published_is_parsed_from_its_file(shop: Shop, parsed: list[bytes]) -> None:
    shop.adopt()
    wait()
    shop.pawl("check")
    parsed.clear()
    shop.pawl("publish")
    procedures = set(shop.files("procedures").values())
    assert procedures <= set(parsed)


def test_a_suite_that_becomes_evidence_is_parsed_from_its_file(shop: Shop, parsed: list[bytes]) -> None:
    shop.adopt()
    shop.pawl("publish")
    wait()
    shop.pawl("check")
    parsed.clear()
    shop.pawl("promote", "support/refund@1.0.0", "support/refund-draft@1.0.0", "--to", "staging", "--reason", "first")
    assert set(parsed) & set(shop.files("conformance").values())


def test_a_file_that_does_not_read_is_never_remembered(shop: Shop) -> None:
    shop.write("procedures/support/broken.yaml", EVIL)
    wait()
    assert shop.codes(shop.pawl("check", code=1)) == shop.codes(shop.pawl("check", code=1)) == ["duplicate-key"]


def test_bytes_that_are_not_those_remembered_are_a_conflict_once(plain_shop: Shop) -> None:
    workspace = Workspace(plain_shop.root)
    wait()
    read_sources(workspace)
    before = read_sources(workspace)
    plain_shop.edit(DRAFT, ("You draft", "You write"))
    with pytest.raises(ConflictError, match="changed while it was read"):
        _ = next(iter(before.procedures.values())).value.document
    after = read_sources(workspace)
    assert all("You draft" not in str(source.value.document) for source in after.procedures.values())


def poison(shop: Shop) -> None:
    """Have the memory say that a broken file is the draft."""
    wait()
    shop.pawl("check")
    memory = source_memory.open_sources(Workspace(shop.root))
    row = memory.row(DRAFT)
    assert row is not None
    shop.write(DRAFT, EVIL)
    wait()
    memory.mark("procedure", DRAFT, row.file, files.packed((shop.root / DRAFT).stat()))
    memory.save()


def tracked(shop: Shop) -> None:
    copy = shop.root.parent / "clone"
    git(shop.root, "add", "-f", MEMORY)
    git(shop.root, "commit", "-q", "-a", "-m", "mine")
    git(shop.root, "clone", "-q", str(shop.root), str(copy))
    shutil.rmtree(shop.root)
    copy.rename(shop.root)


def linked(shop: Shop) -> None:
    (shop.root / ".pawl").rename(shop.root / "elsewhere")
    (shop.root / ".pawl").symlink_to("elsewhere")


def linked_file(shop: Shop) -> None:
    (shop.root / MEMORY).rename(shop.root / "elsewhere")
    (shop.root / MEMORY).symlink_to(shop.root / "elsewhere")


def of_another_user(shop: Shop) -> None:
    key = Path(os.environ["XDG_CACHE_HOME"], "pawl", "key")
    key.write_bytes(bytes(32))


@pytest.fixture
def key_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


@pytest.mark.usefixtures("key_of_its_own")
@pytest.mark.parametrize("brought", [tracked, linked, linked_file, of_another_user])
def test_a_memory_that_was_brought_along_is_not_believed(shop: Shop, brought: Callable[[Shop], None]) -> None:
    poison(shop)
    # what the memory of this very user says is believed, which is why the next lines matter
    assert not read_sources(Workspace(shop.root)).problems
    brought(shop)
    assert "duplicate-key" in shop.codes(shop.pawl("check", code=1))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda _: b"",
        lambda data: b"\xff\xfe\n" * len(data),
        lambda data: data[64:],
    ],
    ids=["cut", "empty", "no-database", "no-head"],
)
def test_damage_costs_time_alone(shop: Shop, damage: Callable[[bytes], bytes]) -> None:
    wait()
    first = shop.pawl("check")
    path = shop.root / MEMORY
    path.write_bytes(damage(path.read_bytes()))
    assert first == shop.pawl("check")
    assert first == shop.pawl("check")


def test_a_document_that_is_not_the_one_is_read_anew(plain_shop: Shop) -> None:
    workspace = Workspace(plain_shop.root)
    wait()
    read_sources(workspace)
    memory = source_memory.open_sources(workspace)
    shelf = memory.shelf("procedure")
    for place, path in enumerate(shelf.column("path")):
        row = memory.row(path)
        assert row is not None
        memory.note(row, shelf.mark(place), '{"kind": "tool"}')
    memory.save()
    for source in read_sources(workspace).procedures.values():
        assert source.value.document["name"] == source.value.name


def test_a_folder_that_cannot_be_written_is_no_error(shop: Shop) -> None:
    (shop.root / ".pawl").mkdir(exist_ok=True)
    (shop.root / MEMORY).mkdir()
    assert shop.pawl("check")["status"] == "passed"


def test_files_that_are_gone_are_forgotten(plain_shop: Shop) -> None:
    workspace = Workspace(plain_shop.root)
    wait()
    read_sources(workspace)
    (plain_shop.root / DRAFT).unlink()
    read_sources(workspace)
    memory = source_memory.open_sources(workspace)
    assert memory.row(DRAFT) is None
    assert len(memory.shelf("procedure").column("path")) == 1


PROMPT = (
    "kind: prompt\nname: {name}\nversion: 1.0.{number}\nsummary: s\nowner: o\n"
    "spec: {{messages: [{{role: user, content: hi}}]}}\n"
)
TEXTS = st.sampled_from(
    [
        *(PROMPT.format(name=name, number=number) for name in ("a", "b/a", "b/c") for number in range(2)),
        *(PROMPT.format(name="a", number=2).replace("owner: o", f"requires: {{c: '>=1'}}\nowner: {x}") for x in "op"),
        "kind: prompt\nkind: tool\n",
        "kind: prompt\nname: a\n",
        "suite: s\nabout: a\ncases: [{id: x, assert: [{type: contains, value: hi}]}]\n",
        "suite: s\nabout: a\ncases: [{id: x, assert: [{type: contains, value: ho}]}]\n",
        "suite: t\nabout: a\nversions: '>=1'\ncases: [{id: x, assert: [{type: contains, value: hi}]}]\n",
        "suite: t\nabout: a\ncases: []\n",
    ]
)
PLACES = st.sampled_from(
    [
        *(
            "procedures/a.yaml",
            "procedures/b/a.yaml",
            "procedures/b/c.yaml",
            "procedures/x.yml",
            "procedures/b",
            "procedures/b/n.md",
        ),
        *("conformance/s.yaml", "conformance/d/t.yaml", "conformance/.hidden.yaml", "conformance/notes.txt"),
    ]
)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            ["write", "write", "write", "sneak", "sneak", "swap", "link", "folder", "remove", "touch", "wait", "read"]
        ),
        PLACES,
        TEXTS,
    ),
    max_size=12,
)


def change(root: Path, how: str, where: str, text: str) -> None:
    """Change one place, or read in between; whatever stands in the way of a new file is removed."""
    path = root / where
    if how == "wait":
        wait()
    elif how == "read":
        read_sources(Workspace(root))
    elif how == "touch":
        if path.is_file():
            os.utime(path)
    elif how == "sneak":
        sneak(path, text)
    else:
        clear(path)
        MAKERS[how](path, text)


def sneak(path: Path, text: str) -> None:
    """Write into a file that keeps its size and its time."""
    if path.is_file() and not path.is_symlink():
        before = path.stat()
        path.write_bytes((text.encode() + b"#" * before.st_size)[: before.st_size])
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    for there in (path, *path.parents):
        if there.is_file() or there.is_symlink():
            there.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)


def swap(path: Path, text: str) -> None:
    other = path.with_name(".other")
    other.write_text(text)
    other.replace(path)


MAKERS: dict[str, Callable[[Path, str], object]] = {
    "write": Path.write_text,
    "swap": swap,
    "link": lambda path, _: path.symlink_to(path.parents[-1] / "procedures" / "a.yaml"),
    "folder": lambda path, _: path.mkdir(),
    "remove": lambda _path, _text: None,
}


def told(found: Sources) -> Any:
    """Return everything that was read, in full."""
    procedures = [(name, source.path, source.data, source.value) for name, source in found.procedures.items()]
    suites = [(name, source.path, source.data, source.value) for name, source in found.suites.items()]
    return (
        [(*head, value.ref, value.digest, value.document, value.requires) for *head, value in procedures],
        [(*head, value.about, value.versions, value.digest, value.cases) for *head, value in suites],
        found.heads,
        {name: [source.path for source in found.suites_about(name)] for name in found.subjects},
        {source.path: found.suite_subject(source.path) for source in found.suites.values()},
        {*found.requiring},
        found.problems,
        found.unread,
    )


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS)
def test_with_and_without_memory_the_same_is_read(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str, str]]
) -> None:
    root = tmp_path_factory.mktemp("space")
    (root / "registry").mkdir(parents=True)
    (root / "registry" / "registry.yaml").write_text("format: 1\nchannels:\n  staging: {}\n")
    for how, where, text in edits:
        change(root, how, where, text)
    with_memory = told(read_sources(Workspace(root)))
    shutil.rmtree(root / ".pawl")
    (root / ".pawl").write_text("no folder, so nothing can be remembered")
    assert with_memory == told(read_sources(Workspace(root)))


def test_suites_alone_are_read_in_the_same_way(plain_shop: Shop) -> None:
    workspace = Workspace(plain_shop.root)
    wait()
    first, second = read_suites(workspace), read_suites(workspace)
    assert [*first.suites] == [*second.suites]
    assert [s.value.cases for s in first.suites.values()] == [s.value.cases for s in second.suites.values()]


def test_registry_yaml_and_policies_are_parsed_where_they_changed_and_where_they_are_adopted(
    shop: Shop, parsed: list[bytes]
) -> None:
    names = ("registry/registry.yaml", next(iter(shop.files("registry/policies"))))
    wait()
    shop.pawl("check")
    for name in names:
        parsed.clear()
        shop.pawl("check")
        assert parsed == []
        shop.write(name, shop.read(name) + "# another line\n")
        wait()
        shop.pawl("check")
        assert parsed == [shop.read(name).encode()]
    parsed.clear()
    shop.adopt()
    assert {shop.read(name).encode() for name in names} <= set(parsed)


def test_a_remembered_policy_says_what_its_file_does(shop: Shop) -> None:
    wait()
    shop.pawl("check")
    read = read_sources(Workspace(shop.root))
    for name, source in read.policies.items():
        assert isinstance(source, values.UnopenedSource)
        parsed = source.opened().value
        assert (source.value, name) == (parsed, parsed.name)
        assert policy_document((source.value,)) == policy_document((parsed,))
