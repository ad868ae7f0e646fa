"""Diff through the real command line: between versions, the work tree and Git revisions, and whom changes concern."""

from __future__ import annotations

from typing import Any

import pytest

from support import Shop, git, story

DRAFT = "support/refund-draft"
REFUND = "support/refund"
CHECK = "support/check-eligibility"
FILE = f"procedures/{DRAFT}.yaml"


@pytest.fixture
def live(released: Shop) -> Shop:
    """Both versions of the story are released; the work tree is as it was published."""
    released.release_second()
    released.reach(commit)
    return released


def commit(shop: Shop) -> None:
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-q", "-m", "next")


def narrow(shop: Shop, version: str) -> None:
    """Take amounts below 1 away from callers."""
    shop.edit(FILE, ("amount: {type: number}", "amount: {type: number, minimum: 1}"), ("version: 1.0.0", version))


def ends(row: dict[str, Any]) -> tuple[str | None, str | None]:
    return tuple(side and side["version"] for side in (row["from"], row["to"]))


def states(answer: dict[str, Any]) -> dict[str, str]:
    return {row["name"]: row["state"] for row in answer["procedures"]}


def test_between_two_published_versions(live: Shop) -> None:
    answer = live.pawl("diff", f"{REFUND}@1.0.0", f"{REFUND}@2.0.0")
    assert (answer["state"], ends(answer), answer["required"]) == ("changed", ("1.0.0", "2.0.0"), "major")
    assert (answer["smallest"], answer["enough"], answer["base"]) == ("2.0.0", True, None)
    assert {change["code"] for change in answer["changes"]} >= {"outcome-added", "requires-added", "step-added"}
    assert answer["to"]["where"] == f"{REFUND}@2.0.0"


def test_a_look_back_asks_for_no_number(live: Shop) -> None:
    answer = live.pawl("diff", f"{REFUND}@2.0.0", f"{REFUND}@1.0.0")
    assert (answer["required"], answer["smallest"], answer["enough"]) == ("major", None, None)


def test_a_bare_first_name_is_the_version_before(live: Shop) -> None:
    assert ends(live.pawl("diff", REFUND, f"{REFUND}@2.0.0")) == ("1.0.0", "2.0.0")
    assert live.codes(live.pawl("diff", DRAFT, f"{DRAFT}@1.0.0", code=1)) == ["name-unknown"]


@pytest.mark.parametrize(
    ("version", "enough"), [("1.0.1", False), ("1.1.0", False), ("2.0.0", True), ("2.0.0rc1", True), ("7.0.0", True)]
)
def test_the_number_in_the_file_is_judged(live: Shop, version: str, enough: bool) -> None:
    narrow(live, f"version: {version}")
    answer = live.pawl("diff", DRAFT)
    assert (answer["required"], answer["smallest"], answer["enough"]) == ("major", "2.0.0", enough)


def test_a_file_follows_the_version_below_it(live: Shop) -> None:
    """A late 1.0.1 is compared with 1.0.0 and not with 2.0.0; a revoked version is no ground to stand on."""
    path = f"procedures/{REFUND}.yaml"
    second = live.read(path)
    live.write(path, story("refund-1.yaml").replace("1.0.0", "1.0.1"))
    assert ends(live.pawl("diff", REFUND)) == ("1.0.0", "1.0.1")
    live.write(path, second.replace("2.0.0", "3.0.0"))
    assert ends(live.pawl("diff", REFUND)) == ("2.0.0", "3.0.0")
    live.pawl("revoke", f"{REFUND}@2.0.0", "--reason", "leaks")
    assert ends(live.pawl("diff", REFUND)) == ("1.0.0", "3.0.0")


def test_without_a_name_it_is_all_that_differs_from_what_is_published(live: Shop) -> None:
    answer = live.pawl("diff")
    assert (answer["status"], answer["procedures"], answer["required"]) == ("unchanged", [], "none")
    live.edit(FILE, ("kind: prompt", "# a comment\nkind: prompt"))
    assert live.pawl("diff")["procedures"] == []
    narrow(live, "version: 1.1.0")
    live.write("procedures/fresh.yaml", live.read(FILE).replace(DRAFT, "fresh"))
    answer = live.pawl("diff")
    assert states(answer) == {"fresh": "added", DRAFT: "changed"}
    assert (answer["status"], answer["required"]) == ("done", "major")
    assert [row["enough"] for row in answer["procedures"]] == [None, False]


def test_with_a_base_it_is_all_that_differs_from_there(shop: Shop) -> None:
    shop.write("procedures/gone.yaml", shop.read(FILE).replace(DRAFT, "gone"))
    commit(shop)
    (shop.root / "procedures/gone.yaml").unlink()
    shop.second()
    answer = shop.pawl("diff", "--base", "HEAD")
    assert states(answer) == {"gone": "removed", CHECK: "added", REFUND: "changed"}
    assert answer["base"] == {"ref": "HEAD", "commit": git(shop.root, "rev-parse", "HEAD").strip()}
    assert answer["required"] == "major"
    commit(shop)
    assert shop.pawl("diff", "--base", "HEAD")["status"] == "unchanged"


def test_one_name_with_a_base(shop: Shop) -> None:
    shop.second()
    answer = shop.pawl("diff", REFUND, "--base", "HEAD")
    assert (answer["state"], ends(answer)) == ("changed", ("1.0.0", "2.0.0"))
    assert answer["from"]["where"] == f"{REFUND} at HEAD"
    assert shop.pawl("diff", CHECK, "--base", "HEAD")["state"] == "added"
    assert shop.pawl("diff", DRAFT, "--base", "HEAD")["state"] == "same"
    (shop.root / FILE).unlink()
    assert shop.pawl("diff", DRAFT, "--base", "HEAD")["state"] == "removed"
    assert shop.codes(shop.pawl("diff", "no/such", "--base", "HEAD", code=1)) == ["name-unknown"]


