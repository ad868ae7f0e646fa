"""Files are written whole or not at all; locks end with their processes; nothing leaves the root."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pawl.errors import ConflictError, InvalidError, NotFoundError, PawlError
from pawl.io import steps
from pawl.io.files import (
    TEMPORARY_PREFIX,
    Lock,
    Writing,
    create,
    inside,
    read_bounded,
    remove,
    replace,
    sweep,
    sweep_ended,
)


def code_of(action: Callable[[], object], kind: type[PawlError]) -> str:
    with pytest.raises(kind) as caught:
        action()
    return caught.value.problems[0].code


def test_reading_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bounded(path, limit=5) == b"12345"
    assert code_of(lambda: read_bounded(path, limit=4), InvalidError) == "too-large"


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"x")
    cases: list[tuple[Path, type[PawlError], str]] = [
        (tmp_path / "pipe", InvalidError, "not-a-file"),
        (tmp_path, InvalidError, "not-a-file"),
        (Path(os.devnull), InvalidError, "not-a-file"),
        (tmp_path / "missing", NotFoundError, "file-not-found"),
        (tmp_path / "file" / "below", NotFoundError, "file-not-found"),
        (tmp_path / "nul\x00", InvalidError, "cannot-read"),
        (tmp_path / ("x" * 300), InvalidError, "cannot-read"),
    ]
    for path, kind, code in cases:
        assert code == code_of(lambda path=path: read_bounded(path, limit=10), kind)  # type: ignore[misc]


def test_reading_does_not_follow_links_out_of_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "file").write_bytes(b"mine")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "in").symlink_to("file")
    assert read_bounded(root / "in", limit=10, root=root) == b"mine"
    assert code_of(lambda: read_bounded(root / "out", limit=10, root=root), InvalidError) == "path-outside"


@pytest.mark.parametrize("relative", ["", ".", "/etc/passwd", "..", "a/../../b", "a/..", "a\x00b", "../root2/x"])
def test_paths_that_are_not_inside(tmp_path: Path, relative: str) -> None:
    assert code_of(lambda: inside(tmp_path, relative), InvalidError) == "path-outside"


def test_links_that_lead_outside_are_not_inside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "root2").mkdir()
    (root / "out").symlink_to(tmp_path / "root2")
    (root / "dangling").symlink_to(tmp_path / "nowhere")
    (root / "loop").symlink_to("loop")
    (root / "in").symlink_to("folder")
    for relative in ("out/x", "out", "dangling", "loop/x"):
        assert code_of(lambda relative=relative: inside(root, relative), InvalidError) == "path-outside"  # type: ignore[misc]
    assert inside(root, "in/x") == root / "in" / "x"
    assert inside(root, "./folder//new/file.yaml") == root / "folder/new/file.yaml"
    linked = tmp_path / "linked"
    linked.symlink_to(root)
    assert inside(linked, "folder/x") == linked / "folder/x"


def test_create_makes_folders_and_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c"
    create(path, b"one")
    assert path.read_bytes() == b"one"
    assert path.stat().st_nlink == 1
    assert code_of(lambda: create(path, b"two"), ConflictError) == "file-exists"
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert code_of(lambda: create(tmp_path / "dangling", b"x"), ConflictError) == "file-exists"
    assert code_of(lambda: create(tmp_path / "a", b"x"), ConflictError) == "file-exists"
    assert code_of(lambda: create(path / "below", b"x"), InvalidError) == "cannot-write"
    assert path.read_bytes() == b"one"
    assert [path] == list(path.parent.iterdir())


def test_files_have_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        create(tmp_path / "a", b"")
        replace(tmp_path / "b", b"")
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"] == [0o640, 0o640]


def test_replace_keeps_permissions_and_refuses_links_and_folders(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o755)
    replace(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o755)
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder"):
        assert code_of(lambda name=name: replace(tmp_path / name, b"x"), InvalidError) == "not-a-file"  # type: ignore[misc]
    assert path.read_bytes() == b"new"


def test_remove(tmp_path: Path) -> None:
    create(tmp_path / "a", b"x")
    remove(tmp_path / "a")
    remove(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "folder").mkdir()
    assert code_of(lambda: remove(tmp_path / "folder"), InvalidError) == "cannot-remove"


def test_a_full_disk_is_an_error_of_ours_and_leaves_nothing(tmp_path: Path) -> None:
    def full(name: str) -> None:
        if name == "files.fsync":
            raise OSError(28, "No space left on device")

    path = tmp_path / "a"
    create(path, b"old")
    steps.hook = full
    assert code_of(lambda: replace(path, b"new"), InvalidError) == "cannot-write"
    assert code_of(lambda: create(tmp_path / "b", b"new"), InvalidError) == "cannot-write"
    assert path.read_bytes() == b"old"
    assert [path] == list(tmp_path.iterdir())


def test_a_kill_at_any_step_leaves_the_old_or_the_new_file(
    tmp_path: Path,
    steps_of: Callable[[Callable[[], object]], list[str]],
    killed_at: Callable[[int, Callable[[], object]], bool],
) -> None:
    for action, old in ((create, None), (replace, b"old")):
        trial = tmp_path / f"trial-{action.__name__}"
        names = steps_of(lambda trial=trial, action=action: action(trial / "a" / "file", b"new"))  # type: ignore[misc]
        assert {"files.mkdir", "files.open", "files.write", "files.fsync", "files.fsync-folder"} <= set(names)
        for number in range(len(names) + 1):
            path = tmp_path / f"{action.__name__}{number}" / "a" / "file"
            if old is not None:
                create(path, old)
            killed_at(number, lambda path=path, action=action: action(path, b"new"))  # type: ignore[misc]
            found = path.read_bytes() if path.exists() else None
            assert found in (old, b"new")
            sweep(path.parent)
            left = list(path.parent.iterdir()) if path.parent.exists() else []
            assert left == ([path] if found is not None else [])
            replace(path, b"again")
            assert path.read_bytes() == b"again"


def test_sweep_removes_only_what_writers_left(tmp_path: Path) -> None:
    (tmp_path / f"{TEMPORARY_PREFIX}1-ab").write_bytes(b"")
    (tmp_path / "kept").write_bytes(b"")
    sweep(tmp_path)
    sweep(tmp_path / "missing")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_without_a_lock_only_what_ended_processes_left_is_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    names = [f"{TEMPORARY_PREFIX}{process}-ab" for process in (ended.pid, os.getpid(), "who", 10**30)]
    for name in (*names, "kept"):
        (tmp_path / name).write_bytes(b"")
    sweep_ended(tmp_path)
    sweep_ended(tmp_path / "missing")
    assert {path.name for path in tmp_path.iterdir()} == {"kept", *names[1:]}


def test_one_process_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"
    with Lock(path, timeout=1):
        with pytest.raises(ConflictError, match=f"held by process {os.getpid()}") as caught, Lock(path, timeout=0.05):
            pass
        assert caught.value.problems[0].code == "locked"
        assert path.exists()
    with Lock(path, timeout=0):
        pass
    assert path.exists()


def test_a_lock_waits_for_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    order: list[str] = []

    def second() -> None:
        with Lock(path, timeout=5):
            order.append("second")

    with Lock(path, timeout=1):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from pawl.io.files import Lock\n"
        "with Lock(Path(sys.argv[1]), timeout=1):\n    print('held', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "lock")], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert code_of(lambda: Lock(tmp_path / "lock", timeout=0).__enter__(), ConflictError) == "locked"
        holder.kill()
    with Lock(tmp_path / "lock", timeout=1):
        pass


def test_a_lock_that_cannot_be_taken_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to("file")
    for path in (tmp_path / "file" / "lock", tmp_path / "link", tmp_path):
        assert code_of(lambda path=path: Lock(path, timeout=0).__enter__(), InvalidError) == "cannot-lock"  # type: ignore[misc]


def test_only_one_of_many_creates(tmp_path: Path) -> None:
    results: list[str] = []

    def attempt(number: int) -> None:
        try:
            create(tmp_path / "folder" / "one", str(number).encode())
            results.append("made")
        except ConflictError:
            results.append("lost")

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["lost"] * 7 + ["made"]


def test_several_files_are_staged_synced_at_once_and_put_into_their_places(tmp_path: Path) -> None:
    paths = [tmp_path / f"folder-{number}" / "file" for number in range(9)]
    with Writing() as writing:
        for path in paths:
            writing.stage(path, path.parent.name.encode())
        assert [path for path in paths if path.exists()] == []
        writing.sync()
        for path in paths[:-1]:
            writing.replace(path)
        writing.create(paths[-1])
        writing.sync()
    assert [path.read_text(encoding="utf-8") for path in paths] == [path.parent.name for path in paths]


def test_what_was_staged_and_not_put_into_its_place_is_gone(tmp_path: Path) -> None:
    """Whichever of several cannot be synced: it is an error that names the file, and no file is half there."""
    calls: list[int] = []

    def failing(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 3:
            raise OSError(5, "Input/output error")

    with pytest.MonkeyPatch.context() as patch, Writing() as writing:
        patch.setattr(os, "fsync", failing)
        for name in "abcd":
            writing.stage(tmp_path / name, b"x")
        with pytest.raises(InvalidError, match=r"cannot write .*/[abcd]: Input/output error"):
            writing.sync()
    assert len(calls) == 4
    assert list(tmp_path.iterdir()) == []


def test_a_staged_file_takes_no_place_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with Writing() as writing:
        writing.stage(tmp_path / "a", b"x", new=True)
        with pytest.raises(ConflictError):
            writing.create(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
