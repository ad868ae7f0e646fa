"""An index that can be asked no more: what it said is said by the fold of the journal's files, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pawl.ids import REGISTRY_JOURNAL
from pawl.io.memory import Lost
from pawl.registry.catalog import fold_registry
from pawl.workspace import Workspace
from pawl.workspace.index_rows import Source
from pawl.workspace.index_states import catalog_from
from support import Shop, story


def test_policies_are_found_by_their_numbers_when_the_index_is_lost_between_two_questions(plain_shop: Shop) -> None:
    plain_shop.adopt()
    plain_shop.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
    plain_shop.second()
    plain_shop.adopt("eligibility")
    folded = fold_registry(Workspace(plain_shop.root).journal(REGISTRY_JOURNAL))
    answers: list[Sequence[tuple[Any, ...]]] = [[("1",), ("2",)]]

    def ask(_: str, __: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        if answers:
            return answers.pop()
        raise Lost("the disk is full")

    found = catalog_from(Source(REGISTRY_JOURNAL, folded.head, ask, lambda: folded)).policies
    assert len(found) == 2
    assert [found[0].number, found[1].number, found[-1].number] == [1, 2, 2]
    assert [policy.number for policy in found[:]] == [1, 2]
