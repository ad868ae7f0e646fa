"""What serves a pin without rules asks three checks, and answers as the evaluator does with all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pawl.policy.evaluator import evaluate
from pawl.policy.served import may_watch, served_verdict
from policy.situations import ROWS, situation_of


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
@pytest.mark.parametrize("detail", [False, True])
def test_every_pin_of_the_table_is_served_as_the_evaluator_says(row: dict[str, Any], detail: bool) -> None:
    told = situation_of(row)
    situation = replace(told, action="resolve", rules=(), moves={}, subjects=tuple(told.state.pins), detail=detail)
    assert served_verdict(situation) == evaluate(situation)


def test_any_other_situation_is_refused() -> None:
    asked = next(situation for row in ROWS if (situation := situation_of(row)).rules)
    for situation in (asked, replace(asked, action="resolve"), replace(asked, rules=())):
        with pytest.raises(ValueError, match="without rules"):
            served_verdict(situation)


@pytest.mark.parametrize(
    ("rules", "may"),
    [
        ([], False),
        ([{"enforce_live": False}, {"enforce_live": False, "id": "x"}], False),
        ([{"enforce_live": False}, {"enforce_live": True}], True),
        ([{}], True),
        ([{"enforce_live": None}], True),
        ([{"enforce_live": 0}], True),
        (["rule"], True),
    ],
)
def test_rules_are_left_unread_only_where_each_says_that_it_does_not_watch(rules: list[Any], may: bool) -> None:
    assert may_watch({"policies": [{"rules": rules}]}) == may


@pytest.mark.parametrize("document", [None, {}, {"policies": None}, {"policies": [1]}, []])
def test_what_is_no_frozen_policy_is_for_its_reader(document: Any) -> None:
    assert may_watch(document)
