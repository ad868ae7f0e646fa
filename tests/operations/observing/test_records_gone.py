"""Journals that are not here though something knows of them: no command says that nothing ever happened."""

from __future__ import annotations

import shutil

import pytest

from support import FIRST, Shop, git

REASON = ("--reason", "r")
READERS = [
    ("status",),
    ("history", "staging"),
    ("list",),
    ("audit",),
    ("check",),
    ("show", "support/refund"),
    ("diff", "support/refund"),
    ("targets", "support/refund", "--channel", "staging"),
    ("why", FIRST[0], "--channel", "staging"),
    ("promote", *FIRST, "--to", "staging", *REASON),
    ("rollback", "support/refund", "--channel", "staging", *REASON),
    ("halt", "support/refund", "--channel", "staging", *REASON),
    ("publish", "--dry-run"),
    ("policy", "plan"),
    ("resolve", "support/refund", "--channel", "staging"),
    ("verify",),
]
GONE = ["releases", "releases/registry", "releases/staging"]


@pytest.fixture
def staged(plain_shop: Shop) -> Shop:
    """A workspace outside of Git: what is in it alone tells of its journals."""
    plain_shop.publish_first()
    plain_shop.promote(*FIRST, to="staging")
    return plain_shop


@pytest.mark.parametrize("gone", GONE)
def test_every_command_says_that_a_journal_is_not_here(staged: Shop, gone: str) -> None:
    shutil.rmtree(staged.root / gone)
    before = staged.files()
    for words in READERS:
        answer = staged.pawl(*words, code=6)
        assert {"journal-damaged", "journal-truncated", "projection-damaged"} & set(staged.codes(answer)), words
    assert staged.files() == before


def test_it_is_said_how_to_get_the_records_back(staged: Shop) -> None:
    shutil.rmtree(staged.root / "releases")
    (problem,) = staged.pawl("status", code=6)["problems"]
    assert ("journal-damaged", "releases/staging/000001.json") == (problem["code"], problem["path"])
    assert "registry/channels/staging.json is there" in problem["message"]
    assert "git restore --source=HEAD --staged --worktree releases registry" in problem["hint"]
    assert "git sparse-checkout add releases" in problem["hint"]


def test_the_hint_helps_in_a_checkout_without_records(shop: Shop) -> None:
    shop.publish_first()
    shop.promote(*FIRST, to="staging")
    git(shop.root, "update-index", "-q", "--refresh")  # of a kept set-up, what was copied may seem changed, and stays
    git(shop.root, "sparse-checkout", "set", "--cone", "procedures", "registry", "conformance")
    assert not (shop.root / "releases").exists()
    shop.pawl("status", code=6)
    git(shop.root, "sparse-checkout", "add", "releases")
    shop.pawl("status")


@pytest.mark.parametrize("gone", ["releases", "releases/staging"])
def test_a_list_that_was_kept_before_the_records_is_not_shown(plain_shop: Shop, gone: str) -> None:
    if gone == "releases":
        assert [] == plain_shop.pawl("list")["procedures"]
    plain_shop.publish_first()
    if gone != "releases":
        plain_shop.pawl("list")
    plain_shop.promote(*FIRST, to="staging")
    shutil.rmtree(plain_shop.root / gone)
    plain_shop.pawl("list", code=6)


def test_where_nothing_was_promoted_the_last_commit_knows_of_the_registry(shop: Shop) -> None:
    shop.publish_first()
    shutil.rmtree(shop.root / "releases")
    for words in (("status",), ("list",), ("check",), ("show", "support/refund")):
        (problem, *_) = shop.pawl(*words, code=6)["problems"]
        assert ("journal-damaged", "releases/registry/000001.json") == (problem["code"], problem["path"])
    git(shop.root, "restore", "--source=HEAD", "--staged", "--worktree", "releases", "registry")
    shop.pawl("status")


def test_frozen_versions_of_a_publish_that_was_stopped_before_its_record_are_no_damage(shop: Shop) -> None:
    """Neither the workspace nor Git knows of a record, so there was none."""
    shop.write("registry/versions/support/refund-draft/1.0.0.yaml", shop.read("procedures/support/refund-draft.yaml"))
    assert 0 == shop.pawl("status")["published"]
    shop.pawl("check")
    shop.publish_first()
    shop.pawl("verify")


def test_a_freeze_before_the_first_policy_needs_no_registry(plain_shop: Shop) -> None:
    plain_shop.pawl("freeze", "staging", "--until", "2999-01-01T00:00:00Z", *REASON)
    assert not (plain_shop.root / "releases/registry").exists()
    for words in (("status",), ("list",), ("audit",), ("history", "staging")):
        plain_shop.pawl(*words)
