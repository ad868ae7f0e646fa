"""Policy sources: read what people wrote, put sources together, freeze them, and read the frozen form back.

- A source is one document with an owner; its rules come in the order of writing, the sources in the order of names.
- No two sources share a name and no two rules an id, whatever the case of its letters.
- What is read from a source is inert. Only the frozen form of adopted sources is in force.
- The frozen form states every field of every rule, with ``waiver`` and ``tests`` where a rule has them: its examples
  are what the gate tries itself on. They decide nothing, so ``deciding`` tells forms apart without them; policies of
  before have none. It is read without pydantic, on every resolve.
- Reading it fails closed: what does not give exactly the same form again when it is written is damaged, and nothing
  falls back to an older policy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import Any, NoReturn, TypeVar, get_args

from pawl.canonical import record_bytes
from pawl.errors import Faulty, IntegrityError
from pawl.policy.context import RULE_CLASSES
from pawl.policy.kinds.known import RULE_KINDS
from pawl.policy.rule_checks import duplicate_faults, head_faults, parse_moment, rule_faults
from pawl.policy.rules import (
    LEVELS,
    Applies,
    Expectation,
    PolicySource,
    Rule,
    RuleTest,
    WaiverTerms,
    moment_text,
)

FORMAT = 1
EXPECTATIONS: tuple[Expectation, ...] = get_args(Expectation)
_LISTS = ("kinds", "names", "channels", "actions")
_STATED: Mapping[str, type[Any]] = {"channel": str, "action": str, "current": dict, "actor": dict, "given": dict}
"""What an example may state besides, with the type that it is frozen as."""
_T = TypeVar("_T")


def read_policy(document: Any) -> PolicySource:
    """Return the source that a parsed document is; raises ``Faulty`` with all faults, each placed in the document."""
    from pawl.policy.reading import read_source  # noqa: PLC0415 - pydantic; the rules in force are read without it

    return read_source(document)


def merge(sources: Iterable[PolicySource]) -> tuple[Rule, ...]:
    """Return the rules of all sources; raises ``Faulty`` for a name or an id that is there twice."""
    ordered = sorted(sources, key=lambda source: source.name)
    if faults := duplicate_faults(ordered):
        raise Faulty(tuple(fault for _, fault in faults))
    return tuple(rule for source in ordered for rule in source.rules)


def policy_document(sources: Iterable[PolicySource]) -> dict[str, Any]:
    """Return the JSON value to freeze; raises ``Faulty`` for sources that do not go together."""
    return _document(merge(sources))


def deciding(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a frozen form without examples: equal for two policies that decide the same."""
    return _document(tuple(replace(rule, tests=()) for rule in rules_from(document))) if document else {}


def rules_from(document: Any) -> tuple[Rule, ...]:
    """Return the rules in a frozen form; raises ``IntegrityError`` for what ``policy_document`` never writes.

    The same text gives the same rules, not only equal ones: whoever asks them something once in a process knows them by
    that.
    """
    try:
        return _read(record_bytes(document))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        _damaged(f"it is not what was frozen ({type(error).__name__}: {error})", error)


@lru_cache(maxsize=4)
def _read(data: bytes) -> tuple[Rule, ...]:
    document = json.loads(data)
    if document["format"] != FORMAT:
        _damaged(f"its format is {document['format']!r}, and this pawl reads {FORMAT}")
    rules = tuple(_rule(policy, rule) for policy in document["policies"] for rule in policy["rules"])
    _check(rules)
    if record_bytes(_document(rules)) != data:
        _damaged("it holds something that is no part of any rule")
    return rules


def _document(rules: tuple[Rule, ...]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "policies": [
            {"policy": policy, "owner": owner, "rules": [_frozen(rule) for rule in group]}
            for (policy, owner), group in groupby(rules, key=lambda rule: (rule.policy, rule.owner))
        ],
    }


def _frozen(rule: Rule) -> dict[str, Any]:
    applies, terms = rule.applies, rule.waiver
    return {
        "id": rule.id,
        "class": rule.rule_class,
        "level": rule.level,
        "applies": {**{part: list(getattr(applies, part)) for part in _LISTS}, "labels": dict(applies.labels)},
        rule.kind: rule.body,
        "message": rule.message,
        "effective_on": moment_text(rule.effective_on) if rule.effective_on else None,
        "enforce_live": rule.enforce_live,
        **({"waiver": {**asdict(terms), "roles": list(terms.roles)}} if terms else {}),
        **({"tests": [_frozen_test(test) for test in rule.tests]} if rule.tests else {}),
    }


