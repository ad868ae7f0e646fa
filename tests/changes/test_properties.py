"""Laws of the comparison of schemas, on random schemas and on the changes of known direction that can be made to them.

- Inclusion that is shown is true of every generated instance.
- Every narrowing that has a witness is major as input, and every widening as output.
- ``diff(x, x)`` is empty; what is only written in another way is never more than a patch.
- Every witness is valid under one side and not under the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import examples
from changes.make import highest
from changes.schemas import dice, document, instance, narrowed, respelled
from pawl.changes.effort import Effort
from pawl.changes.forms import Forms
from pawl.changes.inclusion import Inclusion
from pawl.changes.judge import Judge
from pawl.changes.schemas import compare_schemas
from pawl.changes.source import Document
from pawl.changes.values import ABSENT
from pawl.procedures.schema import Validator, compile_schema

SEEDS = st.integers(min_value=0, max_value=2**40)
BUDGET = examples(40)


def validators(*schemas: Any) -> tuple[Validator, ...] | None:
    """Return validators, or None where a random schema is not one at all."""
    try:
        return tuple(compile_schema(schema) for schema in schemas)
    except ValueError:
        return None


def instances(rng: Random, *schemas: Any, count: int = 40) -> Iterator[Any]:
    for schema in schemas:
        for _ in range(count // len(schemas)):
            yield instance(rng, schema, schema)


def only_first(rng: Random, first: Any, second: Any) -> Any:
    """Return an instance of the first schema that is none of the second, or ``ABSENT``."""
    found = validators(first, second)
    for value in instances(rng, first, second) if found is not None else ():
        if found is not None and found[0].is_valid(value) and not found[1].is_valid(value):
            return value
    return ABSENT


def pair(rng: Random, seed: int) -> tuple[Any, Any]:
    """Return two schemas: unrelated, or one made from the other, in either order."""
    first = document(rng)
    second = (document, lambda one: narrowed(one, first), lambda one: respelled(one, first))[seed % 3](rng)
    return (first, second) if seed % 2 else (second, first)


@BUDGET
@given(SEEDS)
def test_inclusion_that_is_shown_holds_for_every_instance(seed: int) -> None:
    rng = dice(seed)
    left, right = pair(rng, seed)
    if validators(left, right) is None:
        return
    inclusion = Inclusion(Forms(Judge(Effort())))
    if inclusion.holds(Document(left).schema, Document(right).schema):
        assert only_first(rng, left, right) is ABSENT


@BUDGET
@given(SEEDS)
def test_a_narrowing_is_major_as_input_and_a_widening_as_output(seed: int) -> None:
    rng = dice(seed)
    wide = document(rng)
    narrow = narrowed(rng, wide)
    if validators(wide, narrow) is None or only_first(rng, wide, narrow) is ABSENT:
        return
    assert "major" == highest(compare_schemas(wide, narrow, side="input"))
    assert "major" == highest(compare_schemas(narrow, wide, side="output"))


@BUDGET
@given(SEEDS)
def test_an_answer_that_was_excluded_is_major(seed: int) -> None:
    rng = dice(seed)
    old, new = pair(rng, seed)
    if validators(old, new) is not None and only_first(rng, new, old) is not ABSENT:
        assert "major" == highest(compare_schemas(old, new, side="output"))


@BUDGET
@given(SEEDS)
def test_what_is_written_in_another_way_is_at_most_a_patch(seed: int) -> None:
    rng = dice(seed)
    old = document(rng)
    new = respelled(rng, old)
    if validators(old, new) is None:
        return
    for side in ("input", "output"):
        assert highest(compare_schemas(old, new, side=side)) in ("none", "patch")


@BUDGET
@given(SEEDS)
def test_there_is_nothing_between_a_schema_and_itself(seed: int) -> None:
    found = document(dice(seed))
    if validators(found) is not None:
        assert () == compare_schemas(found, document(dice(seed)), side="input")


@BUDGET
@given(SEEDS)
def test_witnesses_are_valid_on_one_side_only(seed: int) -> None:
    old, new = pair(dice(seed), seed)
    found = validators(old, new)
    if found is None:
        return
    for change in (*compare_schemas(old, new, side="input"), *compare_schemas(old, new, side="output")):
        if change.proof == "witness":
            assert found[0].is_valid(change.witness) != found[1].is_valid(change.witness)
        elif change.proof == "usage":
            assert found[0].is_valid(change.witness)
        else:
            assert change.witness is ABSENT


@pytest.mark.parametrize("seed", range(3))
def test_the_generator_is_worth_something(seed: int) -> None:
    """At least a hundred instances are really judged, and both answers occur."""
    rng = dice(seed)
    answers: list[bool] = []
    while len(answers) < 400:
        schema = document(rng)
        found = validators(schema)
        if found is not None:
            answers += [found[0].is_valid(value) for value in instances(rng, schema, count=10)]
    assert answers.count(True) >= 100
    assert answers.count(False) >= 40


def test_the_generator_makes_schemas_that_the_validator_reads() -> None:
    rng = dice(7)
    read = [jsonschema_rs.meta.is_valid(document(rng)) for _ in range(100)]
    assert read.count(True) >= 95
