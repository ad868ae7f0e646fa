"""pawl status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from pawl.cli.command import CHANNEL, pawl_command
from pawl.cli.output import table
from pawl.cli.targets import evidence_age, with_refs
from pawl.ids import Channel
from pawl.operations.session import Report, Session


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    if "channels" not in data:
        return
    yield f"policy {data['policy'] or 'none'}, {data['published']} published versions"
    for row in data["channels"]:
        after = f", after {row['after']}" if row["after"] else ""
        yield f"{row['channel']}: serial {row['serial']}{after}, {len(row['pins'])} pins"
        pins = [
            (
                pin["name"],
                pin["version"],
                pin["kind"],
                pin["since"],
                _ways(pin),
                " ".join(filter(None, ["halted" if pin["halted"] else "", pin["withdrawn"] or ""])),
            )
            for pin in row["pins"]
        ]
        yield from table(("name", "version", "kind", "since", "could go back to", ""), pins)
        held = [
            (item["ref"], item["cause"], item["by"], item["at"], item["reason"])
            for item in row["rejections"]
            if item["holds"]
        ]
        yield from table(("kept off", "cause", "by", "at", "reason"), held)
        yield from _halts(row)
        yield from _waivers(row)
        for counts, title in ((True, "approved"), (False, "approved, not counted")):
            approvals = [
                (item["ref"], person(item["by"]), item["until"], item["policy"], item["why"] or "")
                for item in row["approvals"]
                if item["counts"] == counts
            ]
            yield from table((title, "by", "until", "policy", ""), approvals)


def _ways(pin: Mapping[str, Any]) -> str:
    """Return the versions that a pin could go back to, each with the age of its evidence; ``?`` where suites tell."""
    found = []
    for row in pin["ways_back"]:
        if row["verdict"] == "unknown":
            found.append(f"{with_refs(row['version'], row['with'])}?")
        elif row["allowed"]:
            found.append(f"{with_refs(row['version'], row['with'])} ({evidence_age(row)})")
    more = f" and {pin['more_targets']} more to ask" if pin["more_targets"] else ""
    return (", ".join(found) or "none") + more


def _halts(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield how far each halt has got among the open runs that have what it stops."""
    for halt in row["halts"]:
        knows, waiting = halt["runs"]["knows"], halt["runs"]["waiting"]
        what = f"{halt['name']}@{halt['version']}" if halt["version"] else halt["name"]
        counts = f"open runs that passed a checkpoint since: {len(knows)}, that did not: {len(waiting)}"
        yield f"halt of {what} (serial {halt['serial']}), {counts}"
        runs = [(run, "yes") for run in knows] + [(run, "not yet") for run in waiting]
        rows = [
            (run["run_id"], run["agent"], run["started_at"], run["checked_at"] or "never", said, _stopped(run, said))
            for run, said in runs
        ]
        yield from table(("run", "agent", "started", "last checkpoint", "since the halt", ""), rows)


def _stopped(run: Mapping[str, Any], said: str) -> str:
    return "stopped" if run["stopped"] and said == "yes" else ""


def _waivers(row: Mapping[str, Any]) -> Iterator[str]:
    waivers = [
        (
            item["serial"],
            item["rule"],
            f"{item['name']} {item['versions'] or item['digest'][:19]}",
            item["state"],
            item["counts_until"],
            person(item["by"]),
            _consents(item),
            ", ".join(item["used_by"]) or "nothing",
        )
        for item in row["waivers"]
        if item["state"] != "ended" or item["used_by"]
    ]
    yield from table(("waiver", "rule", "for", "state", "until", "by", "approved by", "needed by"), waivers)


def _consents(waiver: Mapping[str, Any]) -> str:
    good, bad = (
        ", ".join(person(consent["by"]) for consent in waiver["approved_by"] if consent["counts"] == counts)
        for counts in (True, False)
    )
    return (good or "nobody") + (f"; not counted: {bad}" if bad else "")


def person(row: Mapping[str, Any]) -> str:
    """Return who somebody is, as people write it."""
    return f"{row['name']} <{row['email']}>" if row["email"] else str(row["name"])


@pawl_command("status", lines=lines, identity=True)
@click.option("--channel", type=CHANNEL, help="One channel; all without it.")
def command(session: Session, channel: Channel | None) -> Report:
    """Show every channel's pins with their ways back, what stands beside them, and what somebody should know.

    It runs no suites: pawl drill CHANNEL does. 1 where the review of a broken glass was missed.
    """
    from pawl.operations.observing.status import status  # noqa: PLC0415 - not for shells that complete

    return status(session, channel)
