"""Whether what is live must not stay: then a freeze does not hold the move that leaves it.

- A pin must not stay if it or what it requires is revoked, if it is yanked, or if it breaks a safety rule that nobody
  waived and that is more than advice. What can be taken back, a yank or a deprecation, frees a promotion only if it is
  older than the freeze: nobody passes one by yanking what is live and restoring it.
- The way back is also free from what is halted or rejected here; the way on is not, or whoever wanted to pass a freeze
  would only have to halt something first.
- A rollback moves as one: where one of its names is left for such a reason, none of it is held. A promotion is free
  for the very name, and for what changes only because it requires that name.
- A pin whose documents are not all known gives no reason to leave.
"""

from __future__ import annotations

from collections.abc import Iterator

from pawl.ids import Name, Ref
from pawl.policy.context import RuleContext
from pawl.policy.facts import Facts, WithdrawnFact
from pawl.policy.rules import Rule, evaluate_rule
from pawl.policy.situation import Situation
from pawl.policy.waiving import Wanted, find_waiver, terms_of
from pawl.registry.closure import Closure, closure_of

_KINDS = frozenset({"require", "withdrawn"})
"""Kinds of rules that say something of what is live."""


class Leaving:
    """Answers for one situation, each live pin asked once for each freeze."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._known: dict[tuple[Name, str], str] = {}

    def why(self, name: Name, closure: Closure, *, since: str = "") -> str:
        """Return why the move of ``name`` leaves something that must not stay; empty where it does not.

        ``since`` is when the freeze that it would pass was set; empty for one that comes by a rule.
        """
        moves = self._situation.moves
        if self._situation.action == "rollback":
            names = tuple(moves)
        elif name in moves:
            names = (name,)
        else:
            names = tuple(member.name for member in closure.members if member.name in moves)
        return next((why for left in names if (why := self._of(left, since))), "")

    def _of(self, name: Name, since: str) -> str:
        if (name, since) not in self._known:
            self._known[name, since] = next(_reasons(self._situation, name, since), "")
        return self._known[name, since]


def _reasons(situation: Situation, name: Name, since: str) -> Iterator[str]:
    pin = situation.state.pins.get(name)
    if pin is None:
        return
    closure = closure_of(name, situation.state.pins)
    withdrawn = withdrawn_in(situation, closure)
    if situation.action == "promote":
        withdrawn = tuple(fact for fact in withdrawn if fact.level == "revoked" or fact.at < since)
    for fact in withdrawn:
        if fact.level == "revoked" or (fact.level == "yanked" and fact.ref == str(pin.ref)):
            yield f"{fact.ref} is {fact.level}"
    if situation.action == "rollback":
        if situation.state.halted(name):
            yield f"{name} is halted"
        rejection = situation.state.rejections.get(pin.content)
        if rejection is not None and rejection.holds(situation.at):
            yield f"{pin.ref} is rejected"
    for rule in situation.rules:
        binding = rule.rule_class == "safety" and rule.level != "advisory" and rule.kind in _KINDS
        if binding and _breaks(situation, rule, closure, withdrawn):
            yield f"{pin.ref} breaks rule {rule.id}"


def _breaks(situation: Situation, rule: Rule, closure: Closure, withdrawn: tuple[WithdrawnFact, ...]) -> bool:
    members = [situation.documents.get(member.digest) for member in closure.members]
    documents = tuple(member for member in members if member is not None)
    if len(documents) < len(members):
        return False
    context = RuleContext(
        procedure=documents[0],
        closure=documents,
        channel=situation.state.channel,
        action="audit",
        actor=situation.acting,
        current=documents[0],
        now=situation.now,
        facts=Facts(withdrawn=withdrawn),
    )
    if evaluate_rule(rule, context).outcome in {"passed", "not-applicable"}:
        return False
    root = closure.root
    wanted = Wanted(
        rule=rule.id,
        action="audit",
        name=root.name,
        version=root.version,
        digest=root.digest,
        closure=closure.digest,
    )
    waivers = situation.state.waivers.values()
    return find_waiver(waivers, wanted, terms_of(rule), people=situation.people, now=situation.now).waiver is None


def withdrawn_in(situation: Situation, closure: Closure) -> tuple[WithdrawnFact, ...]:
    """Return what of a closure is withdrawn."""
    found = []
    for member in closure.members:
        ref = Ref(member.name, member.version)
        withdrawal = situation.catalog.withdrawal(ref)
        if withdrawal is not None:
            found.append(
                WithdrawnFact(ref=str(ref), level=withdrawal.level, reason=withdrawal.reason, at=withdrawal.at)
            )
    return tuple(found)
