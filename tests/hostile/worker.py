"""One process that feeds targets: it counts what came out, and makes every finding small."""

from __future__ import annotations

import json
import mmap
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hostile.limits import DeedError, TooLong, guard_process, peak_megabytes, watched
from hostile.table import Target, input_of

MOST_TRIES = 400
PROGRESS = struct.Struct("<QQ")


@dataclass(slots=True)
class Finding:
    """An input that was answered as none may be."""

    target: str
    seed: int
    index: int
    what: str
    where: str
    input: str
    """The smallest one found that is answered in the same way, as Python writes bytes."""


@dataclass(slots=True)
class Tally:
    """What became of some inputs of a target; ``worst`` is in seconds of the processor."""

    target: str
    inputs: int = 0
    refused: int = 0
    accepted: int = 0
    seconds: float = 0.0
    worst: float = 0.0
    worst_index: int = 0
    findings: list[Finding] = field(default_factory=list)


def tally(target: Target, seed: int, first: int, count: int, note: Callable[[int], None] = lambda _: None) -> Tally:
    """Feed inputs ``first`` to ``first + count`` to a target; ``note`` is told of each before it goes in."""
    found = Tally(target=target.name)
    seen: set[tuple[str, str]] = set()
    for index in range(first, first + count):
        note(index)
        data = input_of(target, seed, index)
        before, started = peak_megabytes(), time.process_time()
        wrong = fault(target, data, found)
        took = time.process_time() - started
        found.inputs += 1
        found.seconds += took
        if took > found.worst:
            found.worst, found.worst_index = took, index
        grown = peak_megabytes() - before
        if wrong is None and grown > target.megabytes:
            wrong = f"it took {grown:.0f} megabytes", "memory"
        if wrong is not None and (kind := (wrong[0].partition(":")[0], wrong[1])) not in seen:
            seen.add(kind)
            small = smaller(target, data, wrong) if wrong[1] not in {"memory", "time"} else data
            finding = Finding(target.name, seed, index, wrong[0], wrong[1], repr(small[:4_000]))
            found.findings.append(finding)
    return found


def fault(target: Target, data: bytes, count: Tally | None = None) -> tuple[str, str] | None:
    """Return what is wrong with how a target answers, and where, or None."""
    try:
        with watched(target.seconds, target.free):
            taken = target.call(data)
    except target.promised:
        taken = False
    except TooLong:
        return f"it took more than {target.seconds} seconds", "time"
    except DeedError as deed:
        return str(deed), "deed"
    except BaseException as error:  # noqa: BLE001 - whatever else comes out is what is looked for
        return f"{type(error).__name__}: {error}"[:300].split("\n", 1)[0], _where(error)
    if count is not None:
        count.accepted += taken
        count.refused += not taken
    return None


def smaller(target: Target, data: bytes, wrong: tuple[str, str]) -> bytes:
    """Return a smaller input that is answered alike: pieces are left out, large ones first."""
    kind = wrong[0].partition(":")[0]
    tries, size = MOST_TRIES, max(1, len(data) // 2)
    while size and tries:
        at = 0
        while at < len(data) and tries:
            tries -= 1
            less = data[:at] + data[at + size :]
            answer = fault(target, less)
            if answer is not None and (answer[0].partition(":")[0], answer[1]) == (kind, wrong[1]):
                data = less
            else:
                at += size
        size //= 2
    return data


def _where(error: BaseException) -> str:
    """Return the innermost place in pawl that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/pawl/" in frame.filename] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}"


def serve(progress_file: str, seed: int, plan: list[tuple[str, int, int]]) -> Iterator[dict[str, Any]]:
    """Yield the tally of each row of ``plan`` (target, first, count)."""
    from hostile.targets import TARGETS  # noqa: PLC0415 - reading all of pawl takes its time

    guard_process()
    with Path(progress_file).open("r+b") as file, mmap.mmap(file.fileno(), PROGRESS.size) as shared:
        for number, (name, first, count) in enumerate(plan):

            def note(index: int, number: int = number) -> None:
                PROGRESS.pack_into(shared, 0, number, index)

            yield asdict(tally(TARGETS[name], seed, first, count, note))


def main(arguments: list[str]) -> None:
    """Read a plan from standard input and write one line of JSON for each of its rows."""
    progress_file, seed = arguments
    plan = [(name, first, count) for name, first, count in json.load(sys.stdin)]
    for row in serve(progress_file, int(seed), plan):
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
