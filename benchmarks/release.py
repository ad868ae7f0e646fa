"""Publishing and promoting, with and without Git."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.floors import CommitByHand, InsertByHand, files_of_head, read_and_compile, start_repository
from benchmarks.harness import FLOOR, Benchmark, Contest, Rival, Setting
from benchmarks.sides import calling
from benchmarks.workspaces import (
    NAME,
    add_past,
    contents,
    make,
    promote_to_staging,
    publish_all,
    ref,
    write_procedure,
)
from pawl.workspace import Workspace

MOVING_GOALS: Mapping[bool, Mapping[str, float]] = {
    True: {FLOOR: 1.5, "mlflow": 0.6},
    False: {FLOOR: 8, "mlflow": 0.6},
}
"""Of promote and rollback, with Git and without."""


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
    rivals = aliases(setting)
    for commit in (True, False):
        workspace = make(_folder(setting, commit=commit), procedures=3)
        side = promoting(workspace, setting.turns, commit=commit)
        yield contest("promote", workspace, side, commit=commit, rivals=rivals, goals=MOVING_GOALS[commit])


def aliases(setting: Setting) -> tuple[Rival, ...]:
    """Return MLflow moving an alias, which checks nothing and commits nothing to Git."""
    side = setting.peers.work("mlflow", "alias")
    return (Rival(peer="mlflow", side=side, agree=lambda _, version: version in {1, 2}),) if side else ()


def _publish(setting: Setting) -> Iterator[Contest]:
    side = setting.peers.work("mlflow", "register")
    rivals = (Rival(peer="mlflow", side=side, agree=lambda _, version: version > 0),) if side else ()
    workspace = make(_folder(setting, commit=True), procedures=3)
    product, before = publishing(workspace, commit=True)
    yield contest("publish", workspace, product, commit=True, before=before, rivals=rivals)
    workspace = make(_folder(setting, commit=False), procedures=3)
    product, before = publishing(workspace, commit=False)
    insert = InsertByHand(workspace.root / "by-hand.db", product.written)

    def floor() -> int:
        read_and_compile(workspace.procedure_file(NAME))
        return insert()

    yield Contest(
        name="publish, no Git",
        product=calling(product),
        floor=calling(floor),
        agree=int.__eq__,
        before=before,
        rivals=rivals,
        goals={FLOOR: 2.5, "mlflow": 1 / 14},
    )


def contest(
    name: str,
    workspace: Workspace,
    side: Side,
    *,
    commit: bool,
    rivals: Sequence[Rival] = (),
    goals: Mapping[str, float] | None = None,
    before: Callable[[], object] = lambda: None,
) -> Contest:
    """Return a contest against a commit of as many bytes and files, or without Git against one durable insert."""
    agree: Callable[[int, int], bool] = int.__eq__
    floor: Callable[[], int] = InsertByHand(workspace.root / "by-hand.db", side.written)
    if commit:
        start_repository(workspace.root)
        floor = CommitByHand(workspace.root, side.written)

        def agree(made: int, wanted: int) -> bool:
            return made == wanted == files_of_head(workspace.root)

    return Contest(
        name=f"{name}, {'Git' if commit else 'no Git'}",
        product=calling(side),
        floor=calling(floor),
        agree=agree,
        before=before,
        rivals=rivals,
        goals=goals or {},
    )


def _folder(setting: Setting, *, commit: bool) -> Path:
    return setting.folder / ("git" if commit else "files")


PROMOTE = Benchmark(
    about="promote a version: gate, suite, evidence, compare-and-set, record, projection, commit",
    floor="git add and git commit of the same files; without Git, one durable SQLite transaction of the same bytes",
    prepare=_promote,
)
PUBLISH = Benchmark(
    about="publish a version: read and check the work tree, frozen copy, record, commit",
    floor="git add and git commit of the same files; without Git, libyaml's events of the file, its schema compiled "
    "and one durable SQLite transaction of the same bytes",
    prepare=_publish,
)
