"""Reports for machines that show check and test: GitHub annotations, JUnit, SARIF 2.1.0, Markdown for a comment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from pawl._version import __version__
from pawl.operations.session import Report
from pawl.problems import Problem

_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}


def github(report: Report) -> str:
    """Return workflow commands, one a problem."""
    return "\n".join(_annotation(problem) for problem in report.problems)


def _annotation(problem: Problem) -> str:
    fields = {"file": problem.path, "line": problem.line, "col": problem.column, "title": problem.code}
    parts = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items() if value is not None)
    message = problem.message + (f"\n{problem.hint}" if problem.hint else "")
    return f"::{_GITHUB[problem.severity]} {parts}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def junit(command: str, report: Report) -> str:
    """Return JUnit XML: each suite with its cases, and every other error as a case of its own."""
    suites = report.data.get("suites", [])
    others = [problem for problem in report.problems if problem.severity == "error" and not _of_a_case(problem)]
    rows = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={_attribute(command)}>"]
    for suite in suites:
        rows += _suite(suite)
    if others:
        rows.append(f'<testsuite name="pawl" tests="{len(others)}" errors="{len(others)}">')
        for problem in others:
            rows.append(f'<testcase classname="pawl" name={_attribute(f"{problem.path or command}: {problem.code}")}>')
            rows.append(f"<error message={_attribute(problem.message)}/></testcase>")
        rows.append("</testsuite>")
    return "\n".join((*rows, "</testsuites>"))


def _of_a_case(problem: Problem) -> bool:
    return problem.code.startswith("case-")


def _suite(suite: Mapping[str, Any]) -> Iterator[str]:
    tally = suite["tally"]
    name = f"{suite['suite']} ({suite['about']})"
    errors, skipped = tally["errored"] + tally["inconclusive"], tally["skipped"]
    yield (
        f'<testsuite name={_attribute(name)} tests="{tally["total"]}" failures="{tally["failed"]}" '
        f'errors="{errors}" skipped="{skipped}">'
    )
    tags = {"failed": "failure", "errored": "error", "inconclusive": "error", "skipped": "skipped"}
    for case in suite["cases"]:
        head = f"<testcase classname={_attribute(name)} name={_attribute(case['id'])}"
        if case["outcome"] == "passed":
            yield head + "/>"
        else:
            why = _attribute(f"{case['outcome']}: {'; '.join(case['reasons'])}")
            yield f"{head}><{tags[case['outcome']]} message={why}/></testcase>"
    yield "</testsuite>"


def _attribute(text: str) -> str:
    return quoteattr("".join(char if char >= " " or char in "\t\n" else "?" for char in text))


def sarif(command: str, report: Report) -> str:
    """Return SARIF 2.1.0 with one result a problem."""
    codes = sorted({problem.code for problem in report.problems})
    run = {
        "tool": {"driver": {"name": "pawl", "version": __version__, "rules": [{"id": code} for code in codes]}},
        "properties": {"command": command},
        "results": [_result(problem) for problem in report.problems],
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _result(problem: Problem) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "level": problem.severity,
        "message": {"text": problem.message + (f" Next: {problem.hint}" if problem.hint else "")},
    }
    if problem.path is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": problem.path}}
        if problem.line is not None:
            place["region"] = {"startLine": problem.line, "startColumn": problem.column or 1}
        result["locations"] = [{"physicalLocation": place}]
    return result


def markdown(command: str, report: Report) -> str:
    """Return a summary for a comment on a pull request."""
    rows = [f"### pawl {command}: {report.status}", ""]
    tally = report.data.get("tally")
    if tally:
        rows.append(" · ".join(f"{count} {outcome}" for outcome, count in tally.items()))
    suites = report.data.get("suites", [])
    if suites:
        rows += ["", "| suite | about | outcome | passed | total |", "|---|---|---|---|---|"]
        for suite in suites:
            cells = [
                suite["suite"],
                suite["about"],
                suite["outcome"],
                suite["tally"]["passed"],
                suite["tally"]["total"],
            ]
            rows.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    if report.problems:
        rows += ["", "| | where | what | code |", "|---|---|---|---|"]
        for problem in report.problems:
            where = ":".join(str(part) for part in (problem.path, problem.line) if part is not None)
            cells = [problem.severity, where, problem.message, f"`{problem.code}`"]
            rows.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return "\n".join(rows)


def _cell(value: object) -> str:
    return escape(str(value)).replace("|", "\\|").replace("\n", " ")