def test_what_nobody_relies_on_asks_for_no_number(shop: Shop) -> None:
    """A version that is not published can change under its number."""
    narrow(shop, "version: 1.0.0")
    answer = shop.pawl("diff", DRAFT, "--base", "HEAD")
    assert (answer["required"], answer["smallest"], answer["enough"]) == ("major", None, None)


def test_a_published_version_against_a_revision(live: Shop) -> None:
    narrow(live, "version: 1.5.0")
    commit(live)
    answer = live.pawl("diff", f"{DRAFT}@1.0.0", "--base", "HEAD")
    assert (ends(answer), answer["required"]) == (("1.5.0", "1.0.0"), "minor")


def test_a_published_left_side_at_a_revision_asks_for_a_number(live: Shop) -> None:
    narrow(live, "version: 1.1.0")
    answer = live.pawl("diff", DRAFT, "--base", "HEAD")
    assert (answer["smallest"], answer["enough"]) == ("2.0.0", False)


def test_who_is_affected(live: Shop) -> None:
    answer = live.pawl("diff", DRAFT)
    assert answer["pinned"] == [{"channel": name, "version": "1.0.0"} for name in ("production", "staging")]
    narrow(live, "version: 2.0.0")
    users = live.pawl("diff", DRAFT)["used_by"]
    assert users == [
        {
            "channel": channel,
            "kind": "workflow",
            "ref": f"{REFUND}@2.0.0",
            "requires": ">=1,<2",
            "through": [],
            "still_met": False,
        }
        for channel in ("production", "staging")
    ]
    live.edit(FILE, ("version: 2.0.0", "version: 1.9.9"))
    assert [user["still_met"] for user in live.pawl("diff", DRAFT)["used_by"]] == [True, True]


def test_who_is_affected_through_others(live: Shop) -> None:
    outer = """kind: workflow
name: outer
version: 1.0.0
owner: payments
requires: {support/refund: ">=2"}
spec:
  inputs: {type: object, properties: {order_id: {type: string}, amount: {type: number}}, required: [order_id, amount]}
  steps:
    - id: refund
      workflow: support/refund
      with: {order_id: "${{ inputs.order_id }}", amount: "${{ inputs.amount }}"}
      then: done
    - {id: done, end: {outcome: done}}
  budget: {max_steps: 3}
"""
    live.write("procedures/outer.yaml", outer)
    given = "{refund: {outcome: drafted, output: null}}"
    live.write(
        "conformance/outer.yaml",
        "suite: outer\nabout: outer\ncases:\n  - id: it-ends\n    inputs: {order_id: A1, amount: 2}\n"
        f"    given: {given}\n    assert: [{{type: outcome, value: done}}]\n",
    )
    live.pawl("publish")
    live.promote("outer@1.0.0", to="staging")
    narrow(live, "version: 2.0.0")
    rows = [row for row in live.pawl("diff", DRAFT)["used_by"] if row["ref"] == "outer@1.0.0"]
    assert rows == [
        {
            "channel": "staging",
            "kind": "workflow",
            "ref": "outer@1.0.0",
            "requires": None,
            "through": [f"{REFUND}@2.0.0"],
            "still_met": False,
        }
    ]


@pytest.mark.parametrize("base", [[], ["--base", "HEAD"]])
def test_a_file_that_does_not_read_is_an_error_beside_the_others(live: Shop, base: list[str]) -> None:
    narrow(live, "version: 2.0.0")
    live.write("procedures/broken.yaml", "kind: prompt\nkind: tool\n")
    live.write("procedures/other.yaml", live.read(FILE))
    answer = live.pawl("diff", *base, code=1)
    assert live.codes(answer) == ["duplicate-key", "name-not-path"]
    assert states(answer) == {DRAFT: "changed"}


def test_a_file_that_does_not_read_at_the_base_is_named_with_it(shop: Shop) -> None:
    good = shop.read(FILE)
    shop.write(FILE, "kind: prompt\nkind: tool\n")
    commit(shop)
    shop.write(FILE, good)
    shop.edit(f"procedures/{REFUND}.yaml", ("From a", "From one"))
    answer = shop.pawl("diff", "--base", "HEAD", code=1)
    assert [(problem["code"], problem["path"]) for problem in answer["problems"]] == [("duplicate-key", f"HEAD:{FILE}")]
    assert states(answer) == {REFUND: "changed"}
    assert shop.codes(shop.pawl("diff", DRAFT, "--base", "HEAD", code=1)) == ["duplicate-key"]


def test_a_file_under_another_name_is_refused(live: Shop) -> None:
    live.edit(FILE, (f"name: {DRAFT}", "name: support/other"))
    assert live.codes(live.pawl("diff", DRAFT, code=1)) == ["name-not-path"]


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        ((DRAFT, DRAFT, "--base", "HEAD"), 2, "base-and-names"),
        ((DRAFT, REFUND), 2, "names-differ"),
        (("no/such",), 1, "name-unknown"),
        ((f"{DRAFT}@9.9.9",), 1, "version-unknown"),
        (("--base", "no-such-branch"), 1, "unknown-revision"),
        ((DRAFT, "--base", "--output=x"), 1, "unknown-revision"),
        (("--base", ""), 1, "unknown-revision"),
        ((DRAFT, "--base", ""), 1, "unknown-revision"),
        ((DRAFT, DRAFT, "--base", ""), 2, "base-and-names"),
    ],
)
def test_wrong_words(live: Shop, words: tuple[str, ...], code: int, problem: str) -> None:
    assert live.codes(live.pawl("diff", *words, code=code)) == [problem]
