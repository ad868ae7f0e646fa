"""What an input may not do: take long, take memory, write, start something, or speak to the network.

Python's own audit events tell of the last three. Time is that of the processor, so that a busy machine judges alike.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

ADDRESS_SPACE = 6 * 1024**3
"""Bytes that a worker can ask of the system."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEEDS = frozenset(
    {
        *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod"),
        *("shutil.rmtree", "shutil.move", "shutil.copyfile", "subprocess.Popen", "os.system", "os.exec", "os.fork"),
        *("os.posix_spawn", "ctypes.dlopen", "urllib.Request", "ftplib.connect", "smtplib.connect"),
    }
)


class TooLong(BaseException):
    """Raised inside of an input that has used up its time."""


class DeedError(AssertionError):
    """An input made somebody write, start a process or use the network."""


@dataclass(slots=True)
class _Watch:
    on: bool = False
    free: tuple[str, ...] = ()
    seen: str | None = None


_WATCH = _Watch()


def guard_process() -> None:
    """Bound this process once and for all: memory, the network, and an ear for what is done."""
    sys.dont_write_bytecode = True
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = ADDRESS_SPACE if hard == resource.RLIM_INFINITY else min(ADDRESS_SPACE, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    sys.addaudithook(_hear)
    signal.signal(signal.SIGPROF, _stop)


@contextmanager
def watched(seconds: float, free: tuple[str, ...]) -> Iterator[None]:
    """Hold one input to its limits; ``free`` are folders that it may write in, or names of events that it may cause."""
    _WATCH.on, _WATCH.free, _WATCH.seen = True, free, None
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _WATCH.on = False
        if _WATCH.seen is not None:
            raise DeedError(_WATCH.seen)


def peak_megabytes() -> float:
    """Return the most memory that this process ever had, without that of the process that started it."""
    status = _status()
    if status is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = re.search(rb"VmHWM:\s+(\d+)", os.pread(status, 4_096, 0))
    assert found is not None
    return int(found[1]) / 1024


@cache
def _status() -> int | None:
    try:
        return os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # a system that keeps no such file
        return None


def _stop(*_: Any) -> None:
    raise TooLong


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if not _WATCH.on:
        return
    if event.startswith("socket.") and event != "socket.gethostname":
        _WATCH.seen = f"{event} {args!r}"[:300]
        raise PermissionError("the network is off")
    if event in _WATCH.free:
        return
    if event == "open":
        path, mode, flags = args
        writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool((flags or 0) & _WRITING)
        if writes and not isinstance(path, int) and not str(path).startswith(("/dev/", *_WATCH.free)):
            _WATCH.seen = f"open {path!r} {mode!r} {flags!r}"
    elif event in _DEEDS and not isinstance(args[0], int) and not str(args[0]).startswith(_WATCH.free or ("\0",)):
        _WATCH.seen = f"{event} {args!r}"[:300]
