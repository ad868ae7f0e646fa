"""A release on a detached HEAD is made, and said to be held by no branch."""

from __future__ import annotations

import pytest

from support import FIRST, Shop, git


@pytest.mark.parametrize("detached", [True, False], ids=["detached", "on a branch"])
def test_a_release_that_no_branch_holds_is_told(shop: Shop, detached: bool) -> None:
    if detached:
        git(shop.root, "switch", "-q", "--detach")
    told = ["detached-head"] if detached else []
    shop.adopt()
    for words in (("publish",), ("promote", *FIRST, "--to", "staging", "--reason", "a release")):
        answer = shop.pawl(*words)
        assert shop.codes(answer, "warning") == told
        assert git(shop.root, "status", "--porcelain") == ""
    assert shop.codes(shop.pawl("publish"), "warning") == []


def test_what_is_not_committed_needs_no_branch(shop: Shop) -> None:
    git(shop.root, "switch", "-q", "--detach")
    assert "detached-head" not in shop.codes(shop.pawl("publish", "--no-commit"), "warning")
