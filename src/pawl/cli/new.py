"""pawl new."""

from __future__ import annotations

import click

from pawl.cli.candidates import Candidates, written_names
from pawl.cli.command import offering, pawl_command
from pawl.cli.init import file_lines
from pawl.operations.session import Report, Session

KINDS = ("prompt", "tool", "workflow", "suite", "policy")


def _known(ctx: click.Context) -> Candidates | None:
    return written_names if ctx.params.get("kind") == "suite" else None


@pawl_command("new", lines=file_lines)
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name", shell_complete=offering(_known))
def command(session: Session, kind: str, name: str) -> Report:
    """Write a file to start from. Nothing that exists is overwritten.

    A suite is made from the schema of the procedure NAME: a minimal call is accepted, and refused without each
    required argument. NAME may hold * to make a suite for every procedure that has none.
    """
    from pawl.operations.authoring.creating import new  # noqa: PLC0415 - not for shells that complete

    return new(session.workspace, kind, name)
