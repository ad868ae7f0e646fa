"""Waive: ask for an exception from one rule for one version or range of versions; and say yes to somebody's waiver.

- A waiver is a record of its own kind, never an approval. It ends, it names who owns it, and a second person says yes.
- What can never count is refused: an absolute rule, a rule that nobody knows, an end beyond the policy's cap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pawl.errors import NotFoundError, RefusedError, UsageError
from pawl.ids import Channel, Digest, Name, Ref, Serial, Version
from pawl.operations.governing.recording import Drafted, Scene, draft, end_in_time, scene_of
from pawl.operations.session import Report, Session
from pawl.operations.world import missing_version
from pawl.policy.durations import duration_words, parse_duration
from pawl.policy.facts import People, kind_of, read_moment, roles_of
from pawl.policy.rules import DEFAULT_TERMS, Rule, WaiverTerms
from pawl.policy.verdict import APPROVAL
from pawl.policy.waiving import FEWER_TESTS, Barred, is_unreviewed, terms_of, why_not
from pawl.problems import Problem
from pawl.registry.channels_grants import Consent, Identity, Waiver
from pawl.registry.closure import closure_of
from pawl.registry.versions import satisfies
from pawl.releases.planning import pin_of

_OF_CLOSURE = frozenset({"approvals", "evidence", "withdrawn"})
"""Kinds of rules that look at all that a version requires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The waiver that somebody asks for: of one version or of a range."""

    rule: str
    name: Name
    version: Version | None
    versions: str | None
    together: Sequence[Ref] = ()
    """What would move with the version, where the rule looks at its closure."""
    actions: Sequence[str]
    until: datetime
    owner: str
    break_glass: bool = False
    review_by: datetime | None = None


def waive(session: Session, asked: Asked, channel: Channel, reason: str, *, dry_run: bool) -> Report:
    """Record a waiver, which counts once a second person has approved it. Exit code 3 where it never could."""
    scene = scene_of(session, channel, reason)
    rule, terms = _rule(scene, asked)
    until, review_by = _ends(session, asked, terms)
    if asked.break_glass:
        _check_reviews(scene, asked, terms)
    digest, closure = _subject(scene, asked, rule)
    body: dict[str, Any] = {
        "rule": asked.rule,
        "name": asked.name,
        "digest": digest,
        "closure": closure,
        "versions": asked.versions,
        "actions": list(dict.fromkeys(asked.actions)),
        "until": until,
        "owner": asked.owner.strip(),
        "break_glass": asked.break_glass,
        "review_by": review_by,
    }
    present = _present(scene, body)
    if present is not None:
        return scene.unchanged(f"you asked for this already: waiver {present.serial} until {present.until}")
    drafted = draft(scene, "waive", {"waiver": body}, f"{asked.rule} for {asked.name}")
    return _told(drafted, body, terms, dry_run=dry_run)


def _told(drafted: Drafted, body: Mapping[str, Any], terms: WaiverTerms, *, dry_run: bool) -> Report:
    scene, serial = drafted.scene, drafted.record.serial
    waiver = drafted.judged.waivers[serial]
    why = why_not(waiver, terms, people=_people(scene), now=scene.session.now)
    hint = f'somebody else: pawl approve --waiver {serial} --channel {scene.channel} --reason "..."'
    exit_code = 0
    if waiver.break_glass and why is not None:
        message = f"the glass is not broken, waiver {serial} does not count: {why}"
        problem = Problem(code="waiver-not-counted", message=message, rule=waiver.rule, hint=hint)
        exit_code = APPROVAL
    else:
        waits = f"counts until it is reviewed by {waiver.review_by}" if why is None else f"does not count yet: {why}"
        message = f"waiver {serial} {waits}"
        problem = Problem(code="waiver-pending", severity="note", message=message, rule=waiver.rule, hint=hint)
    data = {"waiver": dict(body), "counts": why is None}
    return drafted.finish(data, problems=(problem,), exit_code=exit_code, dry_run=dry_run)


def consent(session: Session, serials: Sequence[Serial], channel: Channel, reason: str, *, dry_run: bool) -> Report:
    """Record a yes to waivers. Exit code 8 where it does not count, with the reason."""
    scene = scene_of(session, channel, reason)
    wanted = list(dict.fromkeys(serials))
    for serial in wanted:
        if serial not in scene.state.waivers:
            raise NotFoundError(
                f"record {serial} of {channel} is no waiver",
                code="waiver-unknown",
                hint=f"pawl history {channel} shows them with their numbers",
            )
    new = [serial for serial in wanted if not _approved(scene, serial)]
    if not new:
        return scene.unchanged(f"you approved waiver {', '.join(map(str, wanted))} already")
    body = {"approvals": [], "waivers": new}
    drafted = draft(scene, "approve", body, f"waiver {', '.join(map(str, new))}")
    rows, problems = [], []
    for serial in new:
        waiver = drafted.judged.waivers[serial]
        mine = waiver.approved_by[-1]
        why = _objection(scene, waiver, mine)
        rows.append({"serial": serial, "rule": waiver.rule, "counts": why is None})
        if why is not None:
            message = f"the approval of waiver {serial} does not count: {why}"
            problems.append(Problem(code="approval-not-counted", message=message, rule=waiver.rule))
    exit_code = APPROVAL if problems else 0
    return drafted.finish({"waivers": rows}, problems=tuple(problems), exit_code=exit_code, dry_run=dry_run)


def terms_for(rules: Sequence[Rule], rule: str) -> WaiverTerms | None:
    """Return what a waiver of a rule needs, or ``None`` where there can be none."""
    if rule == FEWER_TESTS:
        return DEFAULT_TERMS
    return next((terms_of(item) for item in rules if item.id == rule), None)


def _people(scene: Scene) -> People | None:
    policy = scene.world.catalog.policy
    return policy.people if policy else None


def _rule(scene: Scene, asked: Asked) -> tuple[Rule | None, WaiverTerms]:
    if asked.rule == FEWER_TESTS:
        if set(asked.actions) != {"promote"}:
            raise UsageError(f"{FEWER_TESTS} is about promotions alone", code="action-bad")
        return None, DEFAULT_TERMS
    policy = scene.world.catalog.policy
    number = policy.number if policy else None
    rule = next((item for item in scene.world.rules if item.id == asked.rule), None)
    if rule is None:
        known = ", ".join(item.id for item in scene.world.rules if item.level == "waivable") or "none"
        where = f"policy {number} has no rule {asked.rule}" if number else "no policy has been adopted"
        message = f"{where}; waivable rules: {known}; and {FEWER_TESTS}"
        raise RefusedError(message, code="rule-unknown", hint="pawl policy show lists the rules")
    terms = terms_of(rule)
    if terms is None:
        raise RefusedError(
            f"rule {rule.id} of policy {number} is {rule.level}, and only a waivable rule has waivers",
            code="rule-not-waivable",
            hint="mend the procedure; what a rule demands is changed by its owner, and adopted",
        )
    return rule, terms


def _ends(session: Session, asked: Asked, terms: WaiverTerms) -> tuple[str, str | None]:
    if not asked.owner.strip():
        raise UsageError("a waiver has an owner", code="waiver-owner")
    if asked.break_glass != (asked.review_by is not None):
        raise UsageError("--break-glass and --review-by go together", code="review-missing")
    until = end_in_time(session, asked.until, "the waiver")
    _within(session, until, terms.at_most, "a waiver of", asked.rule)
    if asked.review_by is None:
        return until, None
    if terms.break_glass is None:
        message = f"rule {asked.rule} does not allow to break the glass"
        raise RefusedError(message, code="glass-kept", hint="ask without --break-glass; somebody else approves it")
    review_by = end_in_time(session, asked.review_by, "the time for the review")
    _within(session, review_by, terms.break_glass, "the review of", asked.rule)
    return until, review_by


def _check_reviews(scene: Scene, asked: Asked, terms: WaiverTerms) -> None:
    """Refuse to break the glass again while an earlier review of the same rule and name was missed."""
    waivers = [item for item in scene.judged.waivers.values() if (item.rule, item.name) == (asked.rule, asked.name)]
    people, now = _people(scene), scene.session.now
    for waiver in waivers:
        barred = _authors(scene, waiver)
        if waiver.review_by is None or waiver.review_by > scene.session.at:
            continue
        if is_unreviewed(waiver, terms, people=people, now=now, barred=barred):
            raise RefusedError(
                f"waiver {waiver.serial} of rule {waiver.rule} broke the glass for {waiver.covers}, and its review "
                f"was due at {waiver.review_by}: the glass is not broken again until it is reviewed",
                code="review-missed",
                hint=f'somebody else: pawl approve --waiver {waiver.serial} --channel {scene.channel} --reason "..."',
            )


def _authors(scene: Scene, waiver: Waiver) -> Barred:
    """Return whose consent cannot count: nobody does without approvals for their own version."""
    rule = next((item for item in scene.world.rules if item.id == waiver.rule), None)
    if rule is None or rule.kind != "approvals" or waiver.digest is None:
        return ()
    return tuple(scene.world.catalog.authors.get(waiver.digest, ()))


def _within(session: Session, end: str, at_most: str, what: str, rule: str) -> None:
    longest = parse_duration(at_most).exact
    if read_moment(end) - session.now > longest:
        message = f"{what} rule {rule} may last {duration_words(longest)} ({at_most}) by the policy, and {end} is later"
        raise RefusedError(message, code="waiver-too-long", hint=f"--for {at_most} is the longest")


def _subject(scene: Scene, asked: Asked, rule: Rule | None) -> tuple[Digest | None, Digest | None]:
    """Return the digest that it is for, with its closure where the rule looks at it; neither for a range."""
    catalog = scene.world.catalog
    if (asked.version is None) == (asked.versions is None):
        raise UsageError("a waiver is for NAME@VERSION, or for NAME with --versions", code="waiver-of-what")
    if asked.versions is not None:
        _check_range(asked.versions)
        if not catalog.versions_of(asked.name):
            raise missing_version(Ref(asked.name, Version("0.0.0")), [])
        return None, None
    if asked.version is None:
        raise AssertionError("looked at above")
    published = scene.world.published(Ref(asked.name, asked.version))
    looks = rule is not None and (rule.kind in _OF_CLOSURE or (rule.kind == "require" and "closure" in str(rule.body)))
    if not looks:
        return published.digest, None
    moving = {ref.name: pin_of(scene.world.published(ref)) for ref in asked.together}
    after = {**scene.state.pins, **moving, asked.name: pin_of(published)}
    return published.digest, closure_of(asked.name, after).digest


def _check_range(versions: str) -> None:
    try:
        satisfies(Version("1.0.0"), versions)
    except ValueError:
        message = f"{versions[:80]!r} is no range of versions"
        raise UsageError(message, code="versions-bad", hint="write one such as '>=1.2,<2'") from None
    if not versions.strip():
        raise UsageError("a range of versions says which", code="versions-bad", hint="write one such as '>=1.2,<2'")


def _present(scene: Scene, body: Mapping[str, Any]) -> Waiver | None:
    me = scene.session.actor
    for waiver in scene.state.waivers.values():
        row = waiver.as_dict()
        if waiver.by.is_same(me) and waiver.until > scene.session.at and all(row[key] == body[key] for key in body):
            return waiver
    return None


def _approved(scene: Scene, serial: Serial) -> bool:
    """Whether the actor said yes before, and that counts."""
    waiver, me = scene.judged.waivers[serial], scene.session.actor
    mine = (item for item in waiver.approved_by if item.by.is_same(me))
    return any(_objection(scene, waiver, item) is None for item in mine)


def _objection(scene: Scene, waiver: Waiver, mine: Consent) -> str | None:
    """Return why a waiver would not count with this yes alone."""
    terms = terms_for(scene.world.rules, waiver.rule)
    people, now = _people(scene), scene.session.now
    alone = replace(waiver, approved_by=(mine,), break_glass=False, review_by=None)
    barred = _authors(scene, waiver)
    why = why_not(alone, terms, people=people, now=now, barred=barred)
    if why is None or terms is None:
        return why
    return next(personal_objections(mine.by, waiver, terms, people, barred), why)


def personal_objections(
    who: Identity, waiver: Waiver, terms: WaiverTerms, people: People | None, barred: Barred = ()
) -> Iterator[str]:
    """Yield why somebody's yes to a waiver does not count, whatever else holds."""
    roles = roles_of(who, people)
    if who.is_same(waiver.by):
        yield f"{who} asked for it, and somebody else approves"
    if any(who.is_same(author) for author in barred):
        yield f"{who} made the version, and nobody does without approvals for their own"
    if kind_of(who, roles) == "agent":
        yield f"{who} is an AI agent, and agents approve nothing"
    if roles is None:
        yield f"{who} is not among the adopted people"
    elif terms.roles and not set(terms.roles) & set(roles):
        yield f"{who} has not the role {' or '.join(terms.roles)}"
    if terms.verified and not who.verified:
        yield f"{who} is not verified by a signature"
