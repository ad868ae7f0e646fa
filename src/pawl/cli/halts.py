"""pawl halt and resume."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import click

from pawl.cli.command import NAME_OR_REF, channel_option, pawl_command, reason_option
from pawl.cli.intervention import intervention_lines
from pawl.ids import Channel, Name, Version
from pawl.operations.session import Report, Session


def _halt(session: Session, name: Name, version: Version | None, channel: Channel, reason: str) -> Report:
    from pawl.operations.governing.interventions import halt  # noqa: PLC0415 - not for shells that complete

    return halt(session, name, version, channel, reason)


def _resume(session: Session, name: Name, version: Version | None, channel: Channel, reason: str) -> Report:
    from pawl.operations.governing.interventions import resume  # noqa: PLC0415 - not for shells that complete

    return resume(session, name, version, channel, reason)


def _command(
    name: str, about: str, act: Callable[[Session, Name, Version | None, Channel, str], Report]
) -> click.Command:
    def function(session: Session, asked: tuple[Name, Version | None], channel: Channel, reason: str) -> Report:
        return act(session, *asked, channel, reason)

    function.__doc__ = about
    with_options = channel_option(reason_option(function))
    with_arguments = click.argument("asked", metavar="NAME[@VERSION]", type=NAME_OR_REF)(with_options)
    return pawl_command(name, lines=intervention_lines, writes=True)(with_arguments)


commands: Mapping[str, click.Command] = MappingProxyType(
    {
        "halt": _command(
            "halt",
            "Stop serving a procedure on a channel, or one version of it, in open runs too, until resume.",
            _halt,
        ),
        "resume": _command("resume", "Serve a halted procedure again.", _resume),
    }
)
