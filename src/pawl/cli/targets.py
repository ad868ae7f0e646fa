"""pawl targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from pawl.cli.command import NAME, channel_option, no_code_option, pawl_command
from pawl.cli.output import table
from pawl.ids import Channel, Name
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "targets" not in data:
        return
    yield f"{data['name']} on {data['channel']}: {data['pinned'] or 'not pinned'} (serial {data['serial']})"
    rows = [
        (with_refs(row["version"], row["with"]), "yes" if row["allowed"] else "no", evidence_age(row), why_not(row))
        for row in data["targets"]
    ]
    yield from table(("version", "allowed", "evidence", "why not"), rows)
    yield from (row["command"] for row in data["targets"] if row["allowed"] and row["with"])
    if not rows:
        yield "there is no earlier version to go back to"


def with_refs(version: str, refs: Sequence[str]) -> str:
    """Return a version with what moves along with it."""
    return f"{version} with {' and '.join(refs)}" if refs else version


def evidence_age(row: Mapping[str, Any]) -> str:
    """Return how old the oldest result is that a rollback to a target would rest on, and whether a suite must run."""
    ages = [item["age_seconds"] for item in row["evidence"] if item["stored"]]
    if row["fresh"] is None:
        return ""
    if not row["fresh"]:
        return "suites must run"
    return f"{age_words(max(ages))} old"


def age_words(seconds: int) -> str:
    """Return an age in its largest unit."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{max(seconds, 0)} s"


def why_not(row: Mapping[str, Any]) -> str:
    """Return what speaks against a target."""
    return "; ".join(reason["message"] for reason in row["reasons"])


@pawl_command("targets", lines=lines, identity=True)
@click.argument("name", type=NAME)
@channel_option
@no_code_option
def command(session: Session, name: Name, channel: Channel) -> Report:
    """List every version that was live on a channel before, last live first, with its verdict as of now."""
    from pawl.operations.releasing.targets import targets  # noqa: PLC0415 - not for shells that complete

    return targets(session, name, channel)
