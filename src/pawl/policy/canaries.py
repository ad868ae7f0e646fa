"""Known-bad canaries: situations and examples that the gate must refuse, asked again with every gate.

- Every rule in force brings its own: the denied examples that were frozen with it. The built-in ones are bad under any
  policy, each for one reason, and must be refused for that reason.
- A canary that is not refused, or that cannot be asked, says that the gate cannot be believed: one finding of exit code
  6 each, and so everything is refused.
- Rules that are not in force yet are asked at a time when they will be. Nothing here depends on the clock or on the
  situation in question, so one set of rules is asked once in a process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

from pawl.ids import REGISTRY_JOURNAL, Channel, Digest, Name, Serial, Version
from pawl.policy.rule_tests import denied_answers
from pawl.policy.rules import Applies, Rule
from pawl.policy.situation import Situation, SuiteEvidence
from pawl.policy.verdict import INTEGRITY, Action, Finding
from pawl.registry.catalog import Catalog, Published, fold_registry
from pawl.registry.channels import Pin, Rejection, empty_channel
from pawl.registry.channels_grants import Consent, Freeze, Identity, Spares, Waiver
from pawl.registry.journal import Actor, Record

Ask: TypeAlias = Callable[[Situation], tuple[Finding, ...]]
"""All checks of the evaluator but this one."""

GATED: frozenset[Action] = frozenset({"promote", "rollback"})
HINT = "this pawl moves nothing until the cause is found: install it anew, and run pawl policy test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A situation in which exactly one thing is wrong; ``code`` is that of the finding that must refuse it."""

    about: str
    code: str
    situation: Situation


def canary_findings(situation: Situation, ask: Ask) -> tuple[Finding, ...]:
    """Return one finding that all canaries were refused, or one for each that was not. Other actions have none."""
    return _asked(_Rules(situation.rules), ask) if situation.action in GATED else ()


class _Rules:
    """One tuple of rules, by identity: rules that decide the same may have other examples."""

    __slots__ = ("rules",)

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules

    def __hash__(self) -> int:
        return id(self.rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rules) and self.rules is other.rules


@lru_cache(maxsize=4)
def _asked(key: _Rules, ask: Ask) -> tuple[Finding, ...]:
    examples = sum(test.expect == "denied" for rule in key.rules for test in rule.tests)
    passed = (*_built_in(ask), *(finding for rule in key.rules for finding in _of_rule(rule)))
    message = f"all {len(BUILT_IN)} built-in canaries and {examples} denied examples of the rules are refused"
    good = Finding(check="canary", status="passed", code="canaries-refused", message=message, exit_code=INTEGRITY)
    return passed or (good,)


def _of_rule(rule: Rule) -> Iterator[Finding]:
    """Examples were denied when they were adopted; one that errs now does not show that the rule refuses."""
    try:
        answers = denied_answers(rule)
    except (ArithmeticError, RecursionError) as error:
        yield _alarm(f"the denied examples of rule {rule.id} cannot be asked ({type(error).__name__})", rule)
        return
    for test, answer in answers:
        if answer != "denied":
            yield _alarm(f"rule {rule.id} no longer refuses its own denied example {test} ({answer})", rule)


def _built_in(ask: Ask) -> Iterator[Finding]:
    for canary in BUILT_IN:
        found = ask(canary.situation)
        if not any(finding.code == canary.code and not finding.holds for finding in found):
            yield _alarm(f"the gate no longer refuses to {canary.situation.action} {canary.about}")


def _alarm(what: str, rule: Rule | None = None) -> Finding:
    return Finding(
        check="canary",
        status="failed",
        code="canary-passed",
        message=f"{what}, so nothing that it says can be believed and everything is refused",
        exit_code=INTEGRITY,
        rule=rule.id if rule else None,
        hint=HINT,
    )


# The built-in canaries: everything is well but for one thing.

_AT = "2026-01-01T00:00:00Z"
_NOW = datetime(2026, 1, 2, tzinfo=UTC)
_LATER = "2026-01-03T00:00:00Z"
_CHANNEL = Channel("canary")
_BIRD = Name("canary/bird")
_ACTOR = Actor(name="Canary", email="canary@example.invalid")
_PEOPLE: Mapping[str, list[str]] = {"second@example.invalid": ["release"]}
_SECOND = Identity(name="Second", email="second@example.invalid", kind="human", verified=True)


def _pin(version: str, digit: str, requires: Mapping[Name, str] | None = None) -> Pin:
    return Pin(
        kind="prompt",
        name=_BIRD,
        version=Version(version),
        digest=Digest("sha256:" + digit * 64),
        content=Digest("sha256:c" + digit * 63),
        file=Digest("sha256:f" + digit * 63),
        requires=requires or {},
        since=Serial(1),
        tests={},
    )


_LIVE, _NEXT = _pin("1.0.0", "1"), _pin("2.0.0", "2")
_NEEDY = _pin("2.0.0", "2", {Name("canary/seed"): ">=1"})


def _published(pin: Pin) -> Published:
    return Published(
        kind=pin.kind,
        name=pin.name,
        version=pin.version,
        digest=pin.digest,
        content=pin.content,
        file=pin.file,
        requires=pin.requires,
        serial=Serial(1),
        at=_AT,
    )


