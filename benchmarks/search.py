"""Searching and listing thousands of published procedures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from benchmarks.harness import Benchmark, Contest, Rival, Setting
from benchmarks.sides import calling
from benchmarks.workspaces import made_live, name_of, session
from pawl.operations.observing.listing import Wanted, list_published
from pawl.workspace import Workspace

_PART = "-001"
"""In the names of a hundred of 10,000 procedures."""


def _contests(setting: Setting) -> Iterator[Contest]:
    count = setting.pick(full=10_000, quick=1_000, tiny=6)
    workspace = made_live(setting.folder / "workspace", procedures=count, suites=False)
    index = setting.folder / "names.json"
    index.write_text(json.dumps([name_of(number) for number in range(count)]), encoding="utf-8")

    def by_hand(part: str) -> Callable[[], int]:
        return lambda: sum(part in name for name in json.loads(index.read_text(encoding="utf-8")))

    part = setting.pick(full=_PART, quick=_PART, tiny="-00000")
    cases = (
        ("search a part of the names", part, Wanted(names=[part])),
        ("search every text", part, Wanted(text=part)),
        ("list all", "", Wanted()),
    )
    for name, wanted, asked in cases:
        side = setting.peers.work("mlflow", "search", names=count, part=wanted)
        yield Contest(
            name=f"{name}, {count} procedures",
            product=calling(_found(workspace, asked)),
            floor=calling(by_hand(wanted)),
            agree=int.__eq__,
            rivals=(Rival(peer="mlflow", side=side, agree=int.__eq__),) if side else (),
            goals={"mlflow": 1 / 8},
        )


def _found(workspace: Workspace, wanted: Wanted) -> Callable[[], int]:
    return lambda: len(list_published(session(workspace), wanted).data["procedures"])


SEARCH = Benchmark(
    about="search and list published procedures",
    floor="json.loads of a file with all names, and a look at each",
    prepare=_contests,
)
