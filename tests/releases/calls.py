"""A pawl in a child process whose calls of the operating system are points: it can be killed or hindered at each.

What is wrapped are the calls themselves (os, open, fcntl, subprocess, sqlite3), not places in pawl that somebody named,
so that a new write is a new point without anybody's doing.
"""

from __future__ import annotations

import builtins
import fcntl
import io
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

from pawl.cli.main import run

CHANGING = ("link", "rename", "replace", "unlink", "remove", "mkdir", "rmdir", "chmod", "symlink", "truncate", "utime")
BY_HANDLE = ("write", "pwrite", "ftruncate", "fsync", "fdatasync", "read", "pread", "fstat")
LOOKING = ("stat", "lstat", "listdir", "scandir", "readlink")
ONLY_LOOKS = frozenset({"var", "cat-file", "rev-parse", "status", "diff", "log", "ls-files", "for-each-ref", "show"})
"""What Git is asked that changes nothing."""
STILL = frozenset({"fsync", "fdatasync", "flock"})
"""Calls after which every file is as it was before them: a kill after one finds what a kill before it found."""
NOT_OURS = tuple(
    dict.fromkeys((sys.prefix, sys.base_prefix, str(Path(os.__file__).parent), "/proc", "/dev/null", "/etc"))
)


@dataclass(frozen=True, slots=True)
class Point:
    """One call: its name, the file or the words it is about, and whether it changes anything."""

    call: str
    about: str
    changes: bool


