"""The summary for a comment on a pull request.

Whatever comes from files cannot forge anything: it stands in code spans, or as prose in which every character that
means something to Markdown, to HTML or to GitHub (mentions, references to issues, links) is disarmed. The whole is cut
at what a comment holds, table by table, so that a crowd of one thing never hides another; what is left out is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from pawl.cli.output import clean
from pawl.cli.text_diff import cut, text_diff
from pawl.operations.session import Report
from pawl.problems import Problem

MAX_COMMENT = 60_000
"""Characters; GitHub takes 65,536."""
MAX_ROWS = 50
MAX_CELL = 300
_MAX_USERS = 10
_MAX_TEXT_DIFFS = 3
_MAX_TEXT_LINES = 15
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!~$^=])")
_SEVERITIES = ("error", "warning", "note")
_OUTCOMES = ("passed", "failed", "errored", "skipped", "inconclusive")
_VERDICTS = {"allowed": "would be allowed", "refused": "**refused**", "nothing": "nothing to promote"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Lines that belong together; ``rows`` can be cut, and then ``more`` says of what there are more."""

    head: Sequence[str] = ()
    rows: Sequence[str] = ()
    tail: Sequence[str] = ()
    more: str = "rows"
    most: int = MAX_ROWS
    share: int = 8_000
    """The characters that it can take of the whole."""

    def fitted(self, budget: int) -> list[str]:
        """Return as many lines as fit, or nothing where not even one row does."""
        size = sum(len(line) + 1 for line in (*self.head, *self.tail)) + 80
        kept: list[str] = []
        for row in self.rows[: self.most]:
            size += len(row) + 1
            if size > min(budget, self.share):
                break
            kept.append(row)
        if size > budget and not kept:
            return []
        left = len(self.rows) - len(kept)
        return [*self.head, *kept, *(["", f"… and {left} more {self.more}"] if left else ()), *self.tail]


def markdown(command: str, report: Report) -> str:
    """Return a summary for a comment on a pull request."""
    data = report.data
    lines: list[str] = []
    used = left_out = 0
    for block in (
        _opening(command, report),
        _changes(data),
        _suites(data),
        _channels(data),
        _needs(data),
        _problems(report.problems),
        *(_details(row) for row in _rows(data)),
    ):
        found = block.fitted(MAX_COMMENT - used - 200)
        left_out += bool(block.head) and not found
        lines += found
        used += sum(len(line) + 1 for line in found)
    if left_out:
        lines += ["", f"{_counted(left_out, 'section')} did not fit into this comment; `-o json` says it all."]
    return "\n".join(lines)


def code(text: object) -> str:
    """Return foreign text as a code span on one line, in which nothing is obeyed."""
    shown = cut(clean(str(text)), MAX_CELL)
    if not shown.strip():
        return "(nothing)"
    ticks = max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1
    pad = " " if ticks > 1 or shown[0] == " " or shown[-1] == " " else ""
    return f"{'`' * ticks}{pad}{shown}{pad}{'`' * ticks}"


def prose(text: str) -> str:
    """Return foreign text as prose on one line, in which nothing is obeyed."""
    shown = cut(clean(" ".join(text.split())), MAX_CELL)
    shown = escape(shown, quote=False)
    shown = _SPECIAL.sub(r"\\\1", shown)
    # something invisible between makes a mention or a reference none; names such as a@1.0.0 stay as they can be copied
    shown = re.sub(r"(?<![A-Za-z0-9])@|#(?=[0-9])", r"\g<0>&#8203;", shown)
    shown = re.sub(r"(?i)\b(gh)-(?=[0-9])", "\\1-&#8203;", shown)
    return re.sub(r"(?i)\b(www)\.", "\\1&#8203;.", shown).replace("://", ":&#8203;//")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _head(*names: str) -> tuple[str, ...]:
    return "", _row(names), "|" + "---|" * len(names)


