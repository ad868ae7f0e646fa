"""pawl freeze and unfreeze."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

import click

from pawl.cli.command import CHANNEL, pawl_command, reason_option
from pawl.cli.ends import end_options, needed_end
from pawl.cli.intervention import recorded_line
from pawl.cli.words import words_of
from pawl.ids import Channel, Serial
from pawl.operations.session import Report, Session
from pawl.policy.durations import Duration
from pawl.registry.channels_grants import FREEZABLE


def _freeze_lines(data: Mapping[str, Any]) -> Iterator[str]:
    found = data.get("freeze")
    if found is not None:
        spares = found["spares"]
        labels = [f"{key}={value}" for key, value in spares["labels"].items()]
        spared = ", ".join((*spares["roles"], *spares["names"], *labels)) or "nothing"
        actions = " and ".join(found["actions"])
        yield f"{data['channel']} stands still for {actions} until {found['until']}, sparing {spared}"
    yield from recorded_line(data)


def _unfreeze_lines(data: Mapping[str, Any]) -> Iterator[str]:
    if data.get("freezes"):
        yield f"lifted on {data['channel']}: {', '.join(map(str, data['freezes']))}"
    yield from recorded_line(data)


def _labels(values: Sequence[str]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    if not all(key and equals and label for key, equals, label in pairs):
        raise click.UsageError("--spare-label is written KEY=VALUE")
    return {key: label for key, _, label in pairs}


@pawl_command("freeze", lines=_freeze_lines, writes=True)
@click.argument("channel", type=CHANNEL)
@reason_option
@end_options("When it ends; there is no freeze without an end.")
@click.option(
    "--actions",
    multiple=True,
    default=("promote",),
    callback=lambda _c, _p, values: words_of(values, FREEZABLE),
    help=f"What it holds: {', '.join(FREEZABLE)}, several with commas; promote where nothing is said.",
)
@click.option("--spare-role", "roles", multiple=True, help="Whom it does not hold.")
@click.option("--spare-name", "names", multiple=True, help="Procedures that it does not hold; * is any text.")
@click.option(
    "--spare-label",
    "labels",
    multiple=True,
    callback=lambda _c, _p, values: _labels(values),
    help="KEY=VALUE; procedures with all of these are not held.",
)
def _freeze(
    session: Session,
    channel: Channel,
    reason: str,
    until: datetime | None,
    length: Duration | None,
    actions: Sequence[str],
    roles: Sequence[str],
    names: Sequence[str],
    labels: Mapping[str, str],
) -> Report:
    """Let a channel stand still until an end: no promotions, and no rollbacks if they are named.

    What is live goes on being served. Leaving what must not be live is never held up.
    """
    from pawl.operations.governing.freezing import Wanted, freeze  # noqa: PLC0415 - not for shells that complete

    end = needed_end(session, until, length)
    wanted = Wanted(until=end, actions=actions, roles=roles, names=names, labels=labels)
    return freeze(session, channel, reason, wanted)


@pawl_command("unfreeze", lines=_unfreeze_lines, writes=True)
@click.argument("channel", type=CHANNEL)
@click.argument("serial", type=click.IntRange(min=1), required=False)
@reason_option
def _unfreeze(session: Session, channel: Channel, serial: int | None, reason: str) -> Report:
    """Lift the freeze of record SERIAL, or every freeze that somebody set. Freezes by a rule are lifted by policy."""
    from pawl.operations.governing.freezing import unfreeze  # noqa: PLC0415 - not for shells that complete

    return unfreeze(session, channel, Serial(serial) if serial is not None else None, reason)


commands: Mapping[str, click.Command] = MappingProxyType({"freeze": _freeze, "unfreeze": _unfreeze})
