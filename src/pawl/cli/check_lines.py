"""What check and test show a person: what changed, which suites did not pass, what channels say, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pawl.cli.output import clean, paint, table
from pawl.cli.text_diff import cut

MAX_ROWS = 100
"""Rows of one table; JSON has all."""
_MAX_REASON = 200
_COLOURS = {"allowed": "green", "refused": "red", "nothing": None}
_WORDS = {"allowed": "would be allowed", "refused": "refused", "nothing": "nothing to promote"}


def check_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield everything that a check found out, its problems apart."""
    if "files" in data:
        unread = f", {data['unread']} not" if data["unread"] else ""
        yield f"{data['files']} files, {data['read']} read{unread}; {data['procedures']} procedures"
    if data.get("base"):
        yield f"compared with {clean(data['base']['ref'])} ({data['base']['commit'][:12]})"
    yield from change_lines(data.get("changes", ()))
    if data.get("new_versions"):
        yield f"to be published: {', '.join(data['new_versions'])}"
    yield from suite_lines(data)
    yield from channel_lines(data.get("channels", ()))


def change_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table of what changed and of the version numbers that this asks for."""
    head = ("changed", "from", "to", "required", "lowest", "enough", "changes")
    yield from table(head, (_change_cells(row) for row in rows[:MAX_ROWS]))
    yield from _more(rows, "procedures changed")


def _change_cells(row: Mapping[str, Any]) -> Sequence[object]:
    sides = [side["version"] if side else "-" for side in (row["from"], row["to"])]
    asked = row["to"] is not None and row["enough"] is not None
    enough = ("yes" if row["enough"] else "no") if asked else "-"
    changes = row["state"] if row["state"] != "changed" else len(row["changes"])
    return row["name"], *sides, row["required"], row["smallest"] or "-", enough, changes


def suite_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the suites that did not pass with their cases, how many did, and the tally; nothing tested is said so."""
    if "suites" not in data:
        return
    suites, tally = data["suites"], data["tally"]
    wrong = [suite for suite in suites if suite["outcome"] != "passed"]
    head = ("suite", "about", "outcome", "passed", "of")
    yield from table(head, (_suite_cells(suite) for suite in wrong[:MAX_ROWS]))
    yield from _more(wrong, "suites did not pass")
    cases = [(suite, case) for suite in wrong for case in suite["cases"] if case["outcome"] != "passed"]
    yield from (_case(suite, case) for suite, case in cases[:MAX_ROWS])
    yield from _more(cases, "cases did not pass")
    yield f"suites: {len(suites) - len(wrong)} of {len(suites)} passed"
    if tally["total"]:
        yield "cases: " + ", ".join(f"{count} {outcome}" for outcome, count in tally.items())
    else:
        yield paint("no case was run, and nothing is no pass", "yellow", bold=True)


def _suite_cells(suite: Mapping[str, Any]) -> Sequence[object]:
    return suite["suite"], suite["about"], suite["outcome"], suite["tally"]["passed"], suite["tally"]["total"]


def _case(suite: Mapping[str, Any], case: Mapping[str, Any]) -> str:
    why = cut(clean("; ".join(case["reasons"])), _MAX_REASON)
    return f"  {clean(suite['suite'])}: {clean(case['id'])} {case['outcome']}: {why}"


def channel_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what each channel would say of a promotion, why it refuses, and what it would need."""
    head = ("channel", "policy", "verdict", "of")
    yield from table(head, (_channel_cells(row) for row in rows[:MAX_ROWS]))
    yield from _more(rows, "channels")
    for row in rows[:MAX_ROWS]:
        for finding in row["findings"][:MAX_ROWS]:
            colour = "yellow" if finding["status"] == "warning" else _COLOURS["refused"]
            rule = f"rule {finding['rule']}: " if finding.get("rule") else ""
            differs = f" ({finding['differs']})" if finding.get("differs") else ""
            text = clean(f"{rule}{finding['message']}{differs}")
            yield f"  {row['channel']}: {paint(finding['status'], colour)} {text} [{finding['code']}]"
        yield from _more(row["findings"], f"findings of {row['channel']}")
        for need in row["needs"][:MAX_ROWS]:
            yield f"  {row['channel']} {paint('needs:', 'cyan')} {clean(need)}"
        yield from _more(row["needs"], f"needs of {row['channel']}")


def _channel_cells(row: Mapping[str, Any]) -> Sequence[object]:
    code = f" (exit {row['exit_code']})" if row["exit_code"] else ""
    more = f" and {len(row['refs']) - 3} more" if len(row["refs"]) > 3 else ""
    refs = ", ".join(row["refs"][:3]) + more
    return row["channel"], row["policy"] or "none", _WORDS[row["verdict"]] + code, refs


def _more(rows: Sequence[object], noun: str) -> Iterator[str]:
    if len(rows) > MAX_ROWS:
        yield f"and {len(rows) - MAX_ROWS} more {noun}; -o json has all"
