"""What the checks say: the sentence, the code where a check holds, and what to do next."""

from __future__ import annotations

from typing import Any

import pytest

from pawl.policy.evaluator import evaluate
from pawl.policy.verdict import Finding
from policy.situations import ROWS, situation_of

KNOWN = {row["id"]: row for row in ROWS}


def of(name: str, check: str, **fields: Any) -> list[Finding]:
    verdict = evaluate(situation_of({**KNOWN.get(name, {}), "id": name, **fields}))
    return [finding for finding in verdict.findings if finding.check == check]


SAYS: list[tuple[str, str, str, str, str | None]] = [  # situation, check, code, message, hint
    ("all-well", "policy", "policy-adopted", "policy 1 is in force", None),
    (
        *(
            "channel-not-adopted",
            "policy",
            "channel-not-adopted",
            "policy 1 is in force and knows no channel production",
        ),
        'channel settings take effect with: pawl policy adopt --reason "..."',
    ),
    ("order-kept", "order", "channel-order", "a@2.0.0 was live on before", None),
    (
        *("order-skipped", "order", "channel-order", "a@2.0.0 was never live on before"),
        'promote it there first: pawl promote a@2.0.0 --to before --reason "..."',
    ),
    ("all-well", "closure", "closure-complete", "everything that a@2.0.0 requires is pinned with it", None),
    ("all-well-remove", "closure", "closure-complete", "nothing that stays pinned requires a", None),
    (
        *("yanked", "withdrawn", "yanked", "a@2.0.0 is yanked: because"),
        "choose another version",
    ),
    ("deprecated", "withdrawn", "deprecated", "a@2.0.0 is deprecated: because", "plan the move to another version"),
    ("all-well", "evidence", "evidence-passed", "suite s passed on a@2.0.0 (2 cases, run)", None),
    ("suite-failed", "evidence", "evidence-failed", "suite s on a@2.0.0: failed: run", "pawl test a@2.0.0"),
    ("suite-never-ran", "evidence", "evidence-missing", "suite s on a@2.0.0: missing: run", "pawl test a@2.0.0"),
    (
        *("all-well", "tests", "tests-kept"),
        "a@2.0.0 is tested by 1 suites with 2 cases, a@1.0.0 was by 1 with 2",
        None,
    ),
    (
        *("fewer-tests", "tests", "fewer-tests"),
        "a@2.0.0 is tested by 1 suites with 2 cases, a@1.0.0 was by 1 with 3",
        "bring the missing suites or cases back, under whatever name",
    ),
    (
        *("fewer-tests-waived-by-oneself", "tests", "fewer-tests"),
        "a@2.0.0 is tested by 1 suites with 2 cases, a@1.0.0 was by 1 with 3",
        (
            "bring the missing suites or cases back, under whatever name; "
            "waiver 2 does not count: nobody else has approved it"
        ),
    ),
]


@pytest.mark.parametrize(("name", "check", "code", "message", "hint"), SAYS)
def test_what_a_check_says(name: str, check: str, code: str, message: str, hint: str | None) -> None:
    (found,) = of(name, check)
    assert (found.code, found.message, found.hint) == (code, message, hint)


def test_a_requirement_that_is_unmet_says_what_to_do() -> None:
    found = [finding for finding in of("requirement-unmet", "closure") if not finding.holds]
    assert [(finding.code, finding.message, finding.hint) for finding in found] == [
        (
            "requirement-unmet",
            "u@1.0.0 requires a >=1,<2, but a@2.0.0 is pinned",
            "move the set together; --with-requirements proposes it",
        )
    ]


def test_what_is_withdrawn_is_told_once() -> None:
    """Where several procedures require it, too."""
    live, move = {"a": "1.0.0", "u": "1.0.0"}, {"a": "1.5.0"}
    found = of("withdrawn", "withdrawn", live=live, move=move, withdrawn={"a@1.5.0": "deprecated"})
    assert [finding.subject for finding in found] == ["a@1.5.0"]


def test_a_rejection_says_how_and_by_whom() -> None:
    (plain,) = of("rejected", "rejected")
    assert plain.message == (
        "a@2.0.0 was rejected on production by Ada <ada@example.invalid> at 2026-03-01T11:00:00Z: because"
    )
    assert plain.hint == 'fix it in a new version, or: pawl unreject a@2.0.0 --channel production --reason "..."'
    (other,) = of("rejected-under-another-number", "rejected")
    assert other.message.startswith(
        "a@2.0.1 was rejected on production (as a@2.0.0, which has the same content) by Ada"
    )


def test_a_freeze_without_an_end_names_none() -> None:
    (found,) = of("frozen", "frozen")
    assert found.message == ("production is frozen by Ada <ada@example.invalid> since 2026-03-01T11:00:00Z: because")
