"""Which waiver counts: an exception from one rule for one digest or range of versions, for a time.

- It is for exactly this rule, name and action, and for this digest (with its closure, where it says one) or a version
  in its range. It never carries over to anything else.
- It counts from when it was recorded until its end, which is no later than the rule's terms allow.
- Somebody else than who asked has approved it: a person whom the adopted people name, with a role that the terms want.
- Where the terms allow to break the glass, it counts before that, until it is to be reviewed; who broke it is a person
  that could have approved it. Once the review is missed it counts no more, and the glass is not broken again for the
  same rule and name until that review is made up for.
- Of a rule about approvals, nobody waives it for their own version or request.
- An absolute rule has no waivers, and neither has a rule that could not be evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from pawl.canonical import timestamp
from pawl.ids import Digest, Name, Version
from pawl.policy.durations import duration_words, parse_duration
from pawl.policy.facts import People, kind_of, read_moment, roles_of
from pawl.policy.rules import DEFAULT_TERMS, Rule, WaiverTerms
from pawl.registry.channels_grants import Consent, Identity, Waiver
from pawl.registry.journal import Actor
from pawl.registry.versions import satisfies

FEWER_TESTS = "pawl:fewer-tests"
"""What a waiver names that lets a promotion have fewer tests; no rule can have such an id."""

Barred: TypeAlias = Sequence[Identity | Actor]
"""Whose consent does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What would have to be waived."""

    rule: str
    action: str
    name: Name
    version: Version
    digest: Digest
    closure: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The waiver that counts, or why those that name the rule and the procedure do not."""

    waiver: Waiver | None
    objections: tuple[str, ...]


def terms_of(rule: Rule) -> WaiverTerms | None:
    """Return what a waiver of ``rule`` needs, or ``None`` where there can be none."""
    return (rule.waiver or DEFAULT_TERMS) if rule.level == "waivable" else None


def find_waiver(
    waivers: Iterable[Waiver],
    wanted: Wanted,
    terms: WaiverTerms | None,
    *,
    people: People | None,
    now: datetime,
    barred: Barred = (),
) -> Found:
    """Return the waiver of ``wanted`` that counts longest, if any does. The consent of ``barred`` does not count."""
    counting: list[Waiver] = []
    objections: list[str] = []
    named = [waiver for waiver in waivers if waiver.rule == wanted.rule and waiver.name == wanted.name]
    for waiver in named:
        why = next(_misfits(waiver, wanted), None)
        why = why or why_not(waiver, terms, people=people, now=now, barred=barred)
        if (
            why is None
            and waiver.break_glass
            and _consented(waiver, terms or DEFAULT_TERMS, people, now, barred) is None
        ):
            missed = missed_before(named, waiver, terms, people=people, now=now, barred=barred)
            why = f"the review of waiver {missed.serial} was missed" if missed else None
        if why is None:
            counting.append(waiver)
        else:
            objections.append(f"waiver {waiver.serial} does not count: {why}")
    best = max(counting, key=lambda waiver: (waiver.until, waiver.serial), default=None)
    return Found(waiver=best, objections=tuple(objections))


def why_not(
    waiver: Waiver, terms: WaiverTerms | None, *, people: People | None, now: datetime, barred: Barred = ()
) -> str | None:
    """Return why a waiver does not count for anything now, or ``None`` where it counts for what it names."""
    return next(_objections(waiver, terms, people, now, barred), None)


def missed_before(
    waivers: Iterable[Waiver],
    waiver: Waiver,
    terms: WaiverTerms | None,
    *,
    people: People | None,
    now: datetime,
    barred: Barred = (),
) -> Waiver | None:
    """Return another waiver of the same rule and name that broke the glass and was not reviewed in time, ended or not.

    Until somebody has reviewed it, the glass is not broken again.
    """
    for other in waivers:
        same = (other.rule, other.name) == (waiver.rule, waiver.name) and other.serial != waiver.serial
        if not same or other.review_by is None or other.review_by > timestamp(now):
            continue
        if is_unreviewed(other, terms, people=people, now=now, barred=barred if other.digest == waiver.digest else ()):
            return other
    return None


def is_unreviewed(
    waiver: Waiver, terms: WaiverTerms | None, *, people: People | None, now: datetime, barred: Barred = ()
) -> bool:
    """Whether a waiver broke the glass, and nobody who can has approved it so far.

    One that never counted broke no glass, whoever asked for it.
    """
    if waiver.review_by is None or _consented(waiver, terms or DEFAULT_TERMS, people, now, barred) is not None:
        return False
    # by terms that were adopted since, it may not count any more; that hides no review
    return waiver.review_by > waiver.at and _can_approve(waiver.by, terms or DEFAULT_TERMS, people)


