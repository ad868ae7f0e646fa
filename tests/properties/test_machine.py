"""Random lives against a naive model, a few on each run and many on request; what they hold is in ``lives``."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from pawl.ids import Ref, Version, parse_ref
from properties.governed_lives import GovernedLives
from properties.lives import Lives
from properties.lives_model import NAMES, REFS


def live(machine: type[RuleBasedStateMachine], *, examples: int, steps: int) -> None:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    chosen = settings(max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=slow)
    run_state_machine_as_test(machine, settings=chosen)


def test_a_few_short_lives() -> None:
    live(Lives, examples=4, steps=25)


def test_a_few_governed_lives() -> None:
    live(GovernedLives, examples=4, steps=30)


@pytest.mark.slow
@pytest.mark.parametrize("machine", [Lives, GovernedLives])
def test_many_long_lives(machine: type[RuleBasedStateMachine]) -> None:
    live(machine, examples=int(os.environ.get("PAWL_LIVES", "12")), steps=50)


def test_the_refs_are_what_they_say() -> None:
    assert [str(parse_ref(ref)) for ref in REFS] == list(REFS)
    assert Ref(NAMES[0], Version("1.0.0")) == parse_ref(REFS[0])
