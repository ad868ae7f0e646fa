"""`verify --against FILE`: a journal that was cut off behind a kept file, or written again, is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostile.forging import forge
from support import FIRST, Shop, git


@pytest.fixture
def kept(released: Shop, tmp_path: Path) -> dict[str, Path]:
    """A snapshot, a projection and a record, kept elsewhere after a second record was written."""
    released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    released.pawl("snapshot", "production", "--out", str(tmp_path / "snapshot.json"))
    (tmp_path / "projection.json").write_text(released.read("registry/channels/production.json"), encoding="utf-8")
    (tmp_path / "record.json").write_text(released.read("releases/production/000002.json"), encoding="utf-8")
    return {name: tmp_path / f"{name}.json" for name in ("snapshot", "projection", "record")}


KINDS = pytest.mark.parametrize("kind", ["snapshot", "projection", "record"])


@KINDS
def test_what_was_kept_is_still_there(released: Shop, kept: dict[str, Path], kind: str) -> None:
    released.pawl("verify", "--against", str(kept[kind]))
    released.pawl("resume", "support/refund", "--channel", "production", "--reason", "go on")
    released.pawl("verify", "--against", str(kept[kind]))


@KINDS
def test_a_journal_that_was_cut_off(released: Shop, kept: dict[str, Path], kind: str) -> None:
    forge(released, "production", list.pop)
    answer = released.pawl("verify", "--against", str(kept[kind]), code=6)
    assert "journal-truncated" in released.codes(answer)
    assert "knows of record 2" in str(answer["problems"])


@KINDS
def test_a_journal_that_was_written_again(released: Shop, kept: dict[str, Path], kind: str) -> None:
    forge(released, "production", lambda rows: rows[-1].update(reason="another"))
    answer = released.pawl("verify", "--against", str(kept[kind]), code=6)
    assert ["releases/production/000002.json"] == [
        row["path"] for row in answer["problems"] if row["code"] == "journal-forked"
    ]


def test_the_registrys_own_journal_has_anchors_too(released: Shop, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_text(released.read("releases/registry/000002.json"), encoding="utf-8")
    released.pawl("verify", "--against", str(file))
    forge(released, "registry", lambda rows: rows[-1].update(reason="another"))
    assert "journal-forked" in released.codes(released.pawl("verify", "--against", str(file), code=6))


@pytest.mark.parametrize("kind", ["snapshot", "record"])
def test_a_kept_file_with_a_changed_byte_is_told(released: Shop, kept: dict[str, Path], kind: str) -> None:
    kept[kind].write_bytes(kept[kind].read_bytes().replace(b"support", b"suppory", 1))
    released.pawl("verify", "--against", str(kept[kind]), code=6)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"channel": "production", "serial": 1, "head": "x"}', "1", "null"])
def test_another_file_is_no_anchor(released: Shop, tmp_path: Path, text: str) -> None:
    file = tmp_path / "kept.json"
    file.write_text(text, encoding="utf-8")
    assert ["anchor-unreadable"] == released.codes(released.pawl("verify", "--against", str(file), code=1))


def test_a_file_that_is_not_there(released: Shop, tmp_path: Path) -> None:
    released.pawl("verify", "--against", str(tmp_path / "nothing"), code=1)


def test_an_anchor_from_before_the_first_record_asks_for_nothing(released: Shop, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_text('{"channel": "production", "serial": 0, "head": null}', encoding="utf-8")
    released.pawl("verify", "--against", str(file))


@pytest.mark.parametrize("words", [("check",), ("status",), ("promote", *FIRST, "--to", "staging", "--reason", "r"),
                                   ("resolve", "support/refund", "--channel", "staging"), ("verify",)])  # fmt: skip
def test_a_journal_without_its_last_record_is_not_called_a_bad_projection(
    released: Shop, words: tuple[str, ...]
) -> None:
    """Nobody is told to delete the one file that knows of the lost record."""
    released.pawl("halt", "support/refund", "--channel", "staging", "--reason", "wrong")
    (released.root / "releases/staging/000002.json").unlink()
    git(released.root, "commit", "-qam", "lost")
    answer = released.pawl(*words, code=6)
    (problem,) = [row for row in answer["problems"] if row["code"] == "journal-truncated"]
    assert problem["hint"].startswith("restore releases/staging/ from Git")
    assert "delete" not in str(answer["problems"])


def test_a_projection_can_be_behind_by_several_records(released: Shop) -> None:
    """Two commands in a row were stopped between their record and its projection."""
    place = released.root / "registry/channels/staging.json"
    before = place.read_bytes()
    for reason in ("one", "two"):
        released.pawl("reject", FIRST[0], "--channel", "staging", "--reason", reason)
        released.pawl("unreject", FIRST[0], "--channel", "staging", "--reason", reason)
    place.write_bytes(before)
    (problem,) = released.pawl("verify")["problems"]
    assert (problem["code"], problem["severity"]) == ("projection-behind", "warning")
    assert "4 records behind" in problem["message"]
    released.pawl("halt", "support/refund", "--channel", "staging", "--reason", "mends it")
    assert released.pawl("verify")["problems"] == []
