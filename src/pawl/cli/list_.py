"""pawl list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from pawl.cli.command import pawl_command
from pawl.cli.output import table
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    found = data.get("procedures", [])
    rows = [
        (
            row["name"],
            row["kind"],
            row["newest"],
            row["versions"],
            ", ".join(f"{channel} {version}" for channel, version in row["pins"].items()),
            *((row["owner"], row["summary"]) if "owner" in row else ()),
        )
        for row in found
    ]
    more = ("owner", "summary") if found and "owner" in found[0] else ()
    yield from table(("name", "kind", "newest", "versions", "pinned", *more), rows)
    if not rows:
        yield "nothing published fits"


def _label(_ctx: click.Context, _param: click.Parameter, given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise click.BadParameter(f"{text!r} is not KEY=VALUE")
        pairs.append((key, value))
    return tuple(pairs)


@pawl_command("list", lines=lines)
@click.argument("words", nargs=-1)
@click.option("--kind", help="Only procedures of this kind.")
@click.option(
    "--search",
    "text",
    metavar="TEXT",
    default="",
    help="Only those whose name, kind, summary, owner or labels hold every word of TEXT, in any case.",
)
@click.option("--owner", help="Only what this owner answers for.")
@click.option(
    "--label",
    "labels",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_label,
    help="Only what has this label; repeatable.",
)
def command(
    session: Session,
    words: Sequence[str],
    kind: str | None,
    text: str,
    owner: str | None,
    labels: tuple[tuple[str, str], ...],
) -> Report:
    """List published procedures whose names hold all of WORDS.

    What is said of a procedure is what its newest version says.
    """
    from pawl.operations.observing.listing import Wanted, list_published  # noqa: PLC0415 - not for shells that complete

    return list_published(session, Wanted(names=words, kind=kind, text=text, owner=owner, labels=labels))
