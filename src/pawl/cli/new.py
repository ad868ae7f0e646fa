"""pawl new."""

from __future__ import annotations

import click

from pawl.cli.command import pawl_command
from pawl.cli.init import file_lines
from pawl.operations.creating import new
from pawl.operations.session import Report, Session

KINDS = ("prompt", "tool", "workflow", "suite", "policy")


@pawl_command("new", lines=file_lines)
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
def command(session: Session, kind: str, name: str) -> Report:
    """Write a file to start from. Nothing that exists is overwritten.

    A suite is made from the schema of the procedure NAME: a minimal call is accepted, and refused without each
    required argument. NAME may hold * to make a suite for every procedure that has none.
    """
    return new(session.workspace, kind, name)
