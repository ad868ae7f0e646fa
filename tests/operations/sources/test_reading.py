"""What the work tree's files are told where they stand in the wrong place, twice, or do not read."""

from __future__ import annotations

from typing import Any

import pytest

from support import Shop

DRAFT = "procedures/support/refund-draft.yaml"
REFUND = "procedures/support/refund.yaml"
SUITE = "conformance/refund.yaml"


def problems(shop: Shop, *codes: str) -> list[dict[str, Any]]:
    return [problem for problem in shop.pawl("check", code=1)["problems"] if problem["code"] in codes]


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("Support/refund-draft", "move the file to procedures/support/refund-draft.yaml"),
        ("support/refund draft", "move the file to procedures/support/refund-draft.yaml"),
        ("support/draft", "write name: support/draft, or move the file to procedures/support/refund-draft.yaml"),
    ],
)
def test_a_name_is_only_proposed_where_it_can_be_one(plain_shop: Shop, path: str, hint: str) -> None:
    text = plain_shop.read(DRAFT)
    (plain_shop.root / DRAFT).unlink()
    plain_shop.write(f"procedures/{path}.yaml", text)
    assert [problem["hint"] for problem in problems(plain_shop, "name-not-path")] == [hint]


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("conformance/again.yaml", SUITE),
        ("conformance/second.yaml", "conformance/second.yaml"),
        ("conformance/deep/again.yaml", SUITE),
        ("conformance/zoo/again.yaml", "conformance/zoo/again.yaml"),
    ],
)
def test_a_suite_that_stands_twice_is_told_at_the_later_path_with_both(plain_shop: Shop, other: str, told: str) -> None:
    plain_shop.write(other, plain_shop.read(SUITE))
    (problem,) = problems(plain_shop, "suite-name-twice")
    assert problem["path"] == told
    assert other in problem["message"]
    assert SUITE in problem["message"]


@pytest.mark.parametrize("specifier", [">=1,<2", ">=2"])
def test_what_does_not_read_is_not_said_to_be_missing(plain_shop: Shop, specifier: str) -> None:
    plain_shop.edit(REFUND, (">=1,<2", specifier))
    plain_shop.write(DRAFT, "kind: prompt\nkind: tool\n")
    told = problems(plain_shop, "requirement-unknown", "requirement-unmet", "duplicate-key")
    assert [(problem["code"], problem["path"]) for problem in told] == [("duplicate-key", DRAFT)]
    (plain_shop.root / DRAFT).unlink()
    told = problems(plain_shop, "requirement-unknown", "requirement-unmet")
    assert [(problem["code"], problem["path"]) for problem in told] == [("requirement-unknown", REFUND)]


def test_what_does_not_read_may_meet_what_nothing_published_does(plain_shop: Shop) -> None:
    plain_shop.publish_first()
    plain_shop.edit(REFUND, (">=1,<2", ">=2"), ("version: 1.0.0", "version: 2.0.0"))
    assert [problem["path"] for problem in problems(plain_shop, "requirement-unmet")] == [REFUND]
    plain_shop.write(DRAFT, "kind: prompt\nkind: tool\n")
    assert problems(plain_shop, "requirement-unmet") == []
