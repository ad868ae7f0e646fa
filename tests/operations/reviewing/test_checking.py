"""Check on a pull request: what is tested and compared, what channels would say, what was tampered with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pawl.canonical import sha256
from support import FIRST, SECOND, Shop, git, in_process

REFUND = "procedures/support/refund.yaml"
DRAFT = "procedures/support/refund-draft.yaml"


@pytest.fixture
def branch(released: Shop) -> Shop:
    """Version 2 released everywhere and checked in on main; HEAD is on a branch that left it there."""
    released.release_second()
    released.reach(_branched)
    return released


def _branched(shop: Shop) -> None:
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-q", "-m", "second")
    git(shop.root, "switch", "-q", "-c", "change")


def commit_on_main(shop: Shop, path: str, *words: tuple[str, str]) -> None:
    """Change a file on main behind the branch's back."""
    git(shop.root, "stash", "-q", "--include-untracked")
    git(shop.root, "switch", "-q", "main")
    shop.edit(path, *words)
    git(shop.root, "commit", "-q", "-am", "elsewhere")
    git(shop.root, "switch", "-q", "change")
    git(shop.root, "stash", "pop", "-q")


def edit_draft(shop: Shop, version: str = "1.0.1") -> None:
    shop.edit(DRAFT, ("version: 1.0.0", f"version: {version}"), ("You draft refunds", "You write refunds"))


