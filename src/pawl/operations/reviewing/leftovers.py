"""What a change would leave behind: pins whose file or whose tests are gone, and ways back that its suites close."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from pawl.conformance.outcomes import SuiteResult
from pawl.conformance.run import run_suite
from pawl.conformance.suites import Suite, applies
from pawl.errors import PawlError
from pawl.ids import Channel, Digest, Name
from pawl.operations.reviewing.affected import affected_in
from pawl.operations.reviewing.scope import Scope
from pawl.operations.session import Session
from pawl.operations.sources import Source, Sources
from pawl.operations.world import World
from pawl.problems import Problem
from pawl.registry.channels import Pin
from pawl.registry.closure import closure_of

MAX_PINS = 20
"""On how many live versions the suites that changed are tried."""


def leftover_problems(
    session: Session, scope: Scope, sources: Sources, world: World, paths: frozenset[str]
) -> Iterator[Problem]:
    """Yield a warning for each pin that the change takes the file, the tests or the way back from.

    ``paths`` are the files that changed.
    """
    yield from _files_gone(scope, world)
    yield from _tests_gone(scope, sources, world)
    yield from _ways_closing(session, sources, world, paths)


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


def _ways_closing(session: Session, sources: Sources, world: World, paths: frozenset[str]) -> Iterator[Problem]:
    """Yield a warning for each changed suite that covers a live version, as it was published, and fails on it."""
    for source, channels, pin in islice(_live(sources, world, paths), MAX_PINS):
        try:
            result = _try(session, sources, world, source.value, channels[0], pin)
        except PawlError:
            continue  # what is damaged there is told by verify
        wrong = [case.id for case in result.cases if case.outcome in {"failed", "errored"}] if result else []
        if not wrong:
            continue
        where, here = " and ".join(channels), sources.procedures[pin.name].value.version
        message = (
            f"suite {source.value.name} also covers {pin.ref}, which is live on {where}, and fails there ({wrong[0]}): "
            f"once {here} has replaced it, a rollback to it would be refused"
        )
        hint = f"give the suite versions: '>={here}', and keep what held before in a suite with versions: '<{here}'"
        yield Problem(code="way-back-closing", severity="warning", message=message, path=source.path, hint=hint)


def _live(sources: Sources, world: World, paths: frozenset[str]) -> Iterator[tuple[Source[Suite], list[Channel], Pin]]:
    """Yield each changed suite with each live version of what it is about that is not the one in the work tree."""
    changed = (
        source
        for path in sorted(paths)
        if (about := sources.suite_subject(path)) is not None and about in sources.procedures
        for source in sources.suites_about(about)
        if source.path == path
    )
    for source in changed:
        name = source.value.about
        live: dict[Digest, tuple[Pin, list[Channel]]] = {}
        for channel, state in sorted(world.channels.items()):
            pin = state.pins.get(name)
            if pin is not None and pin.digest != sources.procedures[name].value.digest:
                live.setdefault(pin.digest, (pin, []))[1].append(channel)
        for pin, channels in live.values():
            yield source, channels, pin


def _try(
    session: Session, sources: Sources, world: World, suite: Suite, channel: Channel, pin: Pin
) -> SuiteResult | None:
    """Return what a suite comes to on a live version, beside what is pinned with it; ``None`` if it covers it not."""
    workspace, pins = session.workspace, world.channels[channel].pins
    members = {member.name: workspace.procedure(pins[member.name]) for member in closure_of(pin.name, pins).members}
    procedure = members[pin.name]
    if not applies(suite, procedure):
        return None
    python_path = sources.settings.python_path
    code, root = session.run_code, workspace.root
    return run_suite(suite, procedure, code=code, root=root, python_path=python_path, closure=members)
