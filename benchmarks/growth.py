"""Growth: the same operation in a small and in a large workspace. Here the floor is the small one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pawl
from benchmarks.harness import Benchmark, Contest, Setting
from benchmarks.release import promoting, publishing
from benchmarks.workspaces import NAME, STAGING, make, name_of, promote_to_staging, publish_all


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operations:
    resolve: Callable[[], str]
    use: Callable[[], str]
    publish: Callable[[], int]
    promote: Callable[[], int]
    before_publish: Callable[[], object]


def _contests(setting: Setting) -> Iterator[Contest]:
    few, many = (setting.turns, setting.turns + 2) if setting.tiny else (max(10, setting.turns), 1_000)
    small = _of(setting, procedures=3, versions=few)
    large = _of(setting, procedures=3, versions=many)
    yield from _compare(f"{few} -> {many} versions", small, large)
    few, many = (4, 6) if setting.tiny else (100, 1_000)
    small = _of(setting, procedures=few, versions=setting.turns)
    large = _of(setting, procedures=many, versions=setting.turns)
    yield from _compare(f"{few} -> {many} procedures", small, large)


def _of(setting: Setting, *, procedures: int, versions: int) -> _Operations:
    """Return the operations on a workspace with everything pinned, and a past of ``versions`` of one prompt."""
    workspace = make(setting.folder / f"{procedures}-procedures-{versions}-versions", procedures=procedures)
    publish_all(workspace)
    promote_to_staging(workspace, *(f"{name_of(number)}@1.0.0" for number in range(procedures)))
    promote = promoting(workspace, versions, commit=False)
    publish, before = publishing(workspace, commit=False)
    channel = pawl.open(STAGING, workspace=workspace.root)
    return _Operations(
        resolve=lambda: pawl.open(STAGING, workspace=workspace.root).resolve(NAME).version,
        use=lambda: _use(channel),
        publish=publish,
        promote=promote,
        before_publish=before,
    )


def _use(channel: pawl.ChannelHandle) -> str:
    with channel.run(agent="shop") as run:
        messages = run.prompt(NAME, order_id="A1", amount=20)
        run.end("done")
    return messages[-1]["content"]


def _compare(what: str, small: _Operations, large: _Operations) -> Iterator[Contest]:
    yield Contest(
        name=f"open and resolve, {what}", product=large.resolve, floor=small.resolve, agree=str.__eq__, calls=2
    )
    yield Contest(name=f"one prompt in a run, {what}", product=large.use, floor=small.use, agree=str.__eq__, calls=2)
    yield Contest(name=f"promote, {what}", product=large.promote, floor=small.promote, agree=int.__eq__)

    def before() -> None:
        small.before_publish()
        large.before_publish()

    yield Contest(name=f"publish, {what}", product=large.publish, floor=small.publish, agree=int.__eq__, before=before)


GROWTH = Benchmark(
    about="resolve, run, promote and publish in a large workspace",
    floor="the same in a small one: the ratio is what growth costs",
    prepare=_contests,
)
