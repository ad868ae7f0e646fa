"""Memories are believed where this user's key made them, and are never in the way."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pawl.io.memory import Lost, Memory, open_memory

SCHEMA = "CREATE TABLE rows (value TEXT NOT NULL) STRICT; CREATE INDEX by_value ON rows (value)"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def opened(path: Path, about: str = "one") -> Memory:
    path.parent.mkdir(parents=True, exist_ok=True)
    memory = open_memory(path, schema=SCHEMA, about=about)
    assert memory is not None
    return memory


def remember(path: Path, value: str) -> None:
    memory = opened(path)
    with memory.writing() as rows:
        rows.execute("INSERT INTO rows VALUES (?)", (value,))
    memory.close()


def remembered(path: Path, about: str = "one") -> list[str]:
    memory = opened(path, about)
    with memory.reading() as rows:
        found = [str(value) for (value,) in rows.execute("SELECT value FROM rows")]
    memory.close()
    return found


def test_what_was_written_is_there_again(tmp_path: Path) -> None:
    place = tmp_path / "a" / "index.db"
    remember(place, "x")
    assert remembered(place) == ["x"]


def test_rows_that_were_judged_by_something_else_count_for_nothing(tmp_path: Path) -> None:
    place = tmp_path / "a" / "index.db"
    remember(place, "x")
    assert remembered(place, "two") == []


def test_one_that_was_brought_along_counts_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither from another place of the same user, nor from another user in the same place."""
    place, other = tmp_path / "a" / "index.db", tmp_path / "b" / "index.db"
    remember(place, "x")
    other.parent.mkdir()
    shutil.copy(place, other)
    assert remembered(other) == []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another user's"))
    assert remembered(place) == []


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4096])
def test_damage_costs_the_rows_and_nothing_else(tmp_path: Path, damage: bytes) -> None:
    place = tmp_path / "a" / "index.db"
    remember(place, "x")
    place.write_bytes(damage)
    assert remembered(place) == []


def test_there_is_none_where_the_key_is_open_to_others(tmp_path: Path) -> None:
    place = tmp_path / "a" / "index.db"
    remember(place, "x")
    (tmp_path / "cache" / "pawl" / "key").chmod(0o644)
    assert open_memory(place, schema=SCHEMA, about="one") is None


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_there_is_none_where_the_key_is_no_key(tmp_path: Path, content: bytes) -> None:
    key = tmp_path / "cache" / "pawl" / "key"
    key.parent.mkdir(parents=True)
    key.write_bytes(content)
    key.chmod(0o600)
    assert open_memory(tmp_path / "index.db", schema=SCHEMA, about="one") is None


def test_there_is_none_behind_a_link(tmp_path: Path) -> None:
    place = tmp_path / "index.db"
    place.symlink_to(tmp_path / "elsewhere.db")
    assert open_memory(place, schema=SCHEMA, about="one") is None
    assert not (tmp_path / "elsewhere.db").exists()


def test_there_is_none_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert open_memory(tmp_path / "index.db", schema=SCHEMA, about="one") is None


def test_a_writer_that_stays_makes_the_next_one_go_without(tmp_path: Path) -> None:
    place = tmp_path / "a" / "index.db"
    remember(place, "x")
    holder, waiting = opened(place), opened(place)
    with holder.writing() as rows:
        rows.execute("INSERT INTO rows VALUES ('y')")
        with pytest.raises(Lost), waiting.writing():
            pass
        with waiting.reading() as seen:
            assert seen.execute("SELECT value FROM rows").fetchall() == [("x",)]
    for memory in (holder, waiting):
        memory.close()


def _write(memory: Memory, then: object) -> None:
    with memory.writing() as rows:
        rows.execute("INSERT INTO rows VALUES ('x')")
        rows.execute(then)  # type: ignore[arg-type] # None is what fails outside of SQLite


def test_what_failed_inside_leaves_nothing(tmp_path: Path) -> None:
    memory = opened(tmp_path / "a" / "index.db")
    for statement, error in (("SELECT missing", Lost), ("INSERT INTO rows VALUES (1, 2)", Lost), (None, TypeError)):
        with pytest.raises(error):
            _write(memory, statement)
    with memory.reading() as rows:
        assert rows.execute("SELECT COUNT(*) FROM rows").fetchone() == (0,)
    memory.close()


def test_the_key_is_this_users_alone(tmp_path: Path) -> None:
    opened(tmp_path / "a" / "index.db").close()
    key = tmp_path / "cache" / "pawl" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.stat().st_uid == os.geteuid()
    assert sorted(path.name for path in key.parent.iterdir()) == ["key"]


def test_a_database_of_others_is_no_memory(tmp_path: Path) -> None:
    place = tmp_path / "a" / "index.db"
    place.parent.mkdir()
    with closing(sqlite3.connect(place, isolation_level=None)) as theirs:
        theirs.execute("CREATE TABLE rows (value TEXT)")
        theirs.execute("CREATE TABLE believed (mark TEXT)")
        theirs.execute("INSERT INTO believed VALUES ('0')")
        theirs.execute("INSERT INTO rows VALUES ('forged')")
    assert remembered(place) == []


def test_a_moment_is_another_one_after_any_change_by_whomever(tmp_path: Path) -> None:
    place = tmp_path / "a" / "index.db"
    ours, others = opened(place), opened(place)
    seen = [ours.moment(), ours.moment()]
    for writer in (others, ours, others):
        with writer.writing() as rows:
            rows.execute("INSERT INTO rows VALUES ('x')")
        seen += [ours.moment(), ours.moment()]
    assert seen[::2] == seen[1::2]
    assert len(set(seen)) == 4
    with ours.reading() as rows:
        assert rows.execute("SELECT count(*) FROM rows").fetchone() == (3,)
        inside = ours.moment()
        remember(place, "after it began")  # which is not seen within, and is another moment as soon as it is seen
        assert ours.moment() == inside == seen[-1]
    assert ours.moment() != inside
    assert ours.ask("SELECT count(*) FROM rows", {}) == [(4,)]
    with pytest.raises(Lost):
        ours.ask("SELECT nothing FROM nowhere", {})
    for memory in (ours, others):
        memory.close()
