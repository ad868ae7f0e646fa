"""Options that say when something ends: a moment, or a length of time from now."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click

from pawl.cli.command import MOMENT, Parsed
from pawl.operations.session import Session
from pawl.policy.durations import Duration, parse_duration

LENGTH = Parsed("LENGTH", parse_duration)
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def end_options(about: str) -> Callable[[Decorated], Decorated]:
    """Add --until and --for."""

    def decorate(function: Decorated) -> Decorated:
        with_for = click.option(
            "--for", "length", type=LENGTH, help="The same as a length of time, such as P7D or PT8H."
        )
        return click.option("--until", type=MOMENT, help=about)(with_for(function))

    return decorate


def end_of(session: Session, until: datetime | None, length: Duration | None) -> datetime | None:
    """Return the end that was given in one way or the other, if any."""
    if until is not None and length is not None:
        raise click.UsageError("--until and --for say the same thing: give one of them")
    return session.now + length.exact if length is not None else until


def needed_end(session: Session, until: datetime | None, length: Duration | None) -> datetime:
    """Return the end that was given; without one is a usage error."""
    end = end_of(session, until, length)
    if end is None:
        raise click.UsageError("an end is needed: --until TIME, or --for LENGTH such as P7D")
    return end
