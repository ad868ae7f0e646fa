"""pawl fix-forward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.command import CHANNEL, REF, pawl_command
from pawl.cli.output import clean
from pawl.ids import Channel, Ref
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "to" not in data:
        return
    yield f"{data['path']}: the content of {data['name']}@{data['from']} as {data['to']}"
    if data.get("kept"):
        yield f"what was there is kept in {data['kept']}"
    for mark in data["marks"]:
        place = f"{data['path']}:{mark['line']}" if mark["line"] else data["path"]
        yield clean(f"  {place}: {mark['rule']} (policy {mark['policy']}): {mark['message']} ({mark['differs']})")
    if data["next"]:
        yield "next:"
        yield f"  mend {data['path']}" + (" where it is marked, and take the marks out" if data["marks"] else "")
        yield from (f"  {command}" for command in data["next"])


@pawl_command("fix-forward", lines=lines, identity=True)
@click.argument("ref", metavar="NAME@OLD", type=REF)
@click.option("--channel", type=CHANNEL, help="Ask the rules on this channel; without it, on every adopted one.")
@click.option("--replace", "take_place", is_flag=True, help="Also in place of unpublished changes; a copy is kept.")
def command(session: Session, ref: Ref, channel: Channel | None, take_place: bool) -> Report:
    """Open a new version with the content of an old one, marked where today's rules object to it.

    It writes procedures/NAME.yaml in the work tree, for a pull request; nothing is published or committed.
    """
    from pawl.operations.authoring.fixing import fix_forward  # noqa: PLC0415 - not for shells that complete

    return fix_forward(session, ref, channel, take_place=take_place)
