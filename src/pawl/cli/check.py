"""pawl check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.check_lines import check_lines
from pawl.cli.command import finish, guarded, no_code_option, pawl_command
from pawl.operations.session import Report, Session


def _explain(ctx: click.Context, _param: click.Parameter, code: str | None) -> None:
    if code is None:
        return
    from pawl.operations.reviewing.explaining import explained  # noqa: PLC0415 - the texts are read where they are shown

    finish("check explain", guarded(lambda: explained(code)), ctx.params["outputs"], _explanation)


def _codes(_ctx: click.Context, _param: click.Parameter, beginning: str) -> list[str]:
    from pawl.lint.codes import CODES  # noqa: PLC0415 - as above

    return sorted(code for code in CODES if code.startswith(beginning.casefold()))


def _explanation(data: Mapping[str, Any]) -> Iterator[str]:
    if "explanation" in data:
        yield data["explanation"]["text"].rstrip("\n")


@pawl_command("check", lines=check_lines, identity=True, several_outputs=True)
@click.option("--base", metavar="REF", help="Test only what differs from this Git revision, and what depends on it.")
@click.option("--all", "everything", is_flag=True, help="Run every suite, also with --base.")
@click.option(
    "--explain",
    metavar="CODE",
    callback=_explain,
    expose_value=False,
    shell_complete=_codes,
    help="Say what a problem's code means, and end.",
)
@no_code_option
def command(session: Session, base: str | None, everything: bool) -> Report:
    """Check everything that people wrote: read, validate, lint, versions, suites, policy.

    All faults of all files come in one run. Stores nothing.
    """
    from pawl.operations.reviewing.checking import check  # noqa: PLC0415 - not for shells that complete

    return check(session, base, everything=everything)
