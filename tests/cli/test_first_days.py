"""What somebody meets in the first days: typing errors, files not committed, clones that are shallow or read-only."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

import pawl
from pawl.io.git import process as git_process
from pawl.io.git import repository as pawl_git
from support import FIRST, Shop, git, in_process

DRAFT = "procedures/support/refund-draft.yaml"


def notes(shop: Shop, answer: dict[str, object]) -> list[tuple[str, str]]:
    """Return what is said of sources that Git lacks: message and hint."""
    problems = answer["problems"]
    assert isinstance(problems, list)
    return [(row["message"], row["hint"]) for row in problems if row["code"] == "source-uncommitted"]


def test_what_is_recorded_from_files_that_git_lacks_is_told(shop: Shop) -> None:
    assert notes(shop, shop.adopt()) == []
    assert notes(shop, shop.pawl("publish")) == []
    shop.edit(DRAFT, ("version: 1.0.0", "version: 1.0.1"))
    shop.edit("registry/policies/refunds.yaml", ("message: ", "message: Mind this. "))
    shop.write("registry/allowed_signers", "")
    [(message, hint)] = notes(shop, shop.pawl("publish"))
    assert DRAFT in message
    assert "policies" not in message
    assert hint == f'git add {DRAFT} && git commit -m "..."'
    [(message, hint)] = notes(shop, shop.adopt())
    assert "registry/allowed_signers, registry/policies/refunds.yaml" in message
    assert DRAFT not in message


def test_many_files_that_git_lacks_are_counted(shop: Shop) -> None:
    shop.adopt()
    text = shop.read(DRAFT).replace("support/refund-draft", "support/copy-N")
    for number in range(7):
        shop.write(f"procedures/support/copy-{number}.yaml", text.replace("copy-N", f"copy-{number}"))
    [(message, hint)] = notes(shop, shop.pawl("publish"))
    assert "copy-4.yaml and 2 more" in message
    assert hint == 'git add procedures registry && git commit -m "..."'


def test_the_note_asks_git_only_where_more_than_bytes_counts(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = git_process.run

    def counted(folder: Path, *words: str | bytes, **more: object) -> object:
        asked.append(str(words[0]))
        return real(folder, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(pawl_git, "run", counted)
    shop.adopt()
    shop.edit(DRAFT, ("version: 1.0.0", "version: 1.0.1"))
    assert len(notes(shop, shop.pawl("publish"))) == 1
    assert asked.count("status") == 0
    path = shop.root / DRAFT
    path.write_bytes(path.read_bytes().replace(b"version: 1.0.1", b"version: 1.0.2").replace(b"\n", b"\r\n"))
    assert len(notes(shop, shop.pawl("publish"))) == 1
    assert asked.count("status") == 1
    shop.edit(DRAFT, ("version: 1.0.2", "version: 1.0.3"))
    assert notes(shop, shop.pawl("publish", "--no-commit")) == []
    assert asked.count("status") == 1


def test_outside_of_git_nothing_is_said_of_commits(plain_shop: Shop) -> None:
    assert notes(plain_shop, plain_shop.adopt()) == []


def test_runs_affected_by_a_version_that_never_was(released: Shop) -> None:
    assert released.codes(released.pawl("runs", "affected", "support/refund@9.0.0", code=1)) == ["version-unknown"]
    assert released.codes(released.pawl("runs", "affected", "support/refnd@1.0.0", code=1)) == ["name-unknown"]
    assert released.pawl("runs", "affected", FIRST[0])["used"] == []


def test_runs_affected_by_what_only_the_ledger_knows(released: Shop, tmp_path: Path) -> None:
    """A registry that was taken back does not hide what ran."""
    run_id = released.pawl("run", "start", "--channel", "production", "--agent", "a")["run_id"]
    for path in (*(released.root / "releases").rglob("*.json"), *(released.root / "registry/channels").glob("*.json")):
        path.unlink()
    answer = released.pawl("runs", "affected", FIRST[0])
    assert [row["run_id"] for row in answer["pinned_only"]] == [run_id]
    later = released.pawl("runs", "affected", FIRST[0], "--until", "2000-01-01")
    assert (later["used"], later["pinned_only"]) == ([], [])


@pytest.mark.parametrize("bad", ["../evil", "orders/answer/", "Orders", "a//b", ""])
@pytest.mark.parametrize("words", [("promote", "--to", "staging", "--reason", "x"), ("show",), ("runs", "affected")])
def test_a_bad_name_is_said_to_be_one(shop: Shop, bad: str, words: tuple[str, ...]) -> None:
    ended = in_process("-C", str(shop.root), *words, bad)
    assert ended.code == 2
    assert "is not a name" in ended.err
    assert "X.Y.Z" not in ended.err


def test_fix_forward_begins_where_versions_begin(released: Shop) -> None:
    released.release_second()
    git(released.root, "add", "-A")
    git(released.root, "commit", "-q", "-m", "second")
    way = ["staging", "production"]
    for channels, wanted in ((("--channel", "production"), way), ((), way), (("--channel", "staging"), way[:1])):
        steps = released.pawl("fix-forward", FIRST[0], *channels)["next"]
        assert [step.split(" --to ")[1].split()[0] for step in steps if "promote" in step] == wanted
        git(released.root, "checkout", "-q", "--", "procedures")


@pytest.mark.parametrize("base", ["HEAD~1", "HEAD^", "0" * 40, "v1"])
def test_a_shallow_clone_is_told_to_be_one(released: Shop, tmp_path: Path, base: str) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", released.root.as_uri(), str(clone)], check=True)
    answer = Shop(clone).pawl("check", "--base", base, code=1)
    [hint] = [row["hint"] for row in answer["problems"] if row["code"] == "unknown-revision"]
    assert hint.startswith("git fetch --unshallow")


def test_history_before_anything_names_no_policy(released: Shop) -> None:
    ended = in_process("-C", str(released.root), "history", "production", "--at", "2000-01-01")
    assert "(serial 0, policy none)" in ended.out
    assert "None" not in ended.out


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("run", "start", "production"), "run start"),
        (("policy", "adopt"), "policy adopt"),
        (("runs", "affected", "x"), "runs affected"),
        (("promote",), "promote"),
        (("run", "nothing"), "run"),
    ],
)
def test_a_wrong_use_names_its_command_as_every_answer_does(shop: Shop, words: tuple[str, ...], command: str) -> None:
    ended = in_process("-C", str(shop.root), *words, "-o", "json")
    assert (ended.code, json.loads(ended.out)["command"]) == (2, command)


def test_a_checkout_without_a_ledger_has_no_runs_and_gets_no_file(released: Shop) -> None:
    for path in (released.root / ".pawl").glob("runs.db*"):
        path.unlink()
    released.pawl("status")  # caches are there already
    before = _files(released.root)
    assert released.pawl("runs", "list")["runs"] == []
    assert released.codes(released.pawl("runs", "show", "x", code=1)) == ["run-unknown"]
    assert released.pawl("runs", "affected", FIRST[0])["used"] == []
    assert _files(released.root) == before


def _files(root: Path) -> list[Path]:
    """Every file but those that SQLite has beside a database while somebody has it open."""
    return sorted(path for path in root.rglob("*") if not path.name.endswith(("-shm", "-wal")))


def test_a_run_that_cannot_be_recorded_says_where_it_could_be(released: Shop, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    channel = pawl.open("production", workspace=released.root, ledger=tmp_path / "file" / "runs.db")
    with pytest.raises(pawl.InvalidError) as unusable:
        channel.run(agent="a")
    assert unusable.value.problems[0].code == "ledger-unusable"
    assert "ledger=FILE" in (unusable.value.hint or "")


@pytest.mark.parametrize("age", [1, 1.5, "P1D", True])
def test_an_age_is_a_timedelta(released: Shop, tmp_path: Path, age: object) -> None:
    file = tmp_path / "production.json"
    released.pawl("snapshot", "production", "--out", os.fspath(file))
    for place in ({"snapshot": file}, {"workspace": released.root}):
        with pytest.raises(pawl.UsageError, match=r"datetime\.timedelta"):
            pawl.open("production", max_age=age, **place)  # type: ignore[arg-type]
    assert pawl.open("production", snapshot=file, max_age=timedelta.max).serial == 1
    for short in (timedelta.min, timedelta(days=-1)):
        with pytest.raises(pawl.WithheldError):
            pawl.open("production", snapshot=file, max_age=short)


def test_the_package_shows_what_it_has() -> None:
    assert set(pawl.__all__) <= set(dir(pawl))
    assert {"open", "WithheldError", "__doc__"} <= set(dir(pawl))


def test_help_lists_every_exit_code() -> None:
    assert "130 stopped" in " ".join(in_process("--help").out.split())


def test_verify_does_not_bury_a_damaged_record(released: Shop) -> None:
    record = released.root / "releases" / "staging" / "000001.json"
    record.write_bytes(record.read_bytes().replace(b"a release", b"A release"))
    evidence = [path for path in (released.root / "releases" / "evidence").rglob("*") if path.is_file()]
    answer = released.pawl("verify", code=6)
    [row] = [row for row in answer["problems"] if row["code"] == "file-unrecorded"]
    assert row["severity"] == "note"
    assert "releases/staging/ does not read" in row["message"]
    assert 0 < int(row["message"].split()[0]) <= len(evidence)
    assert "releases/staging/000001.json" in {row["path"] for row in answer["problems"]}


def test_verify_warns_of_strange_evidence_where_every_journal_reads(released: Shop) -> None:
    released.write("releases/evidence/strange.json", "{}")
    answer = released.pawl("verify")
    assert [(row["severity"], row["path"]) for row in answer["problems"] if row["code"] == "file-unrecorded"] == [
        ("warning", "releases/evidence/strange.json")
    ]
