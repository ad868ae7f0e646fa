"""pawl test."""

from __future__ import annotations

import click

from pawl.cli.candidates import names_and_refs
from pawl.cli.check_lines import suite_lines
from pawl.cli.command import no_code_option, offering, pawl_command
from pawl.errors import UsageError
from pawl.ids import parse_ref
from pawl.operations.session import Report, Session


@pawl_command("test", lines=suite_lines, several_outputs=True)
@click.argument(
    "wanted", metavar="[SUITE|NAME[@VERSION]]", required=False, shell_complete=offering(lambda _: names_and_refs)
)
@click.option("--case", "cases", multiple=True, help="Run only the case of this id; several times for more.")
@no_code_option
def command(session: Session, wanted: str | None, cases: tuple[str, ...]) -> Report:
    """Run conformance suites: all, one suite, or those about NAME or a published NAME@VERSION.

    Nothing is stored. What runs no case never passes.
    """
    from pawl.operations.reviewing.testing import test  # noqa: PLC0415 - not for shells that complete

    if wanted is not None and "@" in wanted:
        try:
            parse_ref(wanted)
        except ValueError as error:
            raise UsageError(str(error)) from None
    return test(session, wanted, cases)
