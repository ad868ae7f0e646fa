"""The process in which an implementation runs; started by ``runners.py`` and by nobody else.

It imports nothing of pawl. The request comes on standard input, which is closed before foreign code is imported; the
answer goes down a pipe of its own, so that whatever the implementation prints is no part of it. One process answers
one call and ends without clean-up. Its start is paid by every case, so it imports little.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
from collections.abc import Awaitable, Mapping
from pathlib import PurePath
from typing import Any


def main() -> None:
    answers = int(sys.argv[1])
    os.set_inheritable(answers, False)
    request = json.load(sys.stdin.buffer)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    _limit(request["limits"])
    sys.path[:0] = request["path"]
    os.environ["PYTHONPATH"] = os.pathsep.join(request["path"])
    _write(answers, _answer(request))
    os._exit(0)


def _limit(limits: Mapping[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (bound, bound))
        except (ValueError, OSError):  # a system that knows the limit and does not enforce it
            continue


def _answer(request: Mapping[str, Any]) -> bytes:
    try:
        value = _call(request["module"], request["function"], request["arguments"])
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the answer
        return _error(_sentence(error, tuple(request["path"])))
    try:
        data = json.dumps({"value": value}, allow_nan=False).encode("ascii")
    except BaseException as error:  # noqa: BLE001 - foreign values can raise anything
        return _error(f"its result is no JSON value: {_first_line(error)}")
    if len(data) > request["max_bytes"]:
        return _error(f"its result has {len(data)} bytes, at most {request['max_bytes']} are taken")
    return data


def _call(module: str, function: str, arguments: Mapping[str, Any]) -> Any:
    found: Any = importlib.import_module(module)
    for part in function.split("."):
        found = getattr(found, part)
    value = found(**arguments)
    if not hasattr(value, "__await__"):
        return value
    import asyncio  # noqa: PLC0415 - as long to import as all else together

    return asyncio.run(_wait(value))


async def _wait(value: Awaitable[Any]) -> Any:
    return await value


def _error(sentence: str) -> bytes:
    return json.dumps({"error": sentence[:600]}).encode("ascii")


def _sentence(error: BaseException, path: tuple[str, ...]) -> str:
    import traceback  # noqa: PLC0415 - only where something went wrong

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(path)]
    where = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"it raised {type(error).__name__}{where}: {_first_line(error)}"


def _first_line(error: BaseException) -> str:
    try:
        lines = str(error).splitlines()
    except BaseException:  # noqa: BLE001 - foreign exceptions can raise anything
        lines = []
    return lines[0][:400] if lines else "no message"


def _write(answers: int, data: bytes) -> None:
    view = memoryview(data + b"\n")
    while view:
        view = view[os.write(answers, view) :]


if __name__ == "__main__":
    main()