HIT: list[Any] = ["hit"]
Act: TypeAlias = Callable[[int, Point], Any]
"""What happens at a point, which are counted from 1; it raises what the call is to
raise, and returns None where it did nothing; for ``start`` it may return the words to start instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """How a child ended: ``code`` is None where it was killed. ``points`` are those it came to."""

    code: int | None
    out: str
    err: str
    points: tuple[Point, ...]
    hit: bool
    """Whether something was made to fail, or to be otherwise."""

    @property
    def answer(self) -> dict[str, Any] | None:
        """The JSON that it printed, if that is complete."""
        try:
            found: dict[str, Any] = json.loads(self.out)
        except ValueError:
            return None
        return found


def kill_at(turn: int) -> Act:
    """Kill the process before its ``turn``-th point that changes something, with Git's own as they come.

    Where the point before it changed no file, such as a sync, nothing new would be found, and the point is passed over.
    """
    count, still = 0, False

    def act(_: int, point: Point) -> None:
        nonlocal count, still
        if not point.changes:
            return
        count += not still
        if count == turn and not still:
            os.kill(os.getpid(), signal.SIGKILL)
        still = point.call in STILL

    return act


def nothing(_: int, __: Point) -> None:
    """Let everything happen."""


def child(root: Path, words: tuple[str, ...], act: Act, *, run_it: Callable[[], object] | None = None) -> Child:
    """Run ``pawl -C root words -o json`` in a child, and return when it and every process it started have ended."""
    ended, kept_open = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as told:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads of the test runner
            process = os.fork()
        if process == 0:  # pragma: no cover - it never comes back
            os.close(ended)
            os.set_inheritable(kept_open, True)
            _in_child(root, words, act, (out.fileno(), err.fileno(), told.fileno(), kept_open), run_it)
        os.close(kept_open)
        while os.read(ended, 1024):  # its end is reached when nobody has the other side any more
            pass
        os.close(ended)
        _, status = os.waitpid(process, 0)
        texts = []
        for file in (out, err, told):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    lines = [json.loads(line) for line in texts[2].splitlines()]
    points = tuple(Point(*line) for line in lines if line != HIT)
    assert os.WIFEXITED(status) or os.WTERMSIG(status) == signal.SIGKILL
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
    return Child(code=code, out=texts[0], err=texts[1], points=points, hit=HIT in lines)


def _in_child(
    root: Path,
    words: tuple[str, ...],
    act: Act,
    handles: tuple[int, int, int, int],
    run_it: Callable[[], object] | None,
) -> None:  # pragma: no cover - the parent measures nothing here
    out, err, told, kept_open = handles
    sys.stdout = io.TextIOWrapper(io.FileIO(os.dup(out), "w"), encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(io.FileIO(os.dup(err), "w"), encoding="utf-8", write_through=True)
    code = 99
    try:
        Watch(act, told, kept_open).install()
        if run_it is not None:
            run_it()
            code = 0
        else:
            run(["-C", str(root), *words, "-o", "json"])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except BaseException:  # noqa: BLE001 - whatever it is, the parent is to see it
        traceback.print_exc()
    os._exit(code)


class Watch:
    """Wraps the calls of this process, for good; only for a child."""

    def __init__(self, act: Act, told: int, kept_open: int) -> None:
        self._act = act
        self._told = told
        self._kept_open = kept_open
        self._count = 0
        self._inside = False
        self._paths: dict[int, str] = {}
        self._write, self._status = os.write, os.fstat

    def __call__(self, call: str, about: object, *, changes: bool) -> Any:
        if self._inside:
            return None
        text = os.fsdecode(about) if isinstance(about, (str, bytes, os.PathLike)) else str(about)
        if text.startswith(NOT_OURS) or (isinstance(about, int) and about not in self._paths):
            return None
        if isinstance(about, int):
            text = self._paths[about]
        self._inside = True
        try:
            self._count += 1
            self._tell([call, text, changes])
            answer = self._act(self._count, Point(call, text, changes))
            if answer is not None:
                self._tell(HIT)
        except (OSError, sqlite3.Error):
            self._tell(HIT)
            raise
        else:
            return answer
        finally:
            self._inside = False

    def _tell(self, line: list[Any]) -> None:
        self._write(self._told, (json.dumps(line) + "\n").encode())

    def closed(self, handle: int) -> None:
        """Forget a handle: its number will be that of something else."""
        self._paths.pop(handle, None)

    def install(self) -> None:
        for name in (*CHANGING, *LOOKING, *BY_HANDLE):
            changes = name not in {*LOOKING, "read", "pread", "fstat"}
            setattr(os, name, self._wrapped(name, getattr(os, name), changes=changes))
        fcntl.flock = self._wrapped("flock", fcntl.flock, changes=True)
        self._install_open()
        self._install_processes()
        self._install_sqlite()

    def _wrapped(self, name: str, real: Callable[..., Any], *, changes: bool) -> Callable[..., Any]:
        def call(*values: Any, **more: Any) -> Any:
            about = values[1] if name in {"link", "rename", "replace", "symlink"} else values[0] if values else "."
            self(name, about, changes=changes)
            return real(*values, **more)

        return call

    def _install_open(self) -> None:
        real_open, real_close, real_io, real_status = os.open, os.close, io.open, self._status

        def open_handle(path: Any, flags: int, *values: Any, **more: Any) -> int:
            writes = bool(flags & (os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_RDWR))
            self("open", path, changes=writes)
            handle: int = real_open(path, flags, *values, **more)
            if not os.fsdecode(path).startswith(NOT_OURS):
                self._paths[handle] = os.fsdecode(path)
            return handle

        def open_file(file: Any, mode: str = "r", *values: Any, **more: Any) -> Any:
            writes = bool(set(mode) & set("wxa+"))
            if isinstance(file, int):
                if file not in self._paths or not stat.S_ISREG(real_status(file).st_mode):
                    return real_io(file, mode, *values, **more)
                return File(self, real_io(file, mode, *values, **more), self._paths[file])
            self("open", file, changes=writes)
            opened = real_io(file, mode, *values, **more)
            path = os.fsdecode(file)
            if path.startswith(NOT_OURS):
                return opened
            self._paths[opened.fileno()] = path
            return File(self, opened, path)

        def close(fd: int) -> None:
            self.closed(fd)
            real_close(fd)

        os.open, os.close = open_handle, close
        io.open = builtins.open = open_file

    def _install_processes(self) -> None:
        watch, real_init, real_communicate = self, subprocess.Popen.__init__, subprocess.Popen.communicate

        def init(self: Any, words: Any, *values: Any, **more: Any) -> None:
            shown, changes = _shown(words)
            instead = watch("start", shown, changes=changes)
            more["pass_fds"] = (*more.get("pass_fds", ()), watch._kept_open)
            if instead is not None and instead[-1] == "sh":
                instead = (*instead, *words)  # a script that is given what it stands for
            real_init(self, instead or words, *values, **more)
            watch("started", shown, changes=changes)

        def communicate(self: Any, *values: Any, **more: Any) -> Any:
            running = self.returncode is None
            found = real_communicate(self, *values, **more)
            if running:
                shown, changes = _shown(self.args)
                watch("waited", shown, changes=changes)
            return found

        subprocess.Popen.__init__ = init  # type: ignore[assignment, method-assign]
        subprocess.Popen.communicate = communicate  # type: ignore[method-assign]

    def _install_sqlite(self) -> None:
        watch, real = self, sqlite3.connect

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                watch("sql", " ".join(sql.split())[:60], changes=not sql.upper().startswith("SELECT"))
                return super().execute(sql, *values)

            def executemany(self, sql: str, *values: Any) -> sqlite3.Cursor:
                watch("sql", " ".join(sql.split())[:60], changes=True)
                return super().executemany(sql, *values)

            def close(self) -> None:
                watch("sql", "close", changes=True)
                super().close()

        def connect(path: Any, **more: Any) -> sqlite3.Connection:
            watch("connect", path, changes=True)
            return real(path, factory=Connection, **more)

        sqlite3.connect = connect  # type: ignore[assignment]


def _shown(words: Any) -> tuple[str, bool]:
    """Return the words of a process without Git's fixed options, and whether it changes anything."""
    plain = [os.fsdecode(word) for word in words]
    while len(plain) > 1 and plain[0] == "git" and plain[1].startswith("-"):
        del plain[1 : 3 if plain[1] == "-c" else 2]
    return " ".join(plain), not (plain[0] == "git" and ONLY_LOOKS & set(plain[1:2]))


class File:
    """An open file whose reads and writes are points; a write is done by halves."""

    def __init__(self, watch: Watch, file: Any, path: str) -> None:
        self._watch, self._file, self._path = watch, file, path

    def write(self, data: Any) -> int:
        self._watch("write", self._path, changes=True)
        half = len(data) // 2
        self._file.write(data[:half])
        self._file.flush()
        self._watch("write-rest", self._path, changes=True)
        self._file.write(data[half:])
        self._file.flush()
        return len(data)

    def read(self, *values: Any) -> Any:
        self._watch("read", self._path, changes=False)
        return self._file.read(*values)

    def close(self) -> None:
        if not self._file.closed:
            self._watch.closed(self._file.fileno())
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Any:
        self._watch("read", self._path, changes=False)
        return iter(self._file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