def _frozen_test(test: RuleTest) -> dict[str, Any]:
    """Return an example with what it states, and nothing for what it leaves out."""
    stated = {name: getattr(test, name) for name in _STATED if getattr(test, name) is not None}
    return {
        "name": test.name,
        "procedure": test.procedure,
        "expect": test.expect,
        **stated,
        **({"closure": list(test.closure)} if test.closure else {}),
        **({"now": moment_text(test.now)} if test.now else {}),
    }


def _rule(policy: Mapping[str, Any], rule: Mapping[str, Any]) -> Rule:
    kinds = [kind for kind in RULE_KINDS if kind in rule]
    if len(kinds) != 1:
        raise ValueError(f"a rule demands one of {', '.join(RULE_KINDS)}, and one here has {len(kinds)} of them")
    applies = rule["applies"]
    parts = {part: tuple(_is(word, str) for word in _is(applies[part], list)) for part in _LISTS}
    labels = _is(applies["labels"], dict)
    return Rule(
        policy=_is(policy["policy"], str),
        owner=_is(policy["owner"], str),
        id=_is(rule["id"], str),
        rule_class=_one_of(rule["class"], RULE_CLASSES),
        level=_one_of(rule["level"], LEVELS),
        applies=Applies(**parts, labels=tuple(sorted((key, _is(value, str)) for key, value in labels.items()))),
        kind=kinds[0],
        body=rule[kinds[0]],
        message=_is(rule["message"], str),
        effective_on=_moment(rule["effective_on"]),
        enforce_live=_is(rule["enforce_live"], bool),
        waiver=_terms(rule["waiver"]) if "waiver" in rule else None,
        tests=tuple(_test(row) for row in _is(rule.get("tests", []), list)),
    )


def _test(row: Mapping[str, Any]) -> RuleTest:
    stated = {name: _is(row[name], kind) for name, kind in _STATED.items() if name in row}
    return RuleTest(
        name=_is(row["name"], str),
        procedure=_is(row["procedure"], dict),
        expect=_one_of(row["expect"], EXPECTATIONS),
        closure=tuple(_is(member, dict) for member in row.get("closure", ())),
        now=_moment(row.get("now")),
        **stated,
    )


def _terms(row: Mapping[str, Any]) -> WaiverTerms:
    break_glass = row["break_glass"]
    return WaiverTerms(
        at_most=_is(row["at_most"], str),
        roles=tuple(_is(role, str) for role in _is(row["roles"], list)),
        verified=_is(row["verified"], bool),
        break_glass=None if break_glass is None else _is(break_glass, str),
    )


def _check(rules: tuple[Rule, ...]) -> None:
    """Raise ``ValueError`` for rules that no source can hold. Expressions are compiled when they are asked."""
    sources = [
        PolicySource(name=policy, owner=owner, rules=tuple(group))
        for (policy, owner), group in groupby(rules, key=lambda rule: (rule.policy, rule.owner))
    ]
    if not sources:
        raise ValueError("there are no rules")
    if [source.name for source in sources] != sorted(source.name for source in sources):
        raise ValueError("the policies are not in the order of their names")
    faults = [fault for _, fault in duplicate_faults(sources)]
    for source in sources:
        faults += head_faults(source.name, source.owner)
        faults += [fault for rule in source.rules for fault in rule_faults(rule)]
    if any(rule.kind == "require" and not isinstance(rule.body, str) for rule in rules):
        raise ValueError("an expression is no text")
    if any(rule.kind != "require" and not isinstance(rule.body, dict) for rule in rules):
        raise ValueError("what a rule demands is no object")
    if faults:
        raise ValueError(faults[0].message)


def _moment(text: Any) -> datetime | None:
    return None if text is None else parse_moment(_is(text, str))


def _is(value: Any, kind: type[_T]) -> _T:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def _one_of(value: Any, known: tuple[_T, ...]) -> _T:
    for word in known:
        if word == value:
            return word
    raise ValueError(f"{value!r} is none of {', '.join(map(str, known))}")


def _damaged(why: str, cause: Exception | None = None) -> NoReturn:
    message = f"the adopted policy is damaged: {why}"
    hint = "run pawl verify, and restore releases/registry/ from Git; no older policy stands in for it"
    raise IntegrityError(message, code="policy-damaged", hint=hint) from cause
