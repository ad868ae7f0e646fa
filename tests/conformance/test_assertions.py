"""Assertions: a table of types with what holds and what does not, and the laws of ``not-``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.make import assertion
from pawl.conformance import matching
from pawl.conformance.assertions import ASSERTIONS, NOT_RUN, Observed, check
from pawl.conformance.outcomes import Outcome
from pawl.conformance.plain import ABSENT
from support import soon

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@dataclass(frozen=True)
class Call:
    step: str
    kind: str
    name: str
    arguments: Any


CALLS = (
    Call("look", "tool", "shop/look", {"id": "A1", "deep": {"x": 1, "y": 2}}),
    Call("draft", "prompt", "shop/draft", {}),
    Call("send", "tool", "shop/send", {"id": "A1"}),
)

# type, value, what is seen, whether it holds
SUBJECTS: list[tuple[str, Any, Any, bool]] = [
    ("equals", "abc", "abc", True),
    ("equals", "abc", "abd", False),
    ("equals", 1, 1.0, True),
    ("equals", 1, True, False),
    ("equals", True, True, True),
    ("equals", None, None, True),
    ("equals", None, False, False),
    ("equals", "1", 1, False),
    ("equals", {"a": [1, 2]}, {"a": [1, 2]}, True),
    ("equals", {"a": [1, 2]}, {"a": [2, 1]}, False),
    ("equals", {"a": 1}, {"a": 1, "b": 2}, False),
    ("equals", {"a": 1}, '{"a": 1.0}', True),
    ("equals", {"a": 1}, "no json", False),
    ("equals", [1], "[1]", True),
    ("contains", "b", "abc", True),
    ("contains", "B", "abc", False),
    ("contains", '"a":1', {"a": 1}, True),
    ("contains", "é", {"a": "é"}, True),
    ("icontains", "B", "abc", True),
    ("icontains", "x", "abc", False),
    ("contains-all", ["a", "c"], "abc", True),
    ("contains-all", ["a", "x"], "abc", False),
    ("contains-any", ["x", "c"], "abc", True),
    ("contains-any", ["x", "y"], "abc", False),
    ("icontains-all", ["A", "C"], "abc", True),
    ("icontains-all", ["A", "X"], "abc", False),
    ("icontains-any", ["X", "C"], "abc", True),
    ("icontains-any", ["X"], "abc", False),
    ("starts-with", "ab", "abc", True),
    ("starts-with", "bc", "abc", False),
    ("regex", "^b", "a\nb", False),
    ("regex", "b+c$", "abbc", True),
    ("regex", r"^\d+$", "\u0661", False),
    ("regex", "^a$", "a\n", False),
    ("regex", "(?<word>b)", "abc", True),
    ("is-json", ABSENT, '{"a": 1}', True),
    ("is-json", ABSENT, "{'a': 1}", False),
    ("is-json", ABSENT, '{"a": 1, "a": 2}', False),
    ("is-json", ABSENT, "NaN", False),
    ("is-json", ABSENT, '"\\ud83d\\ude00"', True),
    ("is-json", ABSENT, '"\\ud83d"', False),
    ("is-json", ABSENT, "[" * 100 + "]" * 100, False),
    ("is-json", SCHEMA, '{"a": 1}', True),
    ("is-json", SCHEMA, '{"a": "x"}', False),
    ("is-json", SCHEMA, {"a": 1}, True),
    ("is-json", SCHEMA, {"b": 1}, False),
    ("contains-json", ABSENT, 'so: {"a": 1} it is', True),
    ("contains-json", ABSENT, "so: [1, 2}", False),
    ("contains-json", SCHEMA, 'first [1], then {"a": 1}', True),
    ("contains-json", SCHEMA, '{"b": {"a": 1}}', False),
    ("contains-json", SCHEMA, "nothing", False),
    ("levenshtein", "kitten", "sitting", True),
    ("levenshtein", "kitten", "completely other", False),
    ("word-count", 2, "two  words", True),
    ("word-count", 3, "two words", False),
    ("word-count", {"min": 1, "max": 2}, "two words", True),
    ("word-count", {"max": 1}, "two words", False),
]

# type, value, whether it holds for CALLS
TRAJECTORIES: list[tuple[str, Any, bool]] = [
    ("trajectory:tool-used", "shop/look", True),
    ("trajectory:tool-used", ["shop/look", "shop/send"], True),
    ("trajectory:tool-used", "shop/draft", False),
    ("trajectory:tool-sequence", ["shop/look", "shop/send"], True),
    ("trajectory:tool-sequence", ["shop/send", "shop/look"], False),
    ("trajectory:tool-sequence", ["shop/send"], True),
    ("trajectory:tool-sequence", {"steps": ["shop/send"], "mode": "exact"}, False),
    ("trajectory:tool-sequence", {"steps": ["shop/look", "shop/send"], "mode": "exact"}, True),
    ("trajectory:tool-args-match", {"name": "shop/look", "args": {"deep": {"x": 1}}}, True),
    ("trajectory:tool-args-match", {"name": "shop/look", "args": {"deep": {"x": 1}}, "mode": "exact"}, False),
    ("trajectory:tool-args-match", {"name": "shop/send", "arguments": {"id": "A1"}, "mode": "exact"}, True),
    ("trajectory:tool-args-match", {"name": "shop/other", "args": {}}, False),
    ("trajectory:step-count", 3, True),
    ("trajectory:step-count", {"max": 2}, False),
]


def outcome_of(name: str, value: Any, observed: Observed, **fields: Any) -> Outcome:
    return check(assertion(name, value, **fields), observed).outcome


@pytest.mark.parametrize(("name", "value", "seen", "holds"), SUBJECTS)
def test_assertions_on_a_subject(name: str, value: Any, seen: Any, holds: bool) -> None:
    observed = Observed(accepted=True, subject=seen)

    assert outcome_of(name, value, observed) == ("passed" if holds else "failed")
    assert outcome_of(f"not-{name}", value, observed) == ("failed" if holds else "passed")


@pytest.mark.parametrize(("name", "value", "holds"), TRAJECTORIES)
def test_assertions_on_calls(name: str, value: Any, holds: bool) -> None:
    observed = Observed(accepted=True, calls=CALLS)

    assert ASSERTIONS[name].value(value) is None
    assert outcome_of(name, value, observed) == ("passed" if holds else "failed")
    assert outcome_of(f"not-{name}", value, observed) == ("failed" if holds else "passed")


def test_every_type_has_a_row_in_the_tables() -> None:
    shown = {name for name, *_ in SUBJECTS} | {name for name, *_ in TRAJECTORIES}

    assert shown | {"accepted", "rejected", "outcome", "path"} == set(ASSERTIONS)


def test_outcome_and_path() -> None:
    observed = Observed(accepted=True, outcome="denied", path=("eligibility", "denied"))

    assert outcome_of("outcome", "denied", observed) == "passed"
    assert outcome_of("outcome", "drafted", observed) == "failed"
    assert outcome_of("path", ["eligibility", "denied"], observed) == "passed"
    assert outcome_of("path", ["eligibility"], observed) == "failed"
    assert "it goes eligibility > denied" in str(check(assertion("path", ["denied"]), observed).reason)


def test_accepted_and_rejected() -> None:
    yes, no = Observed(accepted=True, subject="x"), Observed(accepted=False, refusals=("order_id is missing",))

    assert [outcome_of(name, ABSENT, yes) for name in ("accepted", "rejected")] == ["passed", "failed"]
    assert [outcome_of(name, ABSENT, no) for name in ("accepted", "rejected")] == ["failed", "passed"]
    assert "order_id is missing" in str(check(assertion("accepted"), no).reason)


@pytest.mark.parametrize("name", sorted(set(ASSERTIONS) - {"accepted", "rejected"}))
@pytest.mark.parametrize(
    "observed",
    [
        Observed(accepted=False, refusals=("no",), subject="x", outcome="x", path=("x",), calls=()),
        Observed(accepted=True, missing="it was not run"),
    ],
)
def test_where_there_is_nothing_to_look_at_neither_form_passes(name: str, observed: Observed) -> None:
    value = next((row[1] for row in (*SUBJECTS, *TRAJECTORIES) if row[0] == name), "x")

    assert [outcome_of(form, value, observed) for form in (name, f"not-{name}")] == ["failed", "failed"]


@pytest.mark.parametrize("name", sorted(NOT_RUN))
def test_what_is_not_run_is_inconclusive_in_both_forms(name: str) -> None:
    observed = Observed(accepted=True, subject="x")
    results = [check(assertion(form, "x"), observed) for form in (name, f"not-{name}")]

    assert [result.outcome for result in results] == ["inconclusive", "inconclusive"]
    assert all(result.reason for result in results)


MESSAGES = (
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Refund A1."},
    {"role": "user", "content": "Now."},
)


@pytest.mark.parametrize(
    ("name", "value", "fields", "expected"),
    [
        ("equals", "Be kind.\nRefund A1.\nNow.", {}, "passed"),
        ("contains", "kind.\nRefund", {}, "passed"),
        ("contains", "kind", {"role": "user"}, "failed"),
        ("not-contains", "kind", {"role": "user"}, "passed"),
        ("equals", "Refund A1.\nNow.", {"role": "user"}, "passed"),
        ("equals", "Now.", {"message": -1}, "passed"),
        ("equals", "Be kind.", {"message": -3}, "passed"),
        ("equals", "Refund A1.", {"role": "user", "message": 0}, "passed"),
        ("contains", "x", {"message": 3}, "failed"),
        ("not-contains", "x", {"message": 3}, "failed"),
        ("not-contains", "x", {"message": -4}, "failed"),
        ("not-contains", "x", {"role": "tool"}, "failed"),
        ("equals", [{"role": "system", "content": "Be kind."}], {"role": "system"}, "passed"),
        ("equals", [{"role": "user", "content": "Be kind."}], {"role": "system"}, "failed"),
    ],
)
def test_messages_are_joined_and_can_be_chosen(name: str, value: Any, fields: dict[str, Any], expected: str) -> None:
    assert outcome_of(name, value, Observed(accepted=True, messages=MESSAGES), **fields) == expected


def test_choosing_messages_where_there_are_none_fails_in_both_forms() -> None:
    observed = Observed(accepted=True, subject="an answer")

    assert outcome_of("contains", "answer", observed, role="user") == "failed"
    assert outcome_of("not-contains", "x", observed, message=0) == "failed"


@pytest.mark.parametrize(
    ("name", "value", "seen"),
    [
        ("contains", "x", 2**60),
        ("contains-json", ABSENT, "{" * (matching.MAX_JSON_STARTS + 1)),
        ("levenshtein", "ab" * 5_000, "ba" * 5_000),
        ("contains", "x", "y" * (matching.MAX_TEXT + 1)),
    ],
)
def test_what_cannot_be_judged_is_errored_in_both_forms(name: str, value: Any, seen: Any) -> None:
    observed = Observed(accepted=True, subject=seen)
    threshold = 4_000 if name == "levenshtein" else None
    results = [outcome_of(form, value, observed, threshold=threshold) for form in (name, f"not-{name}")]

    assert results == ["errored", "errored"]


def test_no_pattern_and_no_text_is_slow() -> None:
    observed = Observed(accepted=True, subject="a" * 200_000 + "b")
    patterns = ("(a+)+$", "^(a|a)*c$", "(.*)*x", "^(([a-z])+.)+[A-Z]$")
    with soon():
        found = [outcome_of("regex", pattern, observed) for pattern in patterns]

    assert found == ["failed"] * 4


@pytest.mark.parametrize("text", ["[" * 100_000, '{"' * 100_000, '["' * 100_000, '{"a":' * 50_000])
def test_no_text_makes_looking_for_json_slow(text: str) -> None:
    with soon():
        assert outcome_of("contains-json", ABSENT, Observed(accepted=True, subject=text)) in {"failed", "errored"}


def distance(left: str, right: str) -> int:
    """The edit distance, by its definition."""
    row = list(range(len(right) + 1))
    for line, sign in enumerate(left, start=1):
        fresh = [line]
        for column, other in enumerate(right, start=1):
            fresh.append(min(row[column] + 1, fresh[-1] + 1, row[column - 1] + (sign != other)))
        row = fresh
    return row[-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12), st.integers(0, 8))
def test_levenshtein_is_the_edit_distance(left: str, right: str, threshold: int) -> None:
    observed = Observed(accepted=True, subject=right)

    assert (outcome_of("levenshtein", left, observed, threshold=threshold) == "passed") == (
        distance(left, right) <= threshold
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-2, 2) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)
values_by_type = {name: value for name, value, *_ in SUBJECTS}


@given(st.sampled_from(sorted(values_by_type)), json_values)
def test_not_turns_round_every_answer_and_only_answers(name: str, seen: Any) -> None:
    observed = Observed(accepted=True, subject=seen)
    pair = {outcome_of(form, values_by_type[name], observed) for form in (name, f"not-{name}")}

    assert pair in ({"passed", "failed"}, {"errored"})


@given(json_values)
def test_every_value_equals_itself(value: Any) -> None:
    assert outcome_of("equals", value, Observed(accepted=True, subject=value)) == "passed"