def review_missed(waiver: Waiver, terms: WaiverTerms | None, *, people: People | None, now: datetime) -> bool:
    """Whether a waiver that broke the glass was to be reviewed by now, and was not; once it has ended, that is over."""
    at = timestamp(now)
    if waiver.review_by is None or waiver.review_by > at or waiver.until <= at:
        return False
    return is_unreviewed(waiver, terms, people=people, now=now)


def waiver_words(
    waiver: Waiver, terms: WaiverTerms | None, *, people: People | None, now: datetime, barred: Barred = ()
) -> str:
    """Return by whom a waiver that counts was asked for and approved, until when, and why."""
    consent = _consented(waiver, terms or DEFAULT_TERMS, people, now, barred)
    approved = (
        f"approved by {consent.by}" if consent else f"approved by nobody yet, to be reviewed by {waiver.review_by}"
    )
    until = waiver.until if consent or waiver.review_by is None else min(waiver.until, waiver.review_by)
    return f"waived until {until} by {waiver.by}, {approved} (waiver {waiver.serial}, {waiver.owner}): {waiver.reason}"


def _misfits(waiver: Waiver, wanted: Wanted) -> Iterator[str]:
    if waiver.digest is not None and waiver.digest != wanted.digest:
        yield "it is for another version"
    if waiver.closure is not None and waiver.closure != wanted.closure:
        yield "it is for another closure"
    if waiver.versions is not None and not _within(wanted.version, waiver.versions):
        yield f"it is for versions {waiver.versions}"
    if wanted.action not in waiver.actions:
        yield f"it is for {' and '.join(waiver.actions)}, and this is {wanted.action}"


def _within(version: Version, versions: str) -> bool:
    try:
        return satisfies(version, versions)
    except ValueError:
        return False


def _objections(
    waiver: Waiver, terms: WaiverTerms | None, people: People | None, now: datetime, barred: Barred
) -> Iterator[str]:
    at = timestamp(now)
    if terms is None:
        yield "the rule has no waivers"
        return
    if waiver.at > at:
        yield f"it is of {waiver.at}, which has not come yet"
    if waiver.until <= at:
        yield f"it ended at {waiver.until}"
    most = parse_duration(terms.at_most).exact
    if read_moment(waiver.until) - read_moment(waiver.at) > most:
        yield f"it was to last longer than the {duration_words(most)} that the policy allows"
    if _consented(waiver, terms, people, now, barred) is None:
        if waiver.review_by is None and _consented(waiver, terms, people, now, ()) is not None:
            yield "nobody consents to it for their own version or request"
        yield from _unreviewed(waiver, terms, people, now)


def _unreviewed(waiver: Waiver, terms: WaiverTerms, people: People | None, now: datetime) -> Iterator[str]:
    """Yield why a waiver that nobody approved does not count all the same."""
    if waiver.review_by is None:
        yield f"nobody else has approved it{_wanting(terms)}"
        return
    if terms.break_glass is None:
        yield "the rule does not allow to break the glass"
        return
    longest = parse_duration(terms.break_glass).exact
    if read_moment(waiver.review_by) - read_moment(waiver.at) > longest:
        yield f"its review was to come later than after the {duration_words(longest)} that the policy allows"
    if not _can_approve(waiver.by, terms, people):
        yield f"{waiver.by} cannot break the glass{_wanting(terms)}"
    if waiver.review_by <= timestamp(now):
        yield f"its review was due at {waiver.review_by}"


def _consented(
    waiver: Waiver, terms: WaiverTerms, people: People | None, now: datetime, barred: Barred
) -> Consent | None:
    """Return the first approval of a waiver that counts."""
    good = (
        item
        for item in waiver.approved_by
        if consent_counts(waiver, item, terms, people=people, now=now, barred=barred)
    )
    return next(good, None)


def consent_counts(
    waiver: Waiver,
    consent: Consent,
    terms: WaiverTerms | None,
    *,
    people: People | None,
    now: datetime,
    barred: Barred = (),
) -> bool:
    """Whether a yes to a waiver is that of a second person who can give it."""
    if terms is None or consent.at > timestamp(now) or any(consent.by.is_same(other) for other in (waiver.by, *barred)):
        return False
    return _can_approve(consent.by, terms, people)


def _can_approve(who: Identity, terms: WaiverTerms, people: People | None) -> bool:
    roles = roles_of(who, people)
    if roles is None or kind_of(who, roles) != "human" or (terms.verified and not who.verified):
        return False
    return not terms.roles or bool(set(terms.roles) & set(roles))


def _wanting(terms: WaiverTerms) -> str:
    wanted = f"; that takes the role {' or '.join(terms.roles)}" if terms.roles else ""
    return f"{wanted}, verified by a signature" if terms.verified else wanted
