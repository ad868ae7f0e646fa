"""Reports for machines: JUnit that parses, SARIF of the right shape, annotations within GitHub's limits."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.reports_data import change, problem, report, row, suite, tally
from pawl.cli.reports import MAX_RESULTS, github, junit, sarif
from pawl.lint.codes import CODES
from pawl.operations.session import Report
from support import Shop, in_process


def parsed(given_report: Report) -> ET.Element:
    return ET.fromstring(junit("check", given_report))  # noqa: S314 - it was just written here


def outcomes(root: ET.Element, name: str) -> dict[str, str]:
    """Return the cases of a suite with the tag that says how each ended."""
    return {
        case.get("name", ""): next((inner.tag for inner in case), "passed")
        for case in root.findall(f"testsuite[@name='{name}']/testcase")
    }


# JUnit


def test_suites_numbers_and_problems_are_suites() -> None:
    every = suite(passed=1, failed=1, errored=1, skipped=1, inconclusive=1)
    rows = [row(), row(name="fine", enough=True), row(name="new", enough=None), row(name="gone", to=None)]
    root = parsed(report(problem(), problem(severity="warning"), problem(code="case-failed"), changes=rows,
                         suites=[every]))  # fmt: skip
    assert outcomes(root, "refund (support/refund@1.1.0)") == {
        "passed-0": "passed",
        "failed-0": "failure",
        "errored-0": "error",
        "skipped-0": "skipped",
        "inconclusive-0": "error",
    }
    assert outcomes(root, "pawl versions") == {"support/refund@1.1.0": "failure", "fine@1.1.0": "passed"}
    assert outcomes(root, "pawl problems") == {}  # told as a version
    names = ("tests", "failures", "errors", "skipped")
    assert [root.get(name) for name in names] == ["7", "2", "2", "1"]
    found = root.find("testsuite[@name='pawl versions']/testcase/failure")
    assert found is not None
    assert found.get("message") == "the changes are major: the lowest version is 2.0.0"


def test_nothing_to_test_is_skipped_in_junit() -> None:
    root = parsed(Report(status="unchanged", data={"tally": tally(), "suites": []}))
    assert outcomes(root, "pawl problems") == {"check: nothing-changed": "skipped"}
    assert (root.get("errors"), root.get("skipped")) == ("0", "1")


def test_nothing_tested_is_an_error_in_junit() -> None:
    root = parsed(Report(status="passed", data={"tally": tally(), "suites": []}))
    assert outcomes(root, "pawl problems") == {"check: nothing-tested": "error"}
    assert root.get("errors") == "1"


def test_nothing_tested_is_said_once() -> None:
    root = parsed(report(problem(code="nothing-tested", path=None), suites=[], changes=[]))
    assert root.get("tests") == "1"


@given(st.text(max_size=30))
def test_any_text_makes_junit_that_parses(text: str) -> None:
    cases = [{"id": text, "outcome": "failed", "reasons": [text]}]
    given_report = report(problem(message=text, path=text), suites=[{**suite(failed=1), "suite": text, "cases": cases}])
    assert parsed(given_report).get("tests") == "3"


# SARIF

SHAPE = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "additionalProperties": False,
    "$defs": {
        "text": {
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string", "minLength": 1}},
            "additionalProperties": False,
        },
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "properties": {
                "tool": {"required": ["driver"], "properties": {"driver": {"$ref": "#/$defs/driver"}}},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
                "invocations": {"type": "array", "items": {"$ref": "#/$defs/invocation"}},
                "properties": {"type": "object"},
            },
            "additionalProperties": False,
        },
        "driver": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "version": {"type": "string"},
                "semanticVersion": {"type": "string"},
                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
            },
            "additionalProperties": False,
        },
        "rule": {
            "type": "object",
            "required": ["id", "shortDescription", "help"],
            "properties": {
                "id": {"type": "string"},
                "shortDescription": {"$ref": "#/$defs/text"},
                "help": {"$ref": "#/$defs/text"},
                "defaultConfiguration": {"properties": {"level": {"enum": ["none", "note", "warning", "error"]}}},
            },
            "additionalProperties": False,
        },
        "invocation": {
            "type": "object",
            "required": ["executionSuccessful"],
            "properties": {
                "executionSuccessful": {"type": "boolean"},
                "exitCode": {"type": "integer"},
                "toolExecutionNotifications": {
                    "type": "array",
                    "items": {"required": ["message"], "properties": {"message": {"$ref": "#/$defs/text"}}},
                },
            },
            "additionalProperties": False,
        },
        "result": {
            "type": "object",
            "required": ["ruleId", "ruleIndex", "level", "message", "partialFingerprints"],
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": {"$ref": "#/$defs/text"},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "properties": {"type": "object"},
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
            },
            "additionalProperties": False,
        },
        "location": {
            "type": "object",
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "properties": {
                                "uri": {"type": "string", "format": "uri-reference"},
                                "uriBaseId": {"type": "string"},
                            },
                            "additionalProperties": False,
                        },
                        "region": {
                            "type": "object",
                            "properties": {
                                "startLine": {"type": "integer", "minimum": 1},
                                "startColumn": {"type": "integer", "minimum": 1},
                            },
                            "additionalProperties": False,
                        },
                    },
                    "additionalProperties": False,
                }
            },
            "additionalProperties": False,
        },
    },
}  # fmt: skip
"""The part of SARIF 2.1.0 that is written, with the limits that its schema sets."""


def read_sarif(given_report: Report) -> dict[str, Any]:
    document = json.loads(sarif("check", given_report))
    jsonschema_rs.Draft202012Validator(SHAPE, validate_formats=True).validate(document)
    run: dict[str, Any] = document["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]
    return run


def test_results_rules_and_places() -> None:
    warning = problem(severity="warning", code="owner-missing", path="HEAD:a b/ü.yaml", line=None, hint=None)
    run = read_sarif(report(warning, problem(rule="REF-1")))
    first, second = run["results"]
    assert (first["ruleId"], first["level"], first["properties"]) == ("bump-too-small", "error", {"rule": "REF-1"})
    assert first["message"]["text"] == "it promises too little. Next: pawl bump support/refund"
    place = first["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 3, "startColumn": 10}
    assert second["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "HEAD%3Aa%20b/%C3%BC.yaml", "uriBaseId": "%SRCROOT%"}
    }
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert {name: rule["shortDescription"]["text"] for name, rule in rules.items()} == {
        name: CODES[name].means for name in ("bump-too-small", "owner-missing")
    }
    assert rules["owner-missing"]["help"]["text"].startswith("owner-missing: ")
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1, "toolExecutionNotifications": []}]


def test_a_workspace_in_a_folder_of_the_repository_is_placed_from_the_root() -> None:
    run = read_sarif(report(problem(), folder="teams/shop"))
    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"] == "teams/shop/procedures/support/refund.yaml"
    assert "file=teams/shop/procedures/support/refund.yaml," in github(report(problem(), folder="teams/shop/"))


def fingerprints(*problems: Any) -> list[str]:
    return [result["partialFingerprints"]["pawl/v1"] for result in read_sarif(report(*problems))["results"]]


def test_fingerprints_stay_when_lines_and_numbers_move_and_differ_otherwise() -> None:
    one = fingerprints(problem(message="record 12 of 2026-01-01"))
    assert one == fingerprints(problem(message="record 7 of 2026-02-03", line=99, column=1))
    others = [problem(message="x"), problem(path="y"), problem(code="z"), problem(rule="r"), problem(), problem()]
    found = fingerprints(*others)
    assert len(set(found)) == len(found)
    assert found == fingerprints(*others)


def test_more_results_than_are_kept_and_nothing_tested_are_said() -> None:
    run = read_sarif(report(*[problem(severity="note")] * MAX_RESULTS, problem(), suites=[]))
    assert (len(run["results"]), run["results"][0]["level"]) == (MAX_RESULTS, "error")
    said = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    assert said == ["1 more problems are left out", "no case was run, and nothing is no pass"]


def test_a_message_makes_no_link() -> None:
    text = read_sarif(report(problem(message="[all is well](https://evil.example)")))["results"][0]["message"]["text"]
    assert "](" not in text


@given(st.text(max_size=30))
def test_any_text_makes_sarif(text: str) -> None:
    read_sarif(report(problem(message=text or "x", path=text, hint=text)))


# GitHub


def test_annotations() -> None:
    shown = github(
        report(
            problem(severity="note", line=None, message="it is so"), problem(message="50% off\nnow", path="a,b:c.yaml")
        )
    )
    assert shown.splitlines() == [
        "::error file=a%2Cb%3Ac.yaml,line=3,col=10,title=bump-too-small::50%25 off%0Anow%0Apawl bump support/refund",
        "::notice file=procedures/support/refund.yaml,title=bump-too-small::it is so%0Apawl bump support/refund",
    ]


def test_what_github_would_not_show_stands_in_the_log() -> None:
    found = [problem(severity=severity, message=f"{severity} {number}\n::error ::forged")
             for severity in ("warning", "error") for number in range(25)]  # fmt: skip
    lines = github(report(*found)).splitlines()
    assert [sum(line.startswith(f"::{kind} ") for line in lines) for kind in ("error", "warning", "notice")] == [
        10,
        10,
        0,
    ]
    assert lines[0].startswith("::error file=")
    assert lines[9] == "::error ::16 more errors stand in the log"
    rest = [line for line in lines if not line.startswith("::")]
    assert len(rest) == 32
    assert rest[0].startswith("error bump-too-small procedures/support/refund.yaml:3 error 9")


@pytest.mark.parametrize("status", ["passed", "unchanged"])
def test_annotations_say_that_nothing_was_tested(status: Any) -> None:
    shown = github(Report(status=status, data={"tally": tally()}))
    assert shown == "::notice ::no case was run, and nothing is no pass"
    assert not github(report(passed=True, suites=[suite(passed=1)]))


def test_of_a_real_run(shop: Shop) -> None:
    shop.write("procedures/broken.yaml", "kind: prompt\nkind: tool\n")
    files = {kind: shop.root / f"report.{kind}" for kind in ("junit", "sarif", "github")}
    words = [word for kind, path in files.items() for word in ("-o", f"{kind}={path}")]
    assert in_process("-C", str(shop.root), "check", *words).code == 1
    root = ET.fromstring(files["junit"].read_text(encoding="utf-8"))  # noqa: S314 - it was just written here
    assert outcomes(root, "pawl problems") == {"procedures/broken.yaml:2: duplicate-key": "error"}
    document = json.loads(files["sarif"].read_text(encoding="utf-8"))
    jsonschema_rs.Draft202012Validator(SHAPE).validate(document)
    assert files["github"].read_text(encoding="utf-8").startswith("::error file=procedures/broken.yaml,line=2,col=1")


def test_the_made_up_run_is_shaped_like_a_real_one(released: Shop) -> None:
    """What these tests feed the reports has the fields that diff gives."""
    released.second()
    real = released.pawl("diff", "support/refund")
    assert set(row()) - {"published"} == set(real) - {"base", "command", "status", "exit_code", "problems"}
    assert set(change()) <= set(real["changes"][0])
