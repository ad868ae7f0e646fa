"""Trials: one file of registry/ or releases/ is changed, and verify must end with 6 and name it.

Covered is everything that pawl writes there: frozen versions, projections, records and evidence. registry.yaml, the
policies and allowed_signers are sources that people edit; what is adopted of them stands in records.
By hand: ``PYTHONPATH=tests python -m hostile.trials TRIALS [SEED]``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from pawl.operations.observing.verifying import verify
from pawl.operations.session import Session
from pawl.registry.journal import Actor
from pawl.workspace import Workspace
from support import Shop

NOW = datetime(2999, 1, 1, tzinfo=UTC)
COVERED = ("registry/versions/", "registry/channels/", "releases/")


@dataclass(frozen=True, slots=True)
class Trial:
    """What was done to which file."""

    deed: str
    path: str


def covered(shop: Shop) -> dict[str, bytes]:
    """Return the files that trials change, with their bytes."""
    return {path: data for path, data in shop.files().items() if path.startswith(COVERED)}


def _flip(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _put_in(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice((b" ", b"\n", b"\r", b"\x00", b"#", rng.randbytes(rng.randrange(1, 9)))) + data[at:]


def _take_out(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 1, 2, 10, 100)) :]


def _cut(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    return data[: rng.randrange(len(data))]


def _swap(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _other(rng: Random, _: bytes, others: list[bytes]) -> bytes:
    return rng.choice(others)


def _spelled(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    """The same content in another spelling: line ends, order of keys, another encoding, a comment."""
    text = data.decode()
    forms = [data.replace(b"\n", b"\r\n"), text.encode("utf-16"), b"\xef\xbb\xbf" + data, data + b"\n", b"\n" + data]
    if text.startswith("{"):
        fields = json.loads(text)
        forms += [json.dumps(fields).encode(), json.dumps(dict(reversed(fields.items())), indent=2).encode() + b"\n"]
    else:
        forms.append(data + b"# a comment\n")
    return rng.choice(forms)


DEEDS: dict[str, Callable[[Random, bytes, list[bytes]], bytes]] = {
    "flip": _flip,
    "put in": _put_in,
    "take out": _take_out,
    "cut": _cut,
    "swap": _swap,
    "other": _other,
    "spelled": _spelled,
}


def missed(shop: Shop, trials: int, seed: int) -> tuple[Counter[str], list[Trial]]:
    """Run trials and return how many were of each deed, and those that were not found, or not by the file's name.

    In half of them the file keeps its time of change, as somebody does who wants no notice.
    """
    files = covered(shop)
    rng = Random(f"trials:{seed}")  # noqa: S311 - nothing secret
    session = Session(workspace=Workspace(shop.root), actor=Actor(name="Ada"), now=NOW, commit=False, run_code=False)
    assert verify(session).exit_code == 0
    done: Counter[str] = Counter()
    found: list[Trial] = []
    for _ in range(trials):
        path, deed = rng.choice(sorted(files)), rng.choice(sorted(DEEDS))
        data = files[path]
        changed = DEEDS[deed](rng, data, list(files.values()))
        if changed == data:
            changed = data + b" "
        done[deed] += 1
        if not _is_found(session, shop.root / path, path, changed, keep_time=rng.random() < 0.5):
            found.append(Trial(deed, path))
        (shop.root / path).write_bytes(data)
    assert verify(session).exit_code == 0
    return done, found


def _is_found(session: Session, file: Path, path: str, changed: bytes, *, keep_time: bool) -> bool:
    times = file.stat()
    file.write_bytes(changed)
    if keep_time:
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    report = verify(session)
    named = {problem.path for problem in report.problems if problem.severity == "error"}
    return report.exit_code == 6 and path in named


def main(trials: int, seed: int) -> int:
    """Run trials in a workspace outside of Git and print what came out."""
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder))
        shop.start()
        shop.release_first()
        shop.release_second()
        done, found = missed(shop, trials, seed)
        sys.stdout.write(f"{sum(done.values())} trials (seed {seed}) over {len(covered(shop))} files, missed {found}\n")
        sys.stdout.write(f"{dict(sorted(done.items()))}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
