"""Running implementations of tools: one call, one process, and nothing that comes out of it but a value or a reason.

A ``python:`` binding is imported from the workspace's ``python_path`` entries, its root and what is installed, and
called with the arguments as keyword arguments; a coroutine is awaited. Each call has a process of its own, because what
one case leaves behind must not change the next one: a start costs some 20 ms. The process gets

- an empty folder as working directory, home and place for temporary files, removed afterwards;
- an environment of its own: PATH, a UTF-8 locale, UTC and Python's settings; nothing else of ours, no credentials;
- limits on wall time, processor time, memory, file size and open files, and a bound on the size of its answer;
- no standard input, and a standard output that nobody reads;
- a session of its own, whose process group is killed when the answer is there, or the time is up.

These are limits against accidents. They are no sandbox: an implementation can read files and use the network as the
person can who runs pawl. Whoever does not trust the code does not run it (``--no-code``).
"""

from __future__ import annotations

import json
import math
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from pawl.conformance.implementations import parse_binding, search_path
from pawl.conformance.outcomes import NotReturned, Observation, Returned
from pawl.conformance.plain import parse_json, text_of
from pawl.errors import InvalidError

TIMEOUT = 10.0
"""Seconds of wall time for one call."""
MEMORY = 2 * 1024**3
"""Bytes of address space."""
MAX_RESULT = 1024 * 1024
"""Bytes of JSON that one call may answer."""
_FILE_SIZE = 64 * 1024 * 1024
_OPEN_FILES = 256
_CHILD = Path(__file__).with_name("python_child.py")
_CHUNK = 65_536


def run_python(
    binding: str,
    arguments: Any,
    *,
    root: Path,
    python_path: tuple[str, ...] = (),
    timeout: float = TIMEOUT,
    memory: int = MEMORY,
) -> Observation:
    """Call ``pkg.mod:func`` in a child process and return its result, or in a sentence why there is none.

    ``timeout`` is in seconds, ``memory`` in bytes. Raises nothing.
    """
    if not isinstance(arguments, Mapping):
        return NotReturned(outcome="errored", reason=f"{binding} takes an object of arguments")
    try:
        module, function = parse_binding(binding)
        path = [str(folder) for folder in search_path(root, python_path)]
    except InvalidError as error:
        return NotReturned(outcome="errored", reason=error.message)
    seconds = math.ceil(timeout)
    request = {
        "module": module,
        "function": function,
        "arguments": dict(arguments),
        "path": path,
        "max_bytes": MAX_RESULT,
        "limits": {
            "RLIMIT_CPU": seconds + 1,
            "RLIMIT_AS": memory,
            "RLIMIT_FSIZE": _FILE_SIZE,
            "RLIMIT_NOFILE": _OPEN_FILES,
            "RLIMIT_CORE": 0,
        },
    }
    try:
        answer = _exchange(json.dumps(request).encode("utf-8"), timeout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return NotReturned(outcome="errored", reason=f"{binding} could not be run: {error}")
    return _observation(binding, answer)


def _observation(binding: str, answer: bytes | str) -> Observation:
    if isinstance(answer, str):
        return NotReturned(outcome="errored", reason=f"{binding}: {answer}")
    try:
        value = parse_json(answer.decode("utf-8"))
        if "error" in value:
            return NotReturned(outcome="errored", reason=f"{binding}: {value['error']}")
        result = value["value"]
        text_of(result)
    except (ValueError, KeyError, TypeError) as error:
        return NotReturned(outcome="errored", reason=f"{binding}: its result is no JSON value: {error}")
    return Returned(value=result)


def _exchange(request: bytes, timeout: float) -> bytes | str:
    """Return what the child answered, or why it did not."""
    with (
        tempfile.TemporaryDirectory(prefix="pawl-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile() as asked,
    ):
        asked.write(request)
        asked.seek(0)
        reader, writer = os.pipe()
        try:
            try:
                process = _start(asked, writer, folder)
            finally:
                os.close(writer)
            return _converse(process, reader, timeout)
        finally:
            os.close(reader)


def _start(asked: IO[bytes], writer: int, folder: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-s", "-P", "-B", str(_CHILD), str(writer)],
        stdin=asked,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=_environment(folder),
        pass_fds=(writer,),
        start_new_session=True,
    )


def _converse(process: subprocess.Popen[bytes], reader: int, timeout: float) -> bytes | str:
    try:
        answer = _read_line(reader, time.monotonic() + timeout)
    finally:
        # Before the wait: until then the number of the group cannot belong to anybody else.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    if answer is None:
        return f"it gave no answer within {timeout:g} seconds"
    if not answer.endswith(b"\n"):
        return _cut_short(answer, code)
    return answer


def _read_line(reader: int, deadline: float) -> bytes | None:
    """Return what comes up to the first line end, the end of the pipe or the bound; None when the time is up."""
    found = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        while len(found) <= MAX_RESULT + 1:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                return None
            data = os.read(reader, _CHUNK)
            found += data
            if not data or b"\n" in data:
                break
    line, end, _ = bytes(found).partition(b"\n")
    return line + end


def _cut_short(answer: bytes, code: int) -> str:
    if len(answer) > MAX_RESULT:
        return f"its result has more than {MAX_RESULT} bytes"
    if code >= 0:
        return f"the process ended with exit code {code} before it answered"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"the process was ended by {name} before it answered"


def _environment(folder: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }
