"""What ``pawl diff`` shows a person."""

from __future__ import annotations

from typing import Any

import pytest

from cli.reports_data import change, row
from pawl.cli.diff import MAX_LINES, lines
from support import Shop, in_process

FILE = "procedures/support/refund-draft.yaml"


def answer(**more: Any) -> dict[str, Any]:
    return {"base": None, **row(**more)}


def test_every_change_has_level_code_path_reason_and_who(released: Shop) -> None:
    released.edit(
        FILE,
        ("amount: {type: number}", "amount: {type: number, minimum: 1}"),
        ("Never promise that money has been sent.", "Never say that money has been sent. "),
        ("version: 1.0.0", "version: 1.0.1"),
    )
    ended = in_process("-C", str(released.root), "diff", "support/refund-draft")
    assert (ended.code, ended.err) == (0, "")
    at = 0
    for wanted in (
        "prompt support/refund-draft@1.0.0 -> support/refund-draft in the work tree (1.0.1)\n",
        "major  bound-tightened  /spec/inputs/properties/amount/minimum\n",
        "    breaks callers\n    + 1\n    for example: ",
        "patch  message-text     /spec/messages/0/content  (text)\n",
        "    a model reads another text\n    concerns models\n",
        "    - You draft refunds for a person to approve. Never [-promise-] that money has been sent.\n",
        "    + You draft refunds for a person to approve. Never {+say+} that money has been sent.·\n",
        "pinned: production 1.0.0, staging 1.0.0\n",
        "used by: workflow support/refund@1.0.0 on production, requires >=1,<2\n",
        "required: major, so 2.0.0 or higher: 1.0.1 is too low\ndone\n",
    ):
        found = ended.out.find(wanted, at)
        assert found >= 0, f"{ended.out}\nlacks {wanted!r} after {at}"
        at = found + len(wanted)


def test_all_that_differs_begins_with_a_table(released: Shop) -> None:
    released.second()
    shown = in_process("-C", str(released.root), "diff").out.splitlines()
    assert [line.split() for line in shown[:3]] == [
        ["PROCEDURE", "FROM", "TO", "REQUIRED", "LOWEST", "ENOUGH", "CHANGES"],
        ["support/check-eligibility", "-", "1.0.0", "none", "-", "-", "added"],
        ["support/refund", "1.0.0", "2.0.0", "major", "2.0.0", "yes", "6"],
    ]
    assert shown[-2] == "2 procedures differ from what is published; required: major"


def test_nothing_differs(released: Shop) -> None:
    shown = in_process("-C", str(released.root), "diff", "--base", "HEAD").out
    assert shown.startswith("no procedures differ from HEAD (")
    assert shown.endswith("required: none\nunchanged\n")


@pytest.mark.parametrize("hostile", ["\x1b[2J", "a\nb: done", "\u202etxt", "\r", "\x9b31m"])
@pytest.mark.parametrize("field", ["path", "reason", "old", "new", "witness"])
def test_nothing_from_a_file_reaches_the_terminal_as_a_command(field: str, hostile: str) -> None:
    shown = list(lines(answer(changes=[change(**{field: hostile})])))
    assert all(line.isprintable() for line in shown)
    assert not any(line.startswith("b: done") for line in shown)


def test_a_crowd_of_changes_is_bounded_and_says_so() -> None:
    shown = list(lines(answer(changes=[change()] * 1_000)))
    assert "and 800 more changes, see all with -o json" in shown
    many = {"base": None, "required": "major", "procedures": [row()] * 5_000}
    shown = list(lines(many))
    assert len(shown) == MAX_LINES + 1
    assert "left out" in shown[-1]


def test_users_that_the_new_version_is_outside_of() -> None:
    user = {"channel": "production", "kind": "workflow", "ref": "a@1.0.0", "requires": ">=1,<2", "through": []}
    through = {**user, "ref": "b@1.0.0", "requires": None, "through": ["a@1.0.0"]}
    shown = list(lines(answer(used_by=[{**user, "still_met": False}, {**through, "still_met": True}])))
    assert "used by: workflow a@1.0.0 on production, requires >=1,<2 which the new version is outside of" in shown
    assert "used by: workflow b@1.0.0 on production, through a@1.0.0" in shown
