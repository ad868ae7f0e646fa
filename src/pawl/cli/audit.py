"""pawl audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.command import CHANNEL, no_code_option, pawl_command
from pawl.cli.output import table
from pawl.cli.targets import with_refs
from pawl.ids import Channel
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    for row in data.get("channels", []):
        yield f"{row['channel']}: serial {row['serial']}, policy {row['policy']}, {row['pins']} pins"
        along = {(item["name"], item["version"]): item["with"] for item in row["together"]}
        ways = [
            (name, ", ".join(with_refs(version, along.get((name, version), ())) for version in versions) or "none")
            for name, versions in row["ways_back"].items()
        ]
        yield from table(("name", "could go back to"), ways)
        overridden = [
            (item["ref"], item["rule"], item["waiver"], item["since"] or "kept since it is live")
            for item in row["overridden"]
        ]
        yield from table(("live by a waiver", "rule", "waiver", "since serial"), overridden)


@pawl_command("audit", lines=lines, identity=True)
@click.option("--channel", type=CHANNEL, help="One channel; all without it.")
@click.option(
    "--require-way-back",
    type=click.IntRange(min=1),
    is_flag=False,
    flag_value=1,
    metavar="[N]",
    help="Make it a finding where a pin has fewer than N (1) versions to go back to.",
)
@click.option("--except-first", is_flag=True, help="With it, no finding where no other version of a pin was ever live.")
@no_code_option
def command(session: Session, channel: Channel | None, require_way_back: int | None, except_first: bool) -> Report:
    """Hold what is live against today's policy: 3 where it breaks a rule.

    Warns of each pin without a way back.
    """
    from pawl.operations.observing.auditing import audit  # noqa: PLC0415 - not for shells that complete

    return audit(session, channel, require_way_back, except_first=except_first)
