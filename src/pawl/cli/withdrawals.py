"""pawl deprecate, yank, revoke and restore: one grade of withdrawal each, and the way back from the first two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import click

from pawl.cli.command import REF, pawl_command, reason_option
from pawl.cli.intervention import intervention_lines
from pawl.ids import Ref
from pawl.operations.session import Report, Session
from pawl.registry.catalog import WithdrawalLevel


def _command(name: str, about: str, act: Callable[[Session, Ref, str], Report]) -> click.Command:
    def function(session: Session, ref: Ref, reason: str) -> Report:
        return act(session, ref, reason)

    function.__doc__ = about
    with_arguments = click.argument("ref", type=REF)(reason_option(function))
    return pawl_command(name, lines=intervention_lines, writes=True)(with_arguments)


def _withdrawing(level: WithdrawalLevel) -> Callable[[Session, Ref, str], Report]:
    def act(session: Session, ref: Ref, reason: str) -> Report:
        from pawl.operations.governing.interventions import withdraw  # noqa: PLC0415 - not for shells that complete

        return withdraw(session, ref, level, reason)

    return act


def _restore(session: Session, ref: Ref, reason: str) -> Report:
    from pawl.operations.governing.interventions import restore  # noqa: PLC0415 - not for shells that complete

    return restore(session, ref, reason)


commands: Mapping[str, click.Command] = MappingProxyType(
    {
        "deprecate": _command(
            "deprecate", "Warn of a version wherever it is served or promoted.", _withdrawing("deprecated")
        ),
        "yank": _command(
            "yank",
            "Allow no new pins of a version; where it is pinned it works with a warning.",
            _withdrawing("yanked"),
        ),
        "revoke": _command(
            "revoke", "Refuse a version everywhere, even where it is pinned. This is final.", _withdrawing("revoked")
        ),
        "restore": _command(
            "restore", "Take a deprecation or a yank back. A revoked version is never restored.", _restore
        ),
    }
)
