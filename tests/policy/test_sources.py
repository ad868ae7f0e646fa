"""Sources put together, frozen, and read back."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import examples
from pawl.canonical import record_bytes
from pawl.errors import Faulty, IntegrityError
from pawl.policy.rule_tests import rule_tests
from pawl.policy.rules import Rule
from pawl.policy.sources import deciding, merge, policy_document, read_policy, rules_from
from policy.make import policy_document_of, rule, rule_document

TESTS = [
    {"procedure": {}, "expect": "denied"},
    {
        "name": "all of it",
        "procedure": {"kind": "tool", "spec": {"effects": None}},
        "expect": "allowed",
        "channel": "staging",
        "action": "rollback",
        "closure": [{"kind": "prompt", "name": "support/draft"}],
        "current": {"version": "0.9.0"},
        "actor": {"name": "Ben", "roles": ["risk"]},
        "now": "2026-12-16",
        "given": {"approvals": [{"by": "cat@example.invalid", "roles": ["risk"]}], "moves": False},
    },
]
FULL = rule_document(
    id="REF-2",
    level="waivable",
    applies={
        "kinds": ["workflow", "tool"],
        "names": ["support/*"],
        "channels": ["production"],
        "actions": ["promote", "resolve"],
        "labels": {"risk": "high", "domain": "refunds"},
    },
    message="Überall.",
    effective_on="2026-12-15T09:00:00+02:00",
    enforce_live=True,
    tests=TESTS,
)


def _source(policy: str, *rules: dict[str, Any]) -> Any:
    return read_policy(policy_document_of(*rules, policy=policy))


def test_sources_come_in_the_order_of_names() -> None:
    one, two = _source("b", rule_document(id="B-2"), rule_document(id="B-1")), _source("a", rule_document(id="A"))
    assert [item.id for item in merge([one, two])] == ["A", "B-2", "B-1"]
    assert policy_document([one, two]) == policy_document([two, one])


def test_no_two_sources_share_a_name_or_a_rule() -> None:
    with pytest.raises(Faulty) as caught:
        merge([_source("a", rule_document(id="X")), _source("a", rule_document(id="x"))])
    assert [fault.code for fault in caught.value.faults] == ["policy-duplicate", "rule-duplicate"]
    with pytest.raises(Faulty):
        policy_document([_source("a", rule_document(id="X")), _source("b", rule_document(id="X"))])


def test_the_frozen_form_reads_back_to_the_same_rules() -> None:
    sources = [_source("refunds", rule_document(id="REF-1"), FULL), _source("house", rule_document(id="OWN-1"))]
    frozen = policy_document(sources)
    again = rules_from(json.loads(record_bytes(frozen)))
    assert merge(sources) == again
    assert [item.id for item in again] == ["OWN-1", "REF-1", "REF-2"]
    assert again[2].effective_on is not None
    assert again[2].effective_on.isoformat() == "2026-12-15T07:00:00+00:00"


def test_examples_are_frozen_and_decide_nothing() -> None:
    bare = {key: value for key, value in FULL.items() if key != "tests"}
    without_tests, with_tests = (policy_document([_source("a", document)]) for document in (bare, FULL))
    assert without_tests != with_tests
    assert deciding(without_tests) == deciding(with_tests) == without_tests
    assert deciding({}) == {}
    (again,) = rules_from(json.loads(record_bytes(with_tests)))
    assert [test.name for test in again.tests] == ["number 1", "all of it"]
    assert again.tests[1].given == {"approvals": [{"by": "cat@example.invalid", "roles": ["risk"]}], "moves": False}


def test_a_policy_of_before_has_no_examples_and_still_reads() -> None:
    bare = {key: value for key, value in FULL.items() if key != "tests"}
    (again,) = rules_from(policy_document([_source("a", bare)]))
    assert again.tests == ()
    assert again == _source("a", FULL).rules[0]


def test_frozen_examples_run_as_those_that_were_written() -> None:
    (written,), (again,) = _source("a", FULL).rules, rules_from(policy_document([_source("a", FULL)]))
    assert rule_tests(written) == rule_tests(again)


def test_an_expression_is_frozen_letter_by_letter() -> None:
    text = "  procedure.owner\n  != ''  // why\n"
    assert rules_from(policy_document([_source("a", rule_document(require=text))]))[0].body == text


words = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
rule_documents = st.fixed_dictionaries(
    {
        "id": st.from_regex(r"[A-Z][A-Z0-9-]{0,5}[0-9]", fullmatch=True),
        "class": st.just("safety"),
        "level": st.sampled_from(["advisory", "waivable", "absolute"]),
        "require": st.sampled_from(["true", "procedure.owner != ''", "channel == 'ü'"]),
    },
    optional={
        "message": st.text(alphabet="ab ü.", min_size=1, max_size=12),
        "effective_on": st.datetimes().map(lambda moment: moment.isoformat() + "Z") | st.dates().map(str),
        "enforce_live": st.booleans(),
        "applies": st.fixed_dictionaries(
            {},
            optional={
                "kinds": st.lists(st.sampled_from(["prompt", "tool", "workflow"]), min_size=1, max_size=3),
                "names": st.lists(words.map(lambda word: word + "/*"), min_size=1, max_size=3),
                "channels": st.lists(words, min_size=1, max_size=2),
                "actions": st.lists(st.sampled_from(["promote", "rollback", "audit"]), min_size=1, max_size=3),
                "labels": st.dictionaries(st.text(max_size=4), st.text(max_size=4), min_size=1, max_size=3),
            },
        ),
    },
)


@examples(20)
@given(st.lists(rule_documents, min_size=1, max_size=4, unique_by=lambda item: str(item["id"]).casefold()))
def test_any_policy_reads_back(rules: list[dict[str, Any]]) -> None:
    source = _source("house", *rules)
    frozen = policy_document([source])
    assert source.rules == rules_from(json.loads(record_bytes(frozen)))


FROZEN = policy_document(
    [_source("refunds", rule_document(id="REF-1"), FULL), _source("house", rule_document(id="OWN-1"))]
)


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*at, key))


PLACES = list(_places(FROZEN))
PUT: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    1.5,
    "",
    "x",
    "A B",
    "**",
    "2026-12-15",
    [],
    ["x"],
    {},
    {"x": "y"},
    [[]],
    [{}],
]


def _changed(at: tuple[Any, ...], change: Any) -> Any:
    """Return the frozen form with the value at a place replaced, or taken away where ``change`` is ``...``."""
    document: Any = copy.deepcopy(FROZEN)
    if not at:
        return None if change is ... else change
    inner = document
    for key in at[:-1]:
        inner = inner[key]
    if change is ...:
        del inner[at[-1]]
    else:
        inner[at[-1]] = change
    return document


@given(at=st.sampled_from(PLACES), change=st.just(...) | st.sampled_from(PUT))
def test_a_changed_form_is_damaged_or_says_exactly_what_it_says(at: tuple[Any, ...], change: Any) -> None:
    """What reads back at all holds nothing that was dropped, added or bent on the way."""
    document = _changed(at, change)
    try:
        rules = rules_from(document)
    except IntegrityError:
        return
    assert rules
    assert [item.id for item in rules] == [item["id"] for policy in document["policies"] for item in policy["rules"]]


DAMAGED: list[tuple[str, tuple[Any, ...], Any]] = [
    ("nothing", (), None),
    ("a list", (), []),
    ("no format", ("format",), ...),
    ("a newer format", ("format",), 2),
    ("format as truth value", ("format",), True),
    ("format as float", ("format",), 1.0),
    ("no policies", ("policies",), []),
    ("a policy without rules", ("policies", 0, "rules"), []),
    ("another field", ("note",), "x"),
    ("another field of a rule", ("policies", 0, "rules", 0, "disabled"), True),
    ("a field of a rule less", ("policies", 0, "rules", 0, "enforce_live"), ...),
    ("two demands", ("policies", 0, "rules", 0, "soak"), {}),
    ("no demand", ("policies", 0, "rules", 0, "require"), ...),
    ("an expression that is no text", ("policies", 0, "rules", 0, "require"), True),
    ("an unknown class", ("policies", 0, "rules", 0, "class"), "none"),
    ("an unknown level", ("policies", 0, "rules", 0, "level"), "off"),
    ("an unknown kind", ("policies", 0, "rules", 0, "applies", "kinds"), ["none"]),
    ("a useless glob", ("policies", 0, "rules", 0, "applies", "names"), ["A"]),
    ("a part less", ("policies", 0, "rules", 0, "applies", "names"), ...),
    ("a part more", ("policies", 0, "rules", 0, "applies", "except"), []),
    ("labels as a list", ("policies", 0, "rules", 0, "applies", "labels"), []),
    ("a moment otherwise written", ("policies", 1, "rules", 1, "effective_on"), "2026-12-15"),
    ("a truth value as number", ("policies", 0, "rules", 0, "enforce_live"), 0),
    ("policies out of order", ("policies", 0, "policy"), "zz"),
    ("two policies of one name", ("policies", 0, "policy"), "refunds"),
    ("a rule twice", ("policies", 0, "rules", 0, "id"), "ref-1"),
    ("no owner", ("policies", 0, "owner"), ""),
]


@pytest.mark.parametrize(("at", "change"), [pytest.param(*row, id=name) for name, *row in DAMAGED])
def test_what_was_never_written_is_damaged(at: tuple[Any, ...], change: Any) -> None:
    with pytest.raises(IntegrityError, match="the adopted policy is damaged") as caught:
        rules_from(_changed(at, change))
    (problem,) = caught.value.problems
    assert problem.code == "policy-damaged"
    assert problem.hint is not None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["format", "policies", "rules", "id"]), inner, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_any_other_value_is_damaged(document: Any) -> None:
    with pytest.raises(IntegrityError):
        rules_from(document)


def test_the_rules_in_force_are_read_without_pydantic() -> None:
    code = (
        "import json, sys; from pawl.policy.sources import rules_from; "
        "rules_from(json.load(sys.stdin)); sys.exit('pydantic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], input=json.dumps(FROZEN), text=True, check=True)


def test_rules_that_decide_the_same_are_equal() -> None:
    one: Rule = rule()
    assert one == rule(tests=TESTS)
    assert hash(one) == hash(rule(tests=TESTS))
    assert one != rule(require="true ")
