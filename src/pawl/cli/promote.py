"""pawl promote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from pawl.cli.command import CHANNEL, REF, dry_run_option, no_code_option, pawl_command, reason_option
from pawl.cli.output import table
from pawl.ids import Channel, Ref
from pawl.operations.session import Report, Session

with_requirements_option = click.option(
    "--with-requirements", is_flag=True, help="Move what is needed for a consistent set along."
)


def release_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a release moves, what was checked, and in a dry run what would be written."""
    if "channel" not in data:
        return
    rows = [(row["name"], row["from"] or "-", row["to"] or "-") for row in data.get("moves", [])]
    verdict = data.get("verdict")
    allowed = verdict is not None and verdict["allowed"]
    yield from table(("name", f"on {data['channel']}", "to" if allowed else "wanted"), rows)
    if verdict is not None and allowed:
        checks: dict[str, int] = {}
        for finding in verdict["findings"]:
            if finding["status"] == "passed":
                checks[finding["check"]] = checks.get(finding["check"], 0) + 1
        if checks:
            counts = ", ".join(f"{count} {check}" for check, count in checks.items())
            yield f"passed on {data['channel']} under policy {data['policy']}: {counts}"
    if data.get("dry_run"):
        yield from (f"would {line}" for line in data.get("plan", []))
    elif data.get("serial"):
        yield f"{'serial' if allowed else 'recorded as serial'} {data['serial']} on {data['channel']}"


@pawl_command("promote", lines=release_lines, writes=True)
@click.argument("refs", type=REF, nargs=-1, required=True)
@click.option("--to", "channel", type=CHANNEL, required=True, help="The channel; there is no default.")
@reason_option
@dry_run_option
@with_requirements_option
@no_code_option
def command(
    session: Session, refs: Sequence[Ref], channel: Channel, reason: str, dry_run: bool, with_requirements: bool
) -> Report:
    """Gate exact versions (NAME@VERSION) and pin them on a channel as one release, all or none.

    Suites without valid evidence are run, and their evidence is stored with the release. A refusal is recorded too.
    """
    from pawl.operations.releasing.release import Options, promote  # noqa: PLC0415 - not for shells that complete

    options = Options(reason=reason, dry_run=dry_run, with_requirements=with_requirements)
    return promote(session, refs, channel, options)