def _catalog(withdrawn: str | None = None, *, adopted: bool = True) -> Catalog:
    bodies: list[tuple[str, Mapping[str, Any]]] = [
        ("publish", {"published": [_published(pin).as_dict() for pin in (_LIVE, _NEXT)]}),
        ("adopt-policy", {"policy": 1, "rules": {}, "channels": {_CHANNEL: None}, "people": _PEOPLE}),
        ("withdraw", {"ref": str(_NEXT.ref), "level": withdrawn}),
    ]
    return fold_registry(
        Record(
            journal=REGISTRY_JOURNAL,
            serial=Serial(serial),
            action=action,
            at=_AT,
            actor=_ACTOR,
            reason="canary",
            body=body,
            previous=None,
            digest=_LIVE.digest,
            data=b"",
        )
        for serial, (action, body) in enumerate(bodies, start=1)
        if (action != "adopt-policy" or adopted) and (action != "withdraw" or withdrawn)
    )


_STATE = replace(empty_channel(_CHANNEL), pins=MappingProxyType({_BIRD: _LIVE}))


def _document(pin: Pin) -> dict[str, Any]:
    spec = {"template": "none", "messages": [{"role": "system", "content": "Sing."}]}
    return {"kind": pin.kind, "name": pin.name, "version": pin.version, "owner": "nobody", "spec": spec}


def _rule(require: str) -> Rule:
    return Rule(
        policy="canaries",
        owner="pawl",
        id="CANARY",
        rule_class="safety",
        level="absolute",
        applies=Applies(),
        kind="require",
        body=require,
        message="A canary.",
    )


def _evidence(**fields: Any) -> dict[Name, tuple[SuiteEvidence, ...]]:
    said: dict[str, Any] = {"suite": "canary", "cases": 1, "outcome": "passed", "reason": "run now", "at": _AT}
    return {_BIRD: (SuiteEvidence(**{**said, **fields}),)}


WELL = Situation(
    action="promote",
    state=_STATE,
    catalog=_catalog(),
    rules=(_rule("true"),),
    documents=MappingProxyType({pin.digest: _document(pin) for pin in (_LIVE, _NEXT)}),
    actor=_ACTOR,
    now=_NOW,
    moves=MappingProxyType({_BIRD: _NEXT}),
    evidence=MappingProxyType(_evidence()),
    people=MappingProxyType({email: tuple(roles) for email, roles in _PEOPLE.items()}),
)
"""A situation in which nothing is wrong, and which is allowed: what every canary differs from in one thing."""


def _waived() -> Waiver:
    who = Identity(name=_ACTOR.name, email=_ACTOR.email, kind="human", verified=True)
    return Waiver(
        rule="CANARY",
        name=_BIRD,
        digest=_NEXT.digest,
        closure=None,
        versions=None,
        actions=("promote", "rollback"),
        owner="nobody",
        reason="canary",
        by=who,
        at=_AT,
        until=_LATER,
        serial=Serial(4),
        break_glass=False,
        review_by=None,
        approved_by=(Consent(by=_SECOND, at=_AT, serial=Serial(5)),),
    )


_REJECTION = Rejection(
    ref=str(_NEXT.ref),
    content=_NEXT.content,
    cause="reject",
    reason="canary",
    by="Canary",
    at=_AT,
    serial=Serial(3),
    until=None,
)
_FREEZE = Freeze(
    reason="canary",
    by="Canary",
    at=_AT,
    until=None,
    actions=("promote", "rollback"),
    spares=Spares(),
    serial=Serial(3),
)
_WRONG: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("without an adopted policy", "no-policy", {"catalog": _catalog(adopted=False)}),
    ("a revoked version", "revoked", {"catalog": _catalog("revoked")}),
    ("a rejected version", "rejected", {"state": replace(_STATE, rejections={_NEXT.content: _REJECTION})}),
    ("on a frozen channel", "frozen", {"state": replace(_STATE, freezes={Serial(3): _FREEZE})}),
    ("what requires something that is not pinned", "requirement-unmet", {"moves": {_BIRD: _NEEDY}}),
    ("what no suite has tested", "evidence-missing", {"evidence": None}),
    ("what fails its suite", "evidence-failed", {"evidence": _evidence(outcome="failed")}),
    ("what passed a suite without cases", "evidence-inconclusive", {"evidence": _evidence(cases=0)}),
    ("what breaks an absolute rule", "rule-failed", {"rules": (_rule("false"),)}),
    (
        "against an absolute rule by a waiver",
        "rule-failed",
        {
            "rules": (_rule("false"),),
            "state": replace(_STATE, waivers={Serial(4): _waived()}),
        },
    ),
    ("past a rule that cannot be evaluated", "rule-errored", {"rules": (_rule("procedure.canary == 1"),)}),
    ("a document that nobody has read", "rule-errored", {"documents": {}}),
)
BUILT_IN: tuple[Canary, ...] = tuple(
    Canary(about=about, code=code, situation=replace(WELL, action=action, **wrong))
    for action in ("promote", "rollback")
    for about, code, wrong in _WRONG
)
