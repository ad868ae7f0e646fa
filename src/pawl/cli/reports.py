"""Reports for machines that show check and test: GitHub annotations, JUnit, SARIF 2.1.0, Markdown for a comment.

Renderers decide nothing, but one thing they hold up for readers that look at one form alone: where no case was run,
every form says so, and none of them looks like a pass.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from pawl._version import __version__
from pawl.cli.markdown import markdown
from pawl.cli.output import clean
from pawl.cli.text_diff import cut
from pawl.lint.codes import explain
from pawl.operations.session import Report
from pawl.problems import Problem

MAX_ANNOTATIONS = 10
"""GitHub shows so many of each kind for one step."""
MAX_RESULTS = 5_000
"""Results that GitHub keeps of one SARIF file."""
MAX_MESSAGE = 4_000
_SEVERITIES = ("error", "warning", "note")
_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OF_CASES = frozenset(f"case-{outcome}" for outcome in ("failed", "errored", "skipped", "inconclusive"))
_EMPTY = Problem(code="nothing-tested", message="no case was run, and nothing is no pass")


def _graded(problems: Sequence[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: _SEVERITIES.index(problem.severity))


def github(report: Report) -> str:
    """Return workflow commands, one a problem, errors first; what GitHub would not show so is said as plain text."""
    rows: list[str] = []
    plain: list[str] = []
    for severity in _SEVERITIES:
        found = [problem for problem in report.problems if problem.severity == severity]
        shown = found if len(found) <= MAX_ANNOTATIONS else found[: MAX_ANNOTATIONS - 1]
        rows += [_annotation(problem, _folder(report)) for problem in shown]
        if len(found) > len(shown):
            rows.append(f"::{_GITHUB[severity]} ::{len(found) - len(shown)} more {severity}s stand in the log")
            plain += [_plain(problem) for problem in found[len(shown) :]]
    if _untested(report) and not any(problem.code == _EMPTY.code for problem in report.problems):
        rows.append(f"::notice ::{_EMPTY.message}")
    return "\n".join((*rows, *plain))


def _untested(report: Report) -> bool:
    return "tally" in report.data and not report.data["tally"]["total"]


def _with_hint(text: str, hint: str | None) -> str:
    return f"{text.rstrip('.')}. Next: {hint}" if hint else text


def _folder(report: Report) -> str:
    """Return where the workspace is in its repository, with a slash behind it."""
    folder: str = report.data.get("folder") or ""
    return f"{folder.rstrip('/')}/" if folder else ""


def _annotation(problem: Problem, folder: str) -> str:
    path = None if problem.path is None else folder + problem.path
    column = problem.column if problem.line else None
    fields = {"file": path, "line": problem.line, "col": column, "title": problem.code}
    parts = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items() if value is not None)
    message = cut(problem.message, MAX_MESSAGE) + (f"\n{problem.hint}" if problem.hint else "")
    return f"::{_GITHUB[problem.severity]} {parts}::{_data(message)}"


def _plain(problem: Problem) -> str:
    where = ":".join(str(part) for part in (problem.path, problem.line) if part is not None)
    return clean(f"{problem.severity} {problem.code} {where} {cut(problem.message, MAX_MESSAGE)}")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def junit(command: str, report: Report) -> str:
    """Return JUnit XML: each suite with its cases, the version numbers that are asked for, and every other error."""
    suites = [
        *(_suite(suite) for suite in report.data.get("suites", ())),
        *_numbers(report.data.get("changes", ())),
        *_others(command, report),
    ]
    counts = [sum(suite[0][index] for suite in suites) for index in range(4)]
    rows = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={_attribute(command)}{_counts(counts)}>"]
    for _, lines in suites:
        rows += lines
    return "\n".join((*rows, "</testsuites>"))


_Suite = tuple[Sequence[int], list[str]]


def _counts(counts: Sequence[int]) -> str:
    names = ("tests", "failures", "errors", "skipped")
    return "".join(f' {name}="{count}"' for name, count in zip(names, counts, strict=True))


def _xml_suite(name: str, counts: Sequence[int], cases: Sequence[str]) -> _Suite:
    return counts, [f"<testsuite name={_attribute(name)}{_counts(counts)}>", *cases, "</testsuite>"]


def _case(suite: str, name: str, tag: str | None = None, why: str = "", detail: str = "") -> str:
    head = f"<testcase classname={_attribute(suite)} name={_attribute(name)}"
    if tag is None:
        return head + "/>"
    kind = f" type={_attribute(detail)}" if detail else ""
    return f"{head}><{tag} message={_attribute(why)}{kind}/></testcase>"


def _suite(suite: Mapping[str, Any]) -> _Suite:
    tally = suite["tally"]
    name = f"{suite['suite']} ({suite['about']})"
    tags = {"failed": "failure", "errored": "error", "inconclusive": "error", "skipped": "skipped"}
    cases = [
        _case(name, case["id"], tags.get(case["outcome"]), f"{case['outcome']}: {'; '.join(case['reasons'])}")
        for case in suite["cases"]
    ]
    errors = tally["errored"] + tally["inconclusive"]
    return _xml_suite(name, (tally["total"], tally["failed"], errors, tally["skipped"]), cases)


def _numbers(rows: Sequence[Mapping[str, Any]]) -> Iterator[_Suite]:
    asked = [row for row in rows if row["to"] and row["enough"] is not None]
    if not asked:
        return
    name = "pawl versions"
    cases = []
    for row in asked:
        title = f"{row['name']}@{row['to']['version']}"
        lowest = f": the lowest version is {row['smallest']}" if row["smallest"] else ""
        why = f"the changes are {row['required']}{lowest}"
        cases.append(_case(name, title) if row["enough"] else _case(name, title, "failure", why, "bump-too-small"))
    yield _xml_suite(name, (len(asked), sum(not row["enough"] for row in asked), 0, 0), cases)


def _others(command: str, report: Report) -> Iterator[_Suite]:
    told = {f"procedures/{row['name']}.yaml" for row in report.data.get("changes", ()) if row["enough"] is False}
    found = [
        problem
        for problem in report.problems
        if problem.severity == "error"
        and problem.code not in _OF_CASES
        and not (problem.code == "bump-too-small" and problem.path in told)
    ]
    name = "pawl problems"
    if report.status == "unchanged":
        case = _case(name, f"{command}: nothing-changed", "skipped", _EMPTY.message, "nothing-changed")
        yield _xml_suite(name, (1, 0, 0, 1), (case,))
        return
    if _untested(report) and not any(problem.code == _EMPTY.code for problem in found):
        found.append(_EMPTY)
    if found:
        cases = []
        for problem in found:
            where = ":".join(str(part) for part in (problem.path or command, problem.line) if part is not None)
            why = _with_hint(problem.message, problem.hint)
            cases.append(_case(name, f"{where}: {problem.code}", "error", why, problem.code))
        yield _xml_suite(name, (len(found), 0, len(found), 0), cases)


def _attribute(text: str) -> str:
    return quoteattr(_NO_XML.sub("?", cut(text, MAX_MESSAGE)))


def sarif(command: str, report: Report) -> str:
    """Return SARIF 2.1.0 with one result a problem, errors first, and fingerprints that stay when lines move."""
    problems = _graded(report.problems)[:MAX_RESULTS]
    codes = sorted({problem.code for problem in problems})
    seen: dict[str, int] = {}
    results = [_result(problem, codes, seen, _folder(report)) for problem in problems]
    notes = [f"{len(report.problems) - MAX_RESULTS} more problems are left out"] * (len(report.problems) > MAX_RESULTS)
    notes += [_EMPTY.message] * _untested(report)
    invocation = {
        "executionSuccessful": report.exit_code < 64,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": [{"level": "warning", "message": {"text": note}} for note in notes],
    }
    driver = {
        "name": "pawl",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(name, next(problem for problem in problems if problem.code == name)) for name in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "properties": {"command": command, "status": report.status},
        "results": results,
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _rule(name: str, first: Problem) -> dict[str, Any]:
    known = explain(name)
    return {
        "id": name,
        "shortDescription": {"text": known.means if known else name.replace("-", " ").capitalize()},
        "help": {"text": known.text() if known else f"pawl check --explain {name}"},
        "defaultConfiguration": {"level": first.severity},
    }


def _result(problem: Problem, codes: Sequence[str], seen: dict[str, int], folder: str) -> dict[str, Any]:
    text = _with_hint(cut(problem.message, MAX_MESSAGE), problem.hint)
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": codes.index(problem.code),
        "level": problem.severity,
        "message": {"text": text.replace("](", "] (")},
        "partialFingerprints": {"pawl/v1": _fingerprint(problem, seen)},
    }
    if problem.rule is not None:
        result["properties"] = {"rule": problem.rule}
    if problem.path is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(folder + problem.path), "uriBaseId": "%SRCROOT%"}}
        if problem.line is not None:
            place["region"] = {"startLine": problem.line, "startColumn": problem.column or 1}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _fingerprint(problem: Problem, seen: dict[str, int]) -> str:
    """Return what stays the same from run to run: neither places nor numbers in the message count, the order does."""
    message = re.sub(r"[0-9]+", "#", problem.message)
    made = hashlib.sha256(
        "\x00".join((problem.code, problem.path or "", problem.rule or "", message)).encode()
    ).hexdigest()
    seen[made] = seen.get(made, 0) + 1
    return f"{made[:32]}:{seen[made]}"


__all__ = ["github", "junit", "markdown", "sarif"]
