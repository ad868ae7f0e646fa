"""What check found in one run, made up: something of everything, for the tests of reports."""

from __future__ import annotations

from typing import Any

from pawl.operations.session import Report
from pawl.problems import Problem

DIGEST = "sha256:" + "0" * 64
COMMIT = "1" * 40


def side(name: str, version: str) -> dict[str, Any]:
    return {"name": name, "version": version, "digest": DIGEST, "where": f"{name} in the work tree"}


def change(**more: Any) -> dict[str, Any]:
    return {
        "code": "property-required",
        "path": "/spec/inputs/required",
        "level": "major",
        "flags": [],
        "breaks": ["callers"],
        "affects": ["callers"],
        "proof": "usage",
        "reason": "calls without `reason` are refused",
        **more,
    }


def row(**more: Any) -> dict[str, Any]:
    name = more.get("name", "support/refund")
    return {
        "name": name,
        "kind": "workflow",
        "state": "changed",
        "from": side(name, "1.0.0"),
        "to": side(name, "1.1.0"),
        "published": "1.0.0",
        "required": "major",
        "smallest": "2.0.0",
        "enough": False,
        "changes": [change()],
        "pinned": [],
        "used_by": [],
        **more,
    }


def tally(**counts: int) -> dict[str, int]:
    found = dict.fromkeys(("passed", "failed", "errored", "skipped", "inconclusive"), 0) | counts
    return {**found, "total": sum(found.values())}


def suite(name: str = "refund", **counts: int) -> dict[str, Any]:
    counted = tally(**(counts or {"passed": 1}))
    cases = [
        {"id": f"{outcome}-{number}", "outcome": outcome, "reasons": [] if outcome == "passed" else ["because of it"]}
        for outcome, count in counts.items()
        for number in range(count)
    ]
    outcome = next((key for key in ("failed", "errored", "inconclusive", "skipped") if counted[key]), "passed")
    return {
        "suite": name,
        "about": f"support/{name}@1.1.0",
        "outcome": outcome,
        "path": f"conformance/{name}.yaml",
        "tally": counted,
        "cases": cases,
    }


def channel(**more: Any) -> dict[str, Any]:
    return {
        "channel": "production",
        "policy": 2,
        "verdict": "refused",
        "exit_code": 3,
        "refs": ["support/refund@1.1.0"],
        "findings": [
            {
                "check": "rule",
                "status": "failed",
                "code": "rule-failed",
                "rule": "REF-1",
                "message": "every refund checks eligibility",
                "differs": "no step calls it",
                "subject": "support/refund@1.1.0",
            }
        ],
        "needs": ["publish support/refund@1.1.0: pawl publish"],
        **more,
    }


def data(**more: Any) -> dict[str, Any]:
    suites = more.pop("suites", [suite("refund", passed=2, failed=1), suite("draft", passed=3)])
    total = tally(**{key: sum(item["tally"][key] for item in suites) for key in tally() if key != "total"})
    return {
        "base": {"ref": "origin/main", "commit": COMMIT},
        "scope": "changed",
        "files": 5,
        "read": 5,
        "unread": 0,
        "procedures": 2,
        "tested": ["support/refund"],
        "new_versions": ["support/refund@1.1.0"],
        "changes": [row()],
        "suites": suites,
        "tally": total,
        "channels": [channel()],
        **more,
    }


def problem(**more: Any) -> Problem:
    return Problem(
        **{
            "code": "bump-too-small",
            "message": "it promises too little",
            "path": "procedures/support/refund.yaml",
            "line": 3,
            "column": 10,
            "hint": "pawl bump support/refund",
            **more,
        }
    )


def report(*problems: Problem, passed: bool = False, **more: Any) -> Report:
    return Report(
        status="passed" if passed else "failed",
        exit_code=0 if passed else 1,
        problems=problems,
        data=data(**more),
    )
