"""What must not stay, and which moves are free for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pawl.ids import Name
from pawl.policy.leaving import Leaving
from pawl.policy.rules import Rule
from pawl.policy.situation import Situation
from pawl.registry.channels import Pin
from pawl.registry.closure import closure_of
from policy.grants import Grants
from policy.make import rule
from registry.make import ADA, adopted, catalog, pin, published, withdrawn

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
A1, A2, B1, B2 = (pin(name, version) for name in "ab" for version in ("1.0.0", "2.0.0"))
W1, W2 = pin("w", "1.0.0", a=">=1"), pin("w", "2.0.0", a=">=1")
ALL = (A1, A2, B1, B2, W1, W2)


def situation(
    line: Grants, *moves: Pin, action: Any = "promote", rules: tuple[Rule, ...] = (), **levels: Any
) -> Situation:
    withdrawals = [withdrawn(f"{name}@1.0.0", level) for name, level in levels.items()]
    documents: dict[Any, Mapping[str, Any]] = {
        member.digest: {"kind": "tool", "name": member.name, "version": member.version, "spec": {}} for member in ALL
    }
    return Situation(
        action=action,
        state=line.state,
        catalog=catalog(published(*ALL), adopted(1), *withdrawals),
        rules=rules,
        documents=documents,
        actor=ADA,
        now=NOW,
        moves={member.name: member for member in moves},
    )


def why(asked: Situation, name: str, since: str = "2026-03-01T12:00:01Z") -> str:
    return Leaving(asked).why(Name(name), closure_of(Name(name), asked.after), since=since)


LIVE = ("promote", "rollback")


@pytest.mark.parametrize("action", LIVE)
def test_nothing_speaks_against_what_is_well(action: Any) -> None:
    asked = situation(Grants().pinned(A1), A2, action=action, rules=(rule(), rule(id="R-2", applies={"names": ["z"]})))
    assert why(asked, "a") == ""
    assert why(situation(Grants(), A2, action=action), "a") == ""


WITHDRAWN = [  # what of a procedure and of what it requires is how withdrawn
    ({"a": "deprecated"}, "a", ""),
    ({"a": "yanked"}, "a", "a@1.0.0 is yanked"),
    ({"a": "revoked"}, "a", "a@1.0.0 is revoked"),
    ({"a": "yanked"}, "w", ""),
    ({"a": "revoked"}, "w", "a@1.0.0 is revoked"),
    ({"w": "yanked"}, "w", "w@1.0.0 is yanked"),
    ({"b": "revoked"}, "a", ""),
]


@pytest.mark.parametrize(("levels", "name", "says"), WITHDRAWN)
@pytest.mark.parametrize("action", LIVE)
def test_withdrawals(levels: dict[str, Any], name: str, says: str, action: Any) -> None:
    moves = {"a": A2, "w": W2}[name]
    assert why(situation(Grants().pinned(A1, B1, W1), moves, action=action, **levels), name) == says


def rejected(line: Grants, until: str | None) -> Grants:
    return line.add("reject", rejects=[{"ref": "a@1.0.0", "content": A1.content, "cause": "reject", "until": until}])


STOPPED = [
    (Grants().pinned(A1).add("halt", name="a", version=None), "a is halted"),
    (Grants().pinned(A1).add("halt", name="a", version="9.0.0"), ""),
    (rejected(Grants().pinned(A1), None), "a@1.0.0 is rejected"),
    (rejected(Grants().pinned(A1), "2026-03-01T12:00:00Z"), ""),
]


@pytest.mark.parametrize(("line", "says"), STOPPED)
def test_what_was_stopped_is_free_on_the_way_back_only(line: Grants, says: str) -> None:
    assert why(situation(line, A2, action="rollback"), "a") == says
    assert why(situation(line, A2), "a") == ""


BREAKS = 'procedure.version != "1.0.0"'
RULES: list[tuple[Rule, str]] = [
    (rule(require=BREAKS), "a@1.0.0 breaks rule R-1"),
    (rule(require=BREAKS, level="waivable"), "a@1.0.0 breaks rule R-1"),
    (rule(require=BREAKS, level="advisory"), ""),
    (rule(require=BREAKS, rule_class="readiness"), ""),
    (rule(require=BREAKS, effective_on="2026-03-02"), ""),
    (rule(require=BREAKS, applies={"channels": ["staging"]}), "a@1.0.0 breaks rule R-1"),
    (rule(require=BREAKS, applies={"channels": ["production"]}), ""),
    (rule(require=BREAKS, applies={"actions": ["promote"]}), ""),
    (rule(require="procedure.spec.x == 1"), "a@1.0.0 breaks rule R-1"),
    (replace(rule(), kind="withdrawn", body={"refuse": ["deprecated"]}), "a@1.0.0 breaks rule R-1"),
    (replace(rule(), kind="withdrawn", body={"refuse": ["yanked"]}), ""),
    (
        replace(
            rule(), kind="freeze", body={"start": "2026-03-01", "duration": "P1D", "time_zone": "UTC", "reason": "x"}
        ),
        "",
    ),
    (replace(rule(), kind="freeze", body={}), ""),
]


@pytest.mark.parametrize(("broken", "says"), RULES)
@pytest.mark.parametrize("action", LIVE)
def test_rules_that_hold_of_what_is_live(broken: Rule, says: str, action: Any) -> None:
    assert why(situation(Grants().pinned(A1), A2, action=action, rules=(broken,), a="deprecated"), "a") == says


def test_what_is_not_all_known_is_no_reason() -> None:
    asked = situation(Grants().pinned(A1, W1), W2, rules=(rule(require=BREAKS),))
    assert why(asked, "w") == "w@1.0.0 breaks rule R-1"
    for gone in (A1, W1):
        documents = {digest: document for digest, document in asked.documents.items() if digest != gone.digest}
        assert why(replace(asked, documents=documents), "w") == ""


def test_what_is_waived_may_stay() -> None:
    broken = (rule(require=BREAKS, level="waivable"),)
    line = Grants().pinned(A1).waived(A1).consented(2)
    people = {"ben@example.invalid": ()}
    assert why(replace(situation(line, A2, rules=broken), people=people), "a") == ""
    assert why(situation(line, A2, rules=broken), "a") == "a@1.0.0 breaks rule R-1"


def test_a_way_back_moves_as_one() -> None:
    line = Grants().pinned(A1, B1, W1)
    back = situation(line, A2, B2, action="rollback", a="revoked")
    assert [why(back, name) for name in "abw"] == ["a@1.0.0 is revoked"] * 3


def test_a_promotion_is_free_for_the_name_itself_and_what_it_changes() -> None:
    line = Grants().pinned(A1, B1, W1)
    on = situation(line, A2, B2, a="revoked")
    assert [why(on, name) for name in "abw"] == ["a@1.0.0 is revoked", "", "a@1.0.0 is revoked"]
    beside = situation(line, B2, a="revoked")
    assert [why(beside, name) for name in "bw"] == ["", ""]


SINCE = [  # how a is withdrawn, whether a rule refuses that, why it may be left: a later freeze, one of then, a rule
    ("revoked", False, ["a@1.0.0 is revoked"] * 3),
    ("yanked", False, ["a@1.0.0 is yanked", "", ""]),
    ("yanked", True, ["a@1.0.0 is yanked", "", ""]),
    ("deprecated", True, ["a@1.0.0 breaks rule R-1", "", ""]),
]


@pytest.mark.parametrize(("level", "refused", "says"), SINCE)
def test_what_can_be_taken_back_frees_a_promotion_only_from_a_later_freeze(
    level: str, refused: bool, says: list[str]
) -> None:
    rules = (replace(rule(), kind="withdrawn", body={"refuse": ["yanked", "deprecated"]}),) if refused else ()
    on, back = (situation(Grants().pinned(A1), A2, action=action, rules=rules, a=level) for action in LIVE)
    (at,) = (withdrawal.at for withdrawal in on.catalog.withdrawals.values())
    moments = (at.replace(":00Z", ":01Z"), at, "")
    leaving = Leaving(on)
    closure = closure_of(Name("a"), on.after)
    assert [leaving.why(Name("a"), closure, since=since) for since in moments] == says
    assert [why(back, "a", since) for since in moments] == [says[0]] * 3
