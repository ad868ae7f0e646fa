"""pawl check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.command import no_code_option, pawl_command
from pawl.cli.output import table
from pawl.operations.checking import check
from pawl.operations.session import Report, Session


def suite_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of suites and their tally."""
    if "suites" not in data:
        return
    rows = [
        (suite["suite"], suite["about"], suite["outcome"], f"{suite['tally']['passed']}/{suite['tally']['total']}")
        for suite in data["suites"]
    ]
    yield from table(("suite", "about", "outcome", "passed"), rows)
    yield "cases: " + ", ".join(f"{count} {outcome}" for outcome, count in data["tally"].items())


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "files" in data:
        yield f"{data['files']} files, {data['read']} read; {data['procedures']} procedures"
    if data.get("new_versions"):
        yield f"to be published: {', '.join(data['new_versions'])}"
    yield from suite_lines(data)


@pawl_command("check", lines=lines, identity=True, several_outputs=True)
@click.option("--base", metavar="REF", help="Test only what differs from this Git revision, and what depends on it.")
@click.option("--all", "everything", is_flag=True, help="Run every suite, also with --base.")
@no_code_option
def command(session: Session, base: str | None, everything: bool) -> Report:
    """Check everything that people wrote: read, validate, lint, versions, suites, policy.

    All faults of all files come in one run. Stores nothing.
    """
    return check(session, base, everything=everything)
