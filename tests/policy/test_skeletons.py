"""The procedures that tests of rules are laid over."""

from __future__ import annotations

import pytest

from pawl.policy.skeletons import KNOWN_KINDS, SKELETONS
from pawl.procedures.kinds import KINDS
from pawl.procedures.read import read_procedure


def test_every_kind_has_one() -> None:
    assert set(KINDS) == set(KNOWN_KINDS)


@pytest.mark.parametrize("kind", KNOWN_KINDS)
def test_it_is_a_valid_procedure(kind: str) -> None:
    assert kind == read_procedure(dict(SKELETONS[kind])).kind