def channel(answer: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [row for row in answer["channels"] if row["channel"] == name]
    return dict(found)


def test_nothing_changed_is_no_pass_and_no_failure(branch: Shop) -> None:
    answer = branch.pawl("check", "--base", "main")
    assert ("unchanged", "changed", [], 0) == (
        answer["status"],
        answer["scope"],
        answer["tested"],
        answer["tally"]["total"],
    )
    assert branch.codes(answer, "note") == ["nothing-changed"]
    assert answer["base"] == {"ref": "main", "commit": git(branch.root, "rev-parse", "main").strip()}
    assert [row["verdict"] for row in answer["channels"]] == ["nothing", "nothing"]


def test_a_comment_is_no_change(branch: Shop) -> None:
    branch.write(DRAFT, branch.read(DRAFT) + "# a comment\n")
    assert branch.pawl("check", "--base", "main")["status"] == "unchanged"


def test_what_changed_and_what_depends_on_it_is_tested(branch: Shop) -> None:
    edit_draft(branch)
    answer = branch.pawl("check", "--base", "main")
    assert answer["status"] == "passed"
    assert answer["tested"] == ["support/refund", "support/refund-draft"]
    (row,) = answer["changes"]
    assert ("support/refund-draft", "changed", "1.0.0", "patch", "1.0.1", True) == (
        row["name"],
        row["state"],
        row["published"],
        row["required"],
        row["smallest"],
        row["enough"],
    )
    assert [change["code"] for change in row["changes"]] == ["message-text"]
    assert {user["ref"] for user in row["used_by"]} == {"support/refund@2.0.0"}
    every = branch.pawl("check", "--base", "main", "--all")
    assert every["scope"] == "all"
    assert every["tested"] == ["support/check-eligibility", "support/refund", "support/refund-draft"]
    assert every["changes"] == answer["changes"]


def test_a_file_that_git_does_not_know_yet_is_a_change(branch: Shop) -> None:
    branch.pawl("new", "prompt", "support/other")
    answer = branch.pawl("check", "--base", "main", code=1)
    assert [(row["name"], row["state"]) for row in answer["changes"]] == [("support/other", "added")]
    assert branch.codes(answer) == ["nothing-tested"]
    branch.pawl("new", "suite", "support/other")
    assert branch.pawl("check", "--base", "main")["tested"] == ["support/other"]


def test_a_removed_procedure_is_a_row(branch: Shop) -> None:
    (branch.root / "procedures/support/check-eligibility.yaml").unlink()
    answer = branch.pawl("check", "--base", "main")
    assert [(row["name"], row["state"], row["to"]) for row in answer["changes"]] == [
        ("support/check-eligibility", "removed", None)
    ]


def test_a_changed_suite_runs(branch: Shop) -> None:
    branch.edit("conformance/refund-draft.yaml", ("id: amount-is-needed", "id: amount-is-really-needed"))
    answer = branch.pawl("check", "--base", "main")
    assert ("support/refund-draft" in answer["tested"], answer["changes"]) == (True, [])


def test_changed_code_runs_the_tools_that_are_bound_to_code(branch: Shop) -> None:
    branch.edit(
        "procedures/support/check-eligibility.yaml",
        ("version: 1.0.0", "version: 1.1.0"),
        ("  effects:", '  binding: {python: "rules:check"}\n  effects:'),
    )
    branch.write("rules.py", "def check(order_id):\n    return {'eligible': False}\n")
    git(branch.root, "add", "-A")
    git(branch.root, "commit", "-q", "-m", "bound")
    git(branch.root, "branch", "-q", "-f", "main")
    assert branch.pawl("check", "--base", "main")["tested"] == []
    branch.write("rules.py", "def check(order_id):\n    return {'eligible': True}\n")
    assert branch.pawl("check", "--base", "main")["tested"] == ["support/check-eligibility", "support/refund"]


def test_what_happened_on_the_base_since_is_no_change_of_ours(branch: Shop) -> None:
    edit_draft(branch)
    commit_on_main(branch, REFUND, ("max_steps: 6", "max_steps: 5"), ("version: 2.0.0", "version: 2.0.1"))
    answer = branch.pawl("check", "--base", "main")
    assert [row["name"] for row in answer["changes"]] == ["support/refund-draft"]


def test_a_branch_that_publishes_is_held_against_the_base(branch: Shop) -> None:
    """Publishing a version on the branch does not make it what the next one is measured by."""
    branch.edit(DRAFT, ("version: 1.0.0", "version: 2.0.0"), ("budget: {tokens: 400}", "budget: {tokens: 300}"))
    branch.edit(
        REFUND, ("version: 2.0.0", "version: 3.0.0"), ('support/refund-draft: ">=1,<2"', 'support/refund-draft: ">=2"')
    )
    branch.pawl("publish")
    branch.edit(DRAFT, ("version: 2.0.0", "version: 2.0.1"), ("You draft refunds", "You write refunds"))
    answer = branch.pawl("check", "--base", "main")
    (row,) = [row for row in answer["changes"] if row["name"] == "support/refund-draft"]
    assert (row["published"], row["required"], row["enough"]) == ("1.0.0", "major", True)
    branch.edit(DRAFT, ("version: 2.0.1", "version: 1.9.0"))
    assert "bump-too-small" in branch.codes(branch.pawl("check", "--base", "main", code=1))


def test_a_base_hides_nothing_that_is_published_here(branch: Shop) -> None:
    """confluentinc/schema-registry#438: the bump is measured against published versions, whatever the base says."""
    branch.edit(
        DRAFT,
        ("version: 1.0.0", "version: 1.1.0"),
        ("order_id: {type: string}", "order_id: {type: string}\n      note: {type: string}"),
    )
    branch.edit(
        DRAFT,
        ("Draft a refund of", "{{ note }} Draft a refund of"),
        ("required: [order_id", "required: [note, order_id"),
    )
    branch.edit(DRAFT, ("version: 1.1.0", "version: 2.0.0"))
    branch.edit(
        REFUND, ("version: 2.0.0", "version: 3.0.0"), ('support/refund-draft: ">=1,<2"', 'support/refund-draft: ">=1"')
    )
    branch.pawl("publish", "support/refund-draft")
    branch.edit(
        DRAFT,
        ("version: 2.0.0", "version: 2.0.1"),
        ("[note, order_id", "[order_id"),
        ("      note: {type: string}\n", ""),
        ("{{ note }} ", ""),
    )
    for words in ((), ("--base", "main"), ("--base", "main", "--all")):
        assert "bump-too-small" in branch.codes(branch.pawl("check", *words, code=1))


def test_a_number_that_is_taken_on_the_base_is_refused(branch: Shop) -> None:
    edit_draft(branch)
    git(branch.root, "stash", "-q")
    git(branch.root, "switch", "-q", "main")
    branch.edit(DRAFT, ("version: 1.0.0", "version: 1.0.1"), ("You draft refunds", "You make refunds"))
    branch.pawl("publish")
    git(branch.root, "commit", "-q", "-am", "taken")
    git(branch.root, "switch", "-q", "change")
    git(branch.root, "stash", "pop", "-q")
    assert branch.pawl("check")["status"] == "passed"  # nobody knows here
    assert branch.codes(branch.pawl("check", "--base", "main", code=1)) == ["version-reused"]


def test_a_broken_file_is_named_though_it_did_not_change(branch: Shop) -> None:
    branch.write("procedures/support/broken.yaml", "kind: prompt\nkind: tool\n")
    git(branch.root, "add", "-A")
    git(branch.root, "commit", "-q", "-m", "broken")
    git(branch.root, "branch", "-q", "-f", "main")
    answer = branch.pawl("check", "--base", "main", code=1)
    assert branch.codes(answer) == ["duplicate-key", "nothing-tested"]
    assert answer["files"] == answer["read"] + answer["unread"]


@pytest.mark.parametrize("ref", ["nowhere", "origin/main", "--all", "-h", "main:procedures", "HEAD\x00", ""])
def test_a_base_that_is_none(branch: Shop, ref: str) -> None:
    answer = branch.pawl("check", f"--base={ref}", code=1)
    assert branch.codes(answer) == ["unknown-revision"]


def test_a_base_needs_git(plain_shop: Shop) -> None:
    assert plain_shop.codes(plain_shop.pawl("check", "--base", "main", code=1)) == ["no-repository"]


def test_channels_say_what_a_promotion_would_meet(branch: Shop) -> None:
    edit_draft(branch)
    answer = branch.pawl("check", "--base", "main")
    staging, production = channel(answer, "staging"), channel(answer, "production")
    assert ("allowed", "allowed") == (staging["verdict"], production["verdict"])
    assert staging["refs"] == ["support/refund-draft@1.0.1"]
    assert staging["needs"][0] == "publish support/refund-draft@1.0.1: pawl publish"
    assert any("on staging first: pawl promote" in need for need in production["needs"])
    assert not any("on staging first: pawl promote" in need for need in staging["needs"])
    branch.pawl("publish")
    git(branch.root, "commit", "-q", "-am", "more", "--allow-empty")
    branch.promote("support/refund-draft@1.0.1", to="staging")
    answer = branch.pawl("check", "--base", "main")
    assert channel(answer, "staging")["verdict"] == "nothing"


def test_a_rule_that_says_no_is_an_error_of_the_file(branch: Shop) -> None:
    branch.edit("registry/policies/refunds.yaml", ("rules:", "rules:\n" + NO_MINE))
    branch.adopt()
    git(branch.root, "add", "-A")
    git(branch.root, "commit", "-q", "-m", "rule")
    edit_draft(branch)
    answer = branch.pawl("check", "--base", "main", code=1)
    (problem,) = [problem for problem in answer["problems"] if problem["severity"] == "error"]
    assert ("rule-failed", "NO-DRAFTS", DRAFT) == (problem["code"], problem["rule"], problem["path"])
    assert (channel(answer, "staging")["verdict"], channel(answer, "staging")["exit_code"]) == ("refused", 3)
    assert answer["channels"][0]["findings"][0]["rule"] == "NO-DRAFTS"


def test_what_people_and_time_bring_is_needed_and_no_fault_of_the_files(branch: Shop) -> None:
    branch.edit("registry/policies/refunds.yaml", ("rules:", "rules:\n" + PATIENCE))
    branch.adopt()
    git(branch.root, "add", "-A")
    git(branch.root, "commit", "-q", "-m", "rules")
    branch.pawl("freeze", "production", "--until", "2100-01-01", "--reason", "holidays")
    edit_draft(branch)
    answer = branch.pawl("check", "--base", "main")
    production = channel(answer, "production")
    assert (production["verdict"], production["exit_code"]) == ("allowed", 0)
    needs = "\n".join(production["needs"])
    assert "APP-1" in needs
    assert "SOAK-1" in needs
    assert "is frozen until 2100-01-01" in needs


PATIENCE = """\
  - id: APP-1
    class: readiness
    level: absolute
    applies: {channels: [production]}
    approvals: {count: 1}
    message: Somebody else says yes.
  - id: SOAK-1
    class: readiness
    level: absolute
    applies: {channels: [production]}
    soak: {channel: staging, at_least: PT24H}
    message: A day on staging.
"""
NO_MINE = """\
  - id: NO-DRAFTS
    class: safety
    level: absolute
    applies: {names: ["support/refund-draft"]}
    require: procedure.version == "1.0.0"
    message: No new drafts.
    tests:
      - {name: no, procedure: {version: 1.0.1}, expect: denied}
      - {name: yes-it-may, procedure: {version: 1.0.0}, expect: allowed}
"""


def test_failing_suites_show_in_the_channels_too(branch: Shop) -> None:
    branch.edit(DRAFT, ("version: 1.0.0", "version: 1.0.1"), ("{{ amount }}", "a lot"))
    answer = branch.pawl("check", "--base", "main", code=1)
    assert "case-failed" in branch.codes(answer)
    assert (channel(answer, "staging")["verdict"], channel(answer, "staging")["exit_code"]) == ("refused", 4)


# What only pawl writes


def _reseal(path: Path) -> None:
    """Give a record a digest that fits what it says, as somebody would who knows how."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(fields), encoding="utf-8")


def test_conflict_markers_have_file_and_line(branch: Shop) -> None:
    text = branch.read(DRAFT)
    branch.write(DRAFT, f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> main\n")
    (problem, *_) = branch.pawl("check", code=1)["problems"]
    assert ("conflict-marker", DRAFT, 1) == (problem["code"], problem["path"], problem["line"])


@pytest.mark.parametrize("base", [(), ("--base", "main")])
@pytest.mark.parametrize(
    ("path", "old", "new", "code"),
    [
        ("registry/channels/production.json", '"1.0.0"', '"1.0.1"', "projection-damaged"),
        ("releases/production/000001.json", "a release", "another one", "journal-damaged"),
        ("releases/registry/000002.json", '"1.0.0"', '"1.0.2"', "journal-damaged"),
        ("registry/versions/support/refund/1.0.0.yaml", "First", "Worst", "frozen-changed"),
    ],
)
def test_edits_of_what_pawl_writes_are_6(
    branch: Shop, base: tuple[str, ...], path: str, old: str, new: str, code: str
) -> None:
    branch.write(path, branch.read(path).replace(old, new))
    branch.write("procedures/support/broken.yaml", "kind: prompt\nkind: tool\n")
    answer = branch.pawl("check", *base, code=6)
    assert branch.codes(answer)[0] == code
    assert path in str(answer["problems"][0])
    assert "duplicate-key" in branch.codes(answer)  # files are reported with it


@pytest.mark.parametrize("path", ["releases/registry/000003.json", "registry/versions/support/refund/2.0.0.yaml"])
def test_what_was_recorded_cannot_be_taken_away(branch: Shop, path: str) -> None:
    (branch.root / path).unlink()
    branch.pawl("check", "--base", "main", code=6)


def test_history_written_anew_is_found_by_the_base(branch: Shop) -> None:
    """Journal, frozen copy and projection fit each other, and are not what the base holds."""
    root = branch.root
    git(root, "switch", "-q", "--orphan", "anew")
    git(
        root,
        "checkout",
        "-q",
        "change",
        "--",
        "procedures",
        "conformance",
        "registry/registry.yaml",
        "registry/policies",
    )
    branch.adopt("other rules")
    branch.pawl("publish")
    branch.promote(*SECOND, "support/refund-draft@1.0.0", to="staging")
    written = {path: (root / path).read_bytes() for path in branch.files("releases", "registry")}
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "anew")
    git(root, "switch", "-q", "change")
    for path in branch.files("releases", "registry/versions", "registry/channels"):
        (root / path).unlink()
    for path, data in written.items():
        branch.write(path, data.decode("utf-8"))
    branch.pawl("verify", code=6)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "as if")
    assert branch.pawl("check")["status"] == "passed"
    answer = branch.pawl("check", "--base", "main", code=6)
    assert {"journal-damaged", "frozen-changed"} >= set(branch.codes(answer))
    assert "releases/registry/000001.json" in {problem["path"] for problem in answer["problems"]}


def test_a_frozen_file_that_nobody_recorded_is_named(branch: Shop) -> None:
    branch.write("registry/versions/support/refund/9.9.9.yaml", branch.read(REFUND))
    edit_draft(branch)
    for words in ((), ("--base", "main")):
        assert "file-unrecorded" in branch.codes(branch.pawl("check", *words), "warning")


def test_checking_writes_nothing(branch: Shop) -> None:
    edit_draft(branch)
    before = {path: sha256(data) for path, data in branch.files("registry", "releases", "procedures").items()}
    branch.pawl("check", "--base", "main")
    assert before == {path: sha256(data) for path, data in branch.files("registry", "releases", "procedures").items()}
    assert FIRST


# What a reviewer must not be told wrongly


def test_a_copy_that_was_edited_on_the_base_already_is_6(branch: Shop) -> None:
    path = "registry/versions/support/refund/1.0.0.yaml"
    branch.write(path, branch.read(path).replace("First", "Worst"))
    git(branch.root, "commit", "-q", "-am", "tampered")
    git(branch.root, "branch", "-q", "-f", "main")
    edit_draft(branch)
    assert branch.codes(branch.pawl("check", "--base", "main", code=6)) == ["frozen-changed"]


def test_a_set_that_no_promotion_can_move_is_refused(branch: Shop) -> None:
    """The pinned workflow takes the draft below 2 only, and no other version of it is there."""
    branch.edit(DRAFT, ("version: 1.0.0", "version: 2.0.0"), ("budget: {tokens: 400}", "budget: {tokens: 300}"))
    answer = branch.pawl("check", "--base", "main")
    staging = channel(answer, "staging")
    assert (staging["verdict"], staging["exit_code"]) == ("refused", 3)
    assert [finding["code"] for finding in staging["findings"]] == ["no-consistent-set"]
    branch.edit(
        REFUND, ("version: 2.0.0", "version: 2.1.0"), ('support/refund-draft: ">=1,<2"', 'support/refund-draft: ">=2"')
    )
    staging = channel(branch.pawl("check", "--base", "main"), "staging")
    assert staging["verdict"] == "allowed"  # both move together


def test_a_set_that_takes_more_along_says_what(branch: Shop) -> None:
    branch.edit(DRAFT, ("version: 1.0.0", "version: 2.0.0"), ("budget: {tokens: 400}", "budget: {tokens: 300}"))
    branch.edit(
        REFUND,
        ("version: 2.0.0", "version: 2.1.0"),
        ('support/refund-draft: ">=1,<2"', 'support/refund-draft: ">=1,<3"'),
    )
    branch.pawl("publish", "support/refund")
    git(branch.root, "commit", "-q", "-am", "wider")
    git(branch.root, "branch", "-q", "-f", "main", "HEAD")
    branch.edit(DRAFT, ("Never promise", "Do never promise"))
    staging = channel(branch.pawl("check", "--base", "main"), "staging")
    assert staging["verdict"] == "allowed"
    assert any("support/refund 2.0.0 -> 2.1.0 because" in need for need in staging["needs"])
    assert any("--with-requirements" in need for need in staging["needs"])


def test_a_number_that_cannot_be_published_can_be_promoted_nowhere(branch: Shop) -> None:
    branch.edit(DRAFT, ("version: 1.0.0", "version: 1.0.1"), ("budget: {tokens: 400}", "budget: {tokens: 300}"))
    answer = branch.pawl("check", "--base", "main", code=1)
    assert [row["verdict"] for row in answer["channels"]] == ["refused", "refused"]
    assert channel(answer, "staging")["findings"][0]["code"] == "bump-too-small"


def test_fewer_cases_are_refused_where_the_tests_were_taken(branch: Shop) -> None:
    edit_draft(branch)
    branch.write(
        "conformance/refund-draft.yaml",
        "suite: refund-draft\nabout: support/refund-draft\n"
        "cases: [{id: nothing, inputs: {}, assert: [{type: rejected}]}]\n",
    )
    answer = branch.pawl("check", "--base", "main")
    assert (channel(answer, "staging")["verdict"], channel(answer, "staging")["exit_code"]) == ("refused", 4)
    assert branch.codes(answer, "warning").count("fewer-tests") == 2


def test_a_suite_that_is_gone_is_named(branch: Shop) -> None:
    (branch.root / "conformance/refund-draft.yaml").unlink()
    answer = branch.pawl("check", "--base", "main", code=0)
    assert {"suite-missing", "fewer-tests"} <= set(branch.codes(answer, "warning"))
    assert answer["tested"] == ["support/refund"]  # what requires it


def test_a_suite_that_moved_to_another_file_is_not_gone(branch: Shop) -> None:
    (branch.root / "conformance/refund-draft.yaml").rename(branch.root / "conformance/drafts.yaml")
    assert "fewer-tests" not in branch.codes(branch.pawl("check", "--base", "main"), "warning")


def test_a_file_that_is_gone_and_pinned_is_named(branch: Shop) -> None:
    (branch.root / "procedures/support/check-eligibility.yaml").unlink()
    (branch.root / "conformance/check-eligibility.yaml").unlink()
    found = [item for item in branch.pawl("check", "--base", "main")["problems"] if item["code"] == "file-gone"]
    assert len(found) == 2
    assert all("support/refund@2.0.0 requires it" in item["message"] for item in found)


def test_a_pre_release_that_later_channels_do_not_take_is_a_warning(branch: Shop) -> None:
    branch.edit("registry/policies/refunds.yaml", ("rules:", "rules:\n" + FINALS))
    branch.adopt()
    git(branch.root, "add", "-A")
    git(branch.root, "commit", "-q", "-m", "rule")
    edit_draft(branch, "1.1.0rc1")
    answer = branch.pawl("check", "--base", "main")
    assert (channel(answer, "staging")["verdict"], channel(answer, "production")["verdict"]) == ("allowed", "refused")
    assert "rule-failed" in branch.codes(answer, "warning")


FINALS = """\
  - id: FINALS
    class: safety
    level: absolute
    applies: {channels: [production]}
    require: '!procedure.version.contains("rc")'
    message: Pre-releases stay before.
    tests:
      - {name: rc, procedure: {version: 1.0.0rc1}, expect: denied}
"""


def test_reports_do_not_show_a_secret_that_lint_found(branch: Shop) -> None:
    secret = "AKIA" + "Z7XQ2LMNP4KJHG3T"
    branch.edit(DRAFT, ("version: 1.0.0", "version: 1.0.1"), ("You draft refunds", f"The key is {secret}. You draft"))
    for form in ("json", "text", "markdown", "junit", "sarif", "github"):
        ended = in_process("-C", str(branch.root), "check", "--base", "main", "-o", form)
        assert ended.code == 1
        assert secret not in ended.out + ended.err


def test_nothing_changed_is_skipped_in_junit(branch: Shop) -> None:
    ended = in_process("-C", str(branch.root), "check", "--base", "main", "-o", "junit")
    assert (ended.code, 'errors="0"' in ended.out, 'skipped="1"' in ended.out) == (0, True, True)