def _rows(data: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = data.get("changes", ())
    return rows


def _opening(command: str, report: Report) -> _Block:
    tally = report.data.get("tally") or {}
    tested = tally.get("total", 0)
    failed = report.exit_code != 0 or report.status in {"failed", "refused"}
    words = "failed" if failed else "passed" if tested else "nothing was tested, which is no pass"
    counts = {severity: sum(item.severity == severity for item in report.problems) for severity in _SEVERITIES}
    found = ", ".join(_counted(count, severity) for severity, count in counts.items() if count) or "no problems"
    cases = ", ".join(f"{tally.get(outcome, 0)} {outcome}" for outcome in _OUTCOMES)
    base = report.data.get("base")
    against = f" Compared with {code(base['ref'])} ({code(base['commit'][:12])})." if base else ""
    told = f"{_counted(tested, 'case')}: {cases}." if tested else "**Nothing was tested, and nothing is no pass.**"
    code_of_exit = f" (exit {report.exit_code})" if report.exit_code else ""
    return _Block(head=(f"### pawl {command}: {words}{code_of_exit}", "", f"{told} {found.capitalize()}.{against}"))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _changes(data: Mapping[str, Any]) -> _Block:
    rows = [_row(_change_cells(row)) for row in _rows(data)]
    if not rows:
        return _Block()
    head = ("", "#### Changes", *_head("procedure", "from", "to", "required", "enough"))
    return _Block(head=head, rows=rows, more="procedures; `pawl diff` shows them")


def _change_cells(row: Mapping[str, Any]) -> Iterator[str]:
    yield code(row["name"])
    for key, absent in (("from", "new"), ("to", "removed")):
        yield code(row[key]["version"]) if row[key] else absent
    yield row["required"]
    if row["enough"] is None or row["state"] == "removed":
        yield ""
    elif row["enough"]:
        yield "yes"
    else:
        yield f"**no**, the lowest is {code(row['smallest'])}" if row["smallest"] else "**no**"


def _suites(data: Mapping[str, Any]) -> _Block:
    suites = sorted(data.get("suites", ()), key=lambda suite: suite["outcome"] == "passed")
    if not suites:
        return _Block()
    rows = [
        _row(
            (
                code(suite["suite"]),
                code(suite["about"]),
                suite["outcome"] if suite["outcome"] == "passed" else f"**{suite['outcome']}**",
                *(str(suite["tally"][key]) for key in (*_OUTCOMES, "total")),
            )
        )
        for suite in suites
    ]
    names = ("suite", "about", "outcome", *_OUTCOMES, "total")
    return _Block(head=("", "#### Suites", *_head(*names)), rows=rows, more="suites")


def _channels(data: Mapping[str, Any]) -> _Block:
    rows = [
        _row(
            (
                code(channel["channel"]),
                "none" if channel["policy"] is None else str(channel["policy"]),
                _VERDICTS[channel["verdict"]] + (f" (exit {channel['exit_code']})" if channel["exit_code"] else ""),
                _some([code(ref) for ref in channel["refs"]], 5),
                _some([_finding(finding) for finding in channel["findings"]], 3),
            )
        )
        for channel in data.get("channels", ())
    ]
    if not rows:
        return _Block()
    head = ("", "#### Policy", *_head("channel", "policy", "verdict", "of", "because"))
    return _Block(head=head, rows=rows, more="channels")


def _finding(finding: Mapping[str, Any]) -> str:
    rule = f"rule {code(finding['rule'])}: " if finding.get("rule") else ""
    differs = f" ({prose(finding['differs'])})" if finding.get("differs") else ""
    return f"{rule}{prose(finding['message'])}{differs} {code(finding['code'])}"


def _some(texts: Sequence[str], most: int) -> str:
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return "<br>".join((*texts[:most], *more))


def _needs(data: Mapping[str, Any]) -> _Block:
    rows = [
        f"- {code(channel['channel'])}: {prose(need)}"
        for channel in data.get("channels", ())
        for need in channel["needs"]
    ]
    return _Block(head=("", "#### What promotion would need", ""), rows=rows, more="needs") if rows else _Block()


def _problems(problems: Sequence[Problem]) -> _Block:
    ordered = sorted(problems, key=lambda problem: _SEVERITIES.index(problem.severity))
    if not ordered:
        return _Block()
    rows = [_row(_problem_cells(problem)) for problem in ordered]
    head = ("", "#### Problems", *_head("", "where", "what", "code"))
    return _Block(head=head, rows=rows, more="problems", share=12_000)


def _problem_cells(problem: Problem) -> Iterator[str]:
    yield f"**{problem.severity}**" if problem.severity == "error" else problem.severity
    where = ":".join(str(part) for part in (problem.path, problem.line) if part is not None)
    yield code(where) if where else ""
    hint = f"<br>next: {prose(problem.hint)}" if problem.hint else ""
    yield prose(problem.message) + hint
    yield code(problem.code) + (f" {code(problem.rule)}" if problem.rule else "")


def _details(row: Mapping[str, Any]) -> _Block:
    changes = row["changes"]
    if not changes:
        return _Block()
    title = f"{_html(row['name'])}: {row['required']}, {_counted(len(changes), 'change')}"
    rows = [_change(change) for change in changes]
    texts = [line for change in changes[:MAX_ROWS] for line in _text_change(change)][: _MAX_TEXT_DIFFS * 2]
    users = [_user(user) for user in row.get("used_by", ())]
    return _Block(
        head=("", "<details>", f"<summary>{title}</summary>", ""),
        rows=rows,
        tail=(*texts, *_cut_rows(users), "", "</details>"),
        more="changes",
        most=30,
        share=20_000,
    )


def _change(change: Mapping[str, Any]) -> str:
    breaks = f" (breaks {', '.join(change['breaks'])})" if change["breaks"] else ""
    where = f"{code(change['code'])} {code(change['path'] or '/')}"
    return f"- **{change['level']}** {where}: {prose(change['reason'])}{breaks}"


def _user(user: Mapping[str, Any]) -> str:
    how = f"requires {code(user['requires'])}" if user["requires"] else "through others"
    met = ", **which the new version is outside of**" if user["still_met"] is False else ""
    return f"- used by {code(user['ref'])} on {code(user['channel'])}, {how}{met}"


def _cut_rows(rows: Sequence[str]) -> Sequence[str]:
    more = [f"- and {len(rows) - _MAX_USERS} more use it"] if len(rows) > _MAX_USERS else []
    return ("", *rows[:_MAX_USERS], *more) if rows else ()


def _html(text: str) -> str:
    return f"<code>{escape(cut(clean(text), MAX_CELL))}</code>"


def _text_change(change: Mapping[str, Any]) -> Iterator[str]:
    """Yield a text that a model reads as a diff, where it changed."""
    if change["code"] != "message-text":
        return
    lines = text_diff(change["old"], change["new"])[:_MAX_TEXT_LINES]
    body = [f"{'@@' if sign == '@' else sign} {cut(text, MAX_CELL, _first_mark(text))}" for sign, text in lines]
    ticks = "`" * max(3, 3, *(len(run) + 1 for line in body for run in re.findall(r"`+", line)))
    yield f"\n{code(change['path'])}"
    yield "\n".join(("", f"{ticks}diff", *body, ticks))


def _first_mark(text: str) -> int:
    return max(0, min((at for mark in ("[-", "{+") if (at := text.find(mark)) >= 0), default=0))
