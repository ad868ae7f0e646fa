"""Publishing and promoting, with and without Git."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.floors import CommitByHand, InsertByHand, files_of_head, start_repository
from benchmarks.harness import Benchmark, Contest, Setting
from benchmarks.workspaces import add_past, contents, make, promote_to_staging, publish_all, ref, write_procedure
from pawl.workspace import Workspace


class Side:
    """The product's side of a contest: it remembers what it wrote last, for the floor to write as much."""

    def __init__(self, workspace: Workspace, act: Callable[[int], tuple[str, ...]]) -> None:
        self._workspace = workspace
        self._act = act
        self._turn = 0
        self.files: tuple[str, ...] = ()

    def __call__(self) -> int:
        self._turn += 1
        self.files = self._act(self._turn)
        return len(self.files)

    def written(self) -> dict[str, bytes]:
        return contents(self._workspace, self.files)


def promoting(workspace: Workspace, turns: int, *, commit: bool) -> Side:
    """Return promotions of a new version each, which run its suite; the versions are published here."""
    add_past(workspace, turns)
    return Side(workspace, lambda turn: promote_to_staging(workspace, ref(f"0.0.{turn}"), commit=commit))


def publishing(workspace: Workspace, *, commit: bool) -> tuple[Side, Callable[[], object]]:
    """Return publications of a new version each, and what writes that version into the work tree before."""
    side = Side(workspace, lambda _: publish_all(workspace, commit=commit))
    versions = (f"1.0.{number}" for number in range(1, 1_000_000))
    return side, lambda: write_procedure(workspace, 0, next(versions))


def _promote(setting: Setting) -> Iterator[Contest]:
    for commit in (True, False):
        workspace = make(_folder(setting, commit=commit), procedures=3)
        side = promoting(workspace, setting.turns, commit=commit)
        yield _contest("promote", workspace, side, lambda: None, commit=commit)


def _publish(setting: Setting) -> Iterator[Contest]:
    for commit in (True, False):
        workspace = make(_folder(setting, commit=commit), procedures=3)
        side, before = publishing(workspace, commit=commit)
        yield _contest("publish", workspace, side, before, commit=commit)


def _contest(name: str, workspace: Workspace, side: Side, before: Callable[[], object], *, commit: bool) -> Contest:
    if not commit:
        floor = InsertByHand(workspace.root / "by-hand.db", side.written)
        return Contest(name=f"{name}, no Git", product=side, floor=floor, agree=int.__eq__, before=before)
    start_repository(workspace.root)
    by_hand = CommitByHand(workspace.root, side.written)

    def agree(made: int, wanted: int) -> bool:
        return made == wanted == files_of_head(workspace.root)

    return Contest(name=f"{name}, Git", product=side, floor=by_hand, agree=agree, before=before)


def _folder(setting: Setting, *, commit: bool) -> Path:
    return setting.folder / ("git" if commit else "files")


PROMOTE = Benchmark(
    about="promote a version: gate, suite, evidence, record, projection, commit",
    floor="git add and git commit of the same files; without Git, one durable SQLite transaction of the same bytes",
    prepare=_promote,
)
PUBLISH = Benchmark(
    about="publish a version: read and check the work tree, frozen copy, record, commit",
    floor="git add and git commit of the same files; without Git, one durable SQLite transaction of the same bytes",
    prepare=_publish,
)
