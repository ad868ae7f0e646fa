"""Reading a whole work tree: strict YAML, every check of every procedure, its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from benchmarks.floors import events
from benchmarks.harness import Benchmark, Contest, Setting
from benchmarks.sides import calling
from benchmarks.workspaces import make
from pawl.operations.sources import Sources, read_sources


def _contests(setting: Setting) -> Iterator[Contest]:
    count = setting.pick(full=1_000, quick=100, tiny=6)
    workspace = make(setting.folder, procedures=count, suites=False)
    files = sorted(workspace.procedures.rglob("*.yaml"))
    yield Contest(
        name=f"read {count} procedures",
        product=calling(lambda: read_sources(workspace)),
        floor=calling(lambda: _events_and_digests(files)),
        agree=_agree,
    )


def _events_and_digests(files: list[Path]) -> dict[str, str]:
    digests = {}
    for path in files:
        data = path.read_bytes()
        events(data)
        digests[path.stem] = hashlib.sha256(data).hexdigest()
    return digests


def _agree(sources: Sources, digests: dict[str, str]) -> bool:
    read = {name.rpartition("/")[2]: source.data for name, source in sources.procedures.items()}
    return not sources.problems and digests == {name: hashlib.sha256(data).hexdigest() for name, data in read.items()}


READ = Benchmark(
    about="read and check every procedure of a work tree",
    floor="libyaml's event stream and a SHA-256 of the same files",
    prepare=_contests,
)
