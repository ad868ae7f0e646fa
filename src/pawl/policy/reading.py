"""Reading what people wrote: a parsed document in, rules or all of its faults out.

A source without rules, an unknown field and an expression that does not compile are refused, with all other faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from pawl.errors import Faulty
from pawl.policy.durations import parse_duration
from pawl.policy.given import OF
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.models import (
    AppliesDocument,
    GivenDocument,
    PolicyDocument,
    RuleDocument,
    RuleTestDocument,
    WaiverDocument,
    structural_faults,
)
from pawl.policy.rule_checks import duplicate_faults, head_faults, parse_moment, rule_faults
from pawl.policy.rules import Applies, PolicySource, Rule, RuleTest, WaiverTerms, check_rules
from pawl.policy.skeletons import KNOWN_KINDS
from pawl.problems import Fault, Place


def read_source(document: Any) -> PolicySource:
    """Return the source that a parsed document is; raises ``Faulty`` with all faults, each placed in the document."""
    plain, demands, faults = _take_demands(document)
    try:
        read = PolicyDocument.model_validate(plain)
    except ValidationError as error:
        raise Faulty((*structural_faults(error), *faults)) from error
    moments = [*_moment_faults(read)]
    rules = tuple(
        _rule(read, rule, demand) for rule, demand in zip(read.rules, demands, strict=True) if demand is not None
    )
    faults += [*head_faults(read.policy, read.owner), *moments, *_test_faults(read)]
    if len(rules) == len(read.rules):
        for index, rule in enumerate(rules):
            faults.extend(fault.under("rules", index) for fault in rule_faults(rule))
        faults += check_rules(rules)
    source = PolicySource(name=read.policy, owner=read.owner, rules=rules)
    faults += [fault for _, fault in duplicate_faults((source,))]
    if faults:
        raise Faulty(tuple(faults))
    return source


def _take_demands(document: Any) -> tuple[Any, list[tuple[str, Any] | None], list[Fault]]:
    """Return the document without what its rules demand, the demands, and the faults of rules without exactly one."""
    rules = document.get("rules") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(rules, list):
        return document, [], []
    plain: list[Any] = []
    demands: list[tuple[str, Any] | None] = []
    faults: list[Fault] = []
    for index, rule in enumerate(rules):
        if not isinstance(rule, Mapping):
            plain.append(rule)
            demands.append(None)
            continue
        given = [key for key in rule if key in RULE_KINDS]
        if len(given) != 1:
            faults.append(_demand_fault(given).under("rules", index))
        plain.append({key: value for key, value in rule.items() if key not in given})
        demands.append((given[0], rule[given[0]]) if len(given) == 1 else None)
    return {**document, "rules": plain}, demands, faults


def _demand_fault(given: list[str]) -> Fault:
    known = " or ".join(RULE_KINDS)
    if given:
        message = f"a rule demands one thing, and this one has {' and '.join(given)}: make them rules of their own"
        return Fault(code="rule-kind-twice", message=message, at=(given[1],), on_key=True)
    return Fault(code="policy-field-missing", message=f"the rule demands nothing: it needs {known}")


def _rule(policy: PolicyDocument, read: RuleDocument, demand: tuple[str, Any]) -> Rule:
    kind, body = demand
    return Rule(
        policy=policy.policy,
        owner=policy.owner,
        id=read.id,
        rule_class=read.rule_class,
        level=read.level,
        applies=_applies(read.applies),
        kind=kind,
        body=body,
        message=" ".join(read.message.split()),
        effective_on=_moment(read.effective_on),
        enforce_live=read.enforce_live,
        waiver=_terms(read.waiver) if "waiver" in read.model_fields_set else None,
        tests=tuple(_test(number, test) for number, test in enumerate(read.tests, start=1)),
    )


def _applies(read: AppliesDocument) -> Applies:
    return Applies(
        kinds=tuple(read.kinds),
        names=tuple(read.names),
        channels=tuple(read.channels),
        actions=tuple(read.actions),
        labels=tuple(sorted(read.labels.items())),
    )


def _test(number: int, read: RuleTestDocument) -> RuleTest:
    stated = read.model_fields_set
    return RuleTest(
        name=read.name or f"number {number}",
        procedure=read.procedure,
        expect=read.expect,
        channel=read.channel or None,
        action=read.action if "action" in stated else None,
        closure=tuple(read.closure),
        current=read.current if "current" in stated else None,
        actor=read.actor.model_dump() if "actor" in stated else None,
        now=_moment(read.now),
        given=_given(read.given) if "given" in stated else None,
    )


def _terms(read: WaiverDocument) -> WaiverTerms:
    return WaiverTerms(
        at_most=read.at_most,
        roles=tuple(read.roles),
        verified=read.verified,
        break_glass=read.break_glass or None,
    )


def _given(read: GivenDocument) -> dict[str, Any]:
    """Return what an example says is known, without what it leaves out."""
    return read.model_dump(exclude_unset=True)


def _moment(text: str) -> datetime | None:
    """Return the moment, or ``None`` where there is none or a fault of its own stands for it."""
    try:
        return parse_moment(text) if text else None
    except ValueError:
        return None


def _moment_faults(read: PolicyDocument) -> Iterator[Fault]:
    for index, rule in enumerate(read.rules):
        fields: list[tuple[str, Place]] = [(rule.effective_on, ("rules", index, "effective_on"))]
        fields += [(test.now, ("rules", index, "tests", number, "now")) for number, test in enumerate(rule.tests)]
        for text, at in fields:
            try:
                parse_moment(text or "2026-01-01")
            except ValueError as error:
                yield Fault(code="policy-field-invalid", message=f"{at[-1]}: {error}", at=at)


def _test_faults(read: PolicyDocument) -> Iterator[Fault]:
    """A snippet has a kind and a name that can be, so that a test cannot miss its rule by a slip."""
    for index, rule in enumerate(read.rules):
        for number, test in enumerate(rule.tests):
            snippets: list[tuple[Mapping[str, Any], Place, bool]] = [
                (test.procedure, ("procedure",), False),
                (test.current, ("current",), False),
            ]
            snippets += [(member, ("closure", at), True) for at, member in enumerate(test.closure)]
            for snippet, at, needs_kind in snippets:
                for fault in _snippet_faults(snippet, needs_kind=needs_kind):
                    yield fault.under("rules", index, "tests", number, *at)
            for fault in _given_faults(test.given):
                yield fault.under("rules", index, "tests", number, "given")


def _given_faults(given: GivenDocument) -> Iterator[Fault]:
    lengths: list[tuple[str, Place]] = [(text, ("live", channel)) for channel, text in given.live.items()]
    lengths += [(text, ("evidence", suite)) for suite, text in given.evidence.items()]
    for index, approval in enumerate(given.approvals):
        lengths.append((approval.age, ("approvals", index, "age")))
        if approval.of not in OF:
            message = f"of: {approval.of[:40]!r} is none of {', '.join(OF)}"
            yield Fault(code="policy-field-invalid", message=message, at=("approvals", index, "of"))
    for text, at in lengths:
        try:
            parse_duration(text)
        except ValueError as error:
            yield Fault(code="policy-field-invalid", message=f"{at[-1]}: {error}", at=at)


def _snippet_faults(snippet: Mapping[str, Any], *, needs_kind: bool) -> Iterator[Fault]:
    kind = snippet.get("kind")
    if ("kind" in snippet or needs_kind) and kind not in KNOWN_KINDS:
        message = f"the kind of a test's procedure is one of {', '.join(KNOWN_KINDS)}"
        yield Fault(code="policy-test-invalid", message=message, at=("kind",))
    for field, shape, expected in (("name", str, "a text"), ("labels", Mapping, "an object")):
        if field in snippet and not isinstance(snippet[field], shape) and snippet[field] is not None:
            yield Fault(code="policy-test-invalid", message=f"{field}: expected {expected}", at=(field,))
    if "name" in snippet and snippet["name"] is None:
        yield Fault(code="policy-test-invalid", message="name: a procedure is never without one", at=("name",))
