"""Growth: the same operation in a small and in a large workspace. Here the floor is the small one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pawl
from benchmarks.harness import FLOOR, Benchmark, Contest, Setting
from benchmarks.release import publishing
from benchmarks.sides import calling
from benchmarks.workspaces import NAME, STAGING, add_past, made_live, promote_to_staging, ref

_PEER_GROWTH = (10, 1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operations:
    resolve: Callable[[], str]
    use: Callable[[], str]
    publish: Callable[[], int]
    promote: Callable[[], int]
    before_publish: Callable[[], object]


def _contests(setting: Setting) -> Iterator[Contest]:
    turns = setting.turns
    few, many = setting.pick(full=(max(10, turns), 10_000), quick=(25, 300), tiny=(turns, turns + 2))
    small = _of(setting, procedures=3, versions=few)
    yield from _compare(f"{few} -> {many} versions", small, _of(setting, procedures=3, versions=many))
    few, many = setting.pick(full=(100, 10_000), quick=(10, 200), tiny=(4, 6))
    small = _of(setting, procedures=few, versions=turns)
    yield from _compare(f"{few} -> {many} procedures", small, _of(setting, procedures=many, versions=turns))
    yield from _peer(setting)


def _of(setting: Setting, *, procedures: int, versions: int) -> _Operations:
    """Return the operations on a workspace with everything pinned, and a past of ``versions`` of one prompt."""
    workspace = made_live(setting.folder / f"{procedures}-procedures-{versions}-versions", procedures=procedures)
    add_past(workspace, versions)
    numbers = iter(range(1, versions + 1))
    publish, before = publishing(workspace, commit=False)
    channel = pawl.open(STAGING, workspace=workspace.root)
    return _Operations(
        resolve=lambda: pawl.open(STAGING, workspace=workspace.root).resolve(NAME).version,
        use=lambda: _use(channel),
        publish=publish,
        promote=lambda: len(promote_to_staging(workspace, ref(f"0.0.{next(numbers)}"))),
        before_publish=before,
    )


def _use(channel: pawl.ChannelHandle) -> str:
    with channel.run(agent="shop") as run:
        messages = run.prompt(NAME, order_id="A1", amount=20)
        run.end("done")
    return messages[-1]["content"]


def _compare(what: str, small: _Operations, large: _Operations) -> Iterator[Contest]:
    def before() -> None:
        small.before_publish()
        large.before_publish()

    yield _contest(f"open and resolve, {what}", large.resolve, small.resolve, goal=1.2, calls=2)
    yield _contest(f"one prompt in a run, {what}", large.use, small.use, calls=2)
    yield _contest(f"promote, {what}", large.promote, small.promote, goal=1.5)
    yield _contest(f"publish, {what}", large.publish, small.publish, goal=1.5, before=before)


def _contest(
    name: str,
    large: Callable[[], Any],
    small: Callable[[], Any],
    *,
    goal: float | None = None,
    calls: int = 1,
    before: Callable[[], object] = lambda: None,
) -> Contest:
    return Contest(
        name=name,
        product=calling(large),
        floor=calling(small),
        agree=lambda made, wanted: bool(made == wanted),
        goals={FLOOR: goal} if goal else {},
        calls=calls,
        before=before,
    )


def _peer(setting: Setting) -> Iterator[Contest]:
    """Yield how MLflow grows, beside itself alone: for comparison, not as a goal."""
    few, many = _PEER_GROWTH
    for name, operation, more in (
        ("MLflow, load a prompt", "load", {"cached": False}),
        ("MLflow, register a version", "register", {}),
        ("MLflow, move an alias", "alias", {}),
    ):
        small, large = (setting.peers.work("mlflow", operation, versions=count, **more) for count in (few, many))
        if small and large:
            yield Contest(
                name=f"{name}, {few} -> {many} versions",
                product=large,
                floor=small,
                agree=lambda made, wanted: type(made) is type(wanted),
                calls=3,
            )


GROWTH = Benchmark(
    about="resolve, run, promote and publish in a large workspace",
    floor="the same in a small one: the ratio is what growth costs",
    prepare=_contests,
)
