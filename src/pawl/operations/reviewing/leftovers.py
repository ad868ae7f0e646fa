"""What a change would leave behind: pins whose file is gone, and pins whose tests are gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pawl.ids import Name
from pawl.operations.reviewing.affected import affected_in
from pawl.operations.reviewing.scope import Scope
from pawl.operations.sources import Sources
from pawl.operations.world import World
from pawl.problems import Problem


def leftover_problems(scope: Scope, sources: Sources, world: World) -> Iterator[Problem]:
    """Yield a warning for each pin that the change takes the file or the tests from."""
    yield from _files_gone(scope, world)
    yield from _tests_gone(scope, sources, world)


def _files_gone(scope: Scope, world: World) -> Iterator[Problem]:
    users = affected_in(world)
    for name, change in sorted(scope.changed.items()):
        if change.new is not None:
            continue
        for row in users.pinned(name):
            used = [user["ref"] for user in users.used_by(name, None) if user["channel"] == row["channel"]]
            by = f", where {', '.join(used[:5])} requires it" if used else ""
            message = f"{name} is gone here and stays pinned on {row['channel']} at {row['version']}{by}"
            hint = f'to take it off: pawl remove {name} --channel {row["channel"]} --reason "..."'
            yield Problem(
                code="file-gone", severity="warning", message=message, path=f"procedures/{name}.yaml", hint=hint
            )


def _tests_gone(scope: Scope, sources: Sources, world: World) -> Iterator[Problem]:
    """Fewer suites or cases than a pin was let in by: its next promotion is refused, unless that is waived."""
    for name in sorted(_touched(scope, sources)):
        source = sources.procedures[name]
        suites = sources.suites_of(source.value)
        cases = sum(len(suite.cases) for suite in suites)
        for channel, state in sorted(world.channels.items()):
            pin = state.pins.get(name)
            if pin is None or (len(suites) >= len(pin.tests) and cases >= sum(pin.tests.values())):
                continue
            message = (
                f"{name} has {len(suites)} suites with {cases} cases; what is pinned on {channel} came in by "
                f"{len(pin.tests)} with {sum(pin.tests.values())}, so the next promotion is refused"
            )
            hint = "bring the missing suites or cases back, under whatever name"
            yield Problem(code="fewer-tests", severity="warning", message=message, path=source.path, hint=hint)


def _touched(scope: Scope, sources: Sources) -> Iterable[Name]:
    return scope.tested | (scope.untested & sources.procedures.keys())
