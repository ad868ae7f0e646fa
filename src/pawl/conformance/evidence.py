"""Evidence: the stored result of one suite on one closure, and which of several results counts.

A result is stored as an in-toto Statement v1 with the test-result predicate v0.1. That predicate knows passed, warned
and failed tests only, so here ``passedTests`` are the cases that passed, ``failedTests`` are all the others, whatever
the reason, ``warnedTests`` is always empty, and ``result`` is PASSED or FAILED: whoever knows nothing of pawl never
takes for a pass what was none. What each case came to stands beside it under ``pawl``, as an extension field.

Evidence counts only where all four digests of its key are those of today: the subject's document, its closure, the
suite, and the runner with the implementations that it ran. Of what counts the newest decides; of two with the same
time, the worse one. A partial run and a result from the future never count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pawl._version import __version__
from pawl.canonical import digest_of
from pawl.conformance.outcomes import OUTCOMES, WORST_FIRST, Outcome, SuiteResult, fold
from pawl.conformance.suites import Suite
from pawl.errors import IntegrityError
from pawl.ids import Digest, Name, Ref, Version, parse_digest, parse_name, parse_ref

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
RUNNER = 2
"""Goes up when the same suite could come to another result on the same documents; all older evidence then lapses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a result is about, by digest: it counts for exactly this and nothing else."""

    subject: Digest
    closure: Digest
    suite: Digest
    runner: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceEntry:
    """A stored result as the journal speaks of it. ``digest`` is that of the file's bytes."""

    file: str
    digest: Digest
    key: Key
    suite: Name
    about: Ref
    outcome: Outcome
    cases: tuple[str, ...]
    """Ids of the cases that were run."""
    partial: bool
    finished_at: str
    """RFC 3339 in UTC."""

    @property
    def name(self) -> Name:
        return self.about.name

    @property
    def version(self) -> Version:
        return self.about.version

    @property
    def finished(self) -> datetime:
        return parse_time(self.finished_at)

    def as_record(self) -> dict[str, Any]:
        """Return the JSON form that a journal's record holds."""
        return {
            "file": self.file,
            "digest": self.digest,
            "suite": self.suite,
            "about": str(self.about),
            "outcome": self.outcome,
            "cases": list(self.cases),
            "partial": self.partial,
            "finished_at": self.finished_at,
            "key": {
                "subject": self.key.subject,
                "closure": self.key.closure,
                "suite": self.key.suite,
                "runner": self.key.runner,
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """A result of the same suite on the same version that does not count, and why."""

    entry: EvidenceEntry
    reason: str
    changed: tuple[str, ...]
    """The parts of the key that are others now: subject, closure, suite, runner. Empty where it is something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The result that counts, if there is one, and those that were passed over."""

    entry: EvidenceEntry | None
    passed_over: tuple[PassedOver, ...]


def runner_digest(implementations: Mapping[str, Digest | None] | None = None) -> Digest:
    """Return the digest of what runs a suite: pawl's own way of judging, and the implementations that it runs."""
    return digest_of({"runner": RUNNER, "implementations": dict(implementations or {})})


def statement(
    result: SuiteResult,
    key: Key,
    *,
    suite: Suite,
    members: Sequence[tuple[Name, Version, Digest]],
    finished: str,
    started: str | None = None,
) -> dict[str, Any]:
    """Return a result as an in-toto statement; ``members`` are those of the closure, the subject first.

    A result that lacks cases of the suite, or is of another suite or subject than the key, is a mistake of the caller:
    the first is stored as partial, the second raises ``ValueError``.
    """
    if (result.suite_digest, result.subject) != (key.suite, key.subject) or suite.digest != key.suite:
        raise ValueError("the key is not that of this result")
    parse_time(finished)
    partial = result.partial or {case.id for case in result.cases} != {case.id for case in suite.cases}
    passed = result.of("passed")
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": str(result.about), "digest": _digest_set(key.subject)}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": "PASSED" if result.outcome == "passed" and not partial else "FAILED",
            "configuration": [
                {"name": f"suite:{suite.name}", "digest": _digest_set(key.suite)},
                {"name": "closure", "digest": _digest_set(key.closure)},
                {"name": "runner", "digest": _digest_set(key.runner)},
            ],
            "passedTests": list(passed),
            "warnedTests": [],
            "failedTests": [case.id for case in result.cases if case.outcome != "passed"],
            "pawl": {
                "format": 1,
                "version": __version__,
                "suite": suite.name,
                "about": str(result.about),
                "outcome": result.outcome,
                "partial": partial,
                "tally": result.tally.as_dict(),
                "cases": [
                    {"id": case.id, "outcome": case.outcome, "reasons": list(case.reasons)} for case in result.cases
                ],
                "closure": [f"{name}@{version}#{digest}" for name, version, digest in members],
                **({"started_at": started} if started else {}),
                "finished_at": finished,
            },
        },
    }


def entry_of(content: Mapping[str, Any], *, file: str, digest: Digest) -> EvidenceEntry:
    """Return the entry of a statement; ``IntegrityError`` where it is none of ours or contradicts itself."""
    try:
        entry = _entry_of(content, file, digest)
        holds = _holds_together(content, entry)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise _damaged(file, f"it is no evidence statement of pawl: {error}") from error
    if not holds:
        raise _damaged(file, "its parts contradict each other")
    return entry


def _holds_together(content: Mapping[str, Any], entry: EvidenceEntry) -> bool:
    predicate = content["predicate"]
    passed, others = predicate["passedTests"], predicate["failedTests"]
    outcomes = {case["id"]: case["outcome"] for case in predicate["pawl"]["cases"]}
    return (
        content["_type"] == STATEMENT_TYPE
        and content["predicateType"] == PREDICATE_TYPE
        and len(outcomes) == len(predicate["pawl"]["cases"])
        and set(outcomes.values()) <= set(OUTCOMES)
        and sorted(passed) == sorted(case for case, outcome in outcomes.items() if outcome == "passed")
        and sorted(others) == sorted(case for case, outcome in outcomes.items() if outcome != "passed")
        and entry.outcome == fold(outcomes.values())
        and (predicate["result"] == "PASSED") == (entry.outcome == "passed" and not entry.partial)
    )


def to_record(content: Mapping[str, Any], *, file: str, digest: Digest) -> dict[str, Any]:
    """Return the entry of a statement as a journal's record holds it; raises as ``entry_of`` does."""
    return entry_of(content, file=file, digest=digest).as_record()


def entry_from_record(row: Any) -> EvidenceEntry:
    """Return the entry that a journal's record holds; ``IntegrityError`` for what is none."""
    file = str(row.get("file", "evidence")) if isinstance(row, Mapping) else "evidence"
    try:
        if not isinstance(row["file"], str):
            raise TypeError("its file is no text")  # noqa: TRY301 - one way out for all
        entry = EvidenceEntry(
            file=file,
            digest=parse_digest(row["digest"]),
            key=Key(**{part: parse_digest(row["key"][part]) for part in ("subject", "closure", "suite", "runner")}),
            suite=parse_name(row["suite"]),
            about=parse_ref(row["about"]),
            outcome=_outcome(row["outcome"]),
            cases=_ids(row["cases"]),
            partial=_flag(row["partial"]),
            finished_at=row["finished_at"],
        )
        parse_time(entry.finished_at)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(file, f"its record does not read: {error}") from error
    return entry


def subject_of(row: Any) -> Digest:
    """Return what the entry in a record is about, without reading all of it; ``IntegrityError`` for what has none."""
    try:
        subject = row["key"]["subject"]
    except (KeyError, TypeError) as error:
        file = str(row.get("file", "evidence")) if isinstance(row, Mapping) else "evidence"
        raise _damaged(file, f"its record does not read: {error}") from error
    return Digest(str(subject))


def choose(entries: Iterable[EvidenceEntry], key: Key, *, now: datetime) -> Choice:
    """Return the result that counts for ``key``, whatever the order of ``entries``.

    Passed over with a reason are those of the same suite document or on the same subject that do not count.
    """
    counting: list[EvidenceEntry] = []
    passed_over: list[PassedOver] = []
    for entry in entries:
        why = _why_not(entry, key, now)
        if why is None:
            counting.append(entry)
        elif entry.key.subject == key.subject or entry.key.suite == key.suite:
            passed_over.append(PassedOver(entry=entry, reason=why, changed=_changed(entry.key, key)))
    newest_time = max((entry.finished for entry in counting), default=None)
    newest_ones = [entry for entry in counting if entry.finished == newest_time]
    worst = min(newest_ones, key=lambda entry: (WORST_FIRST.index(entry.outcome), entry.digest), default=None)
    return Choice(entry=worst, passed_over=tuple(passed_over))


def newest(entries: Iterable[EvidenceEntry], key: Key, *, now: datetime) -> EvidenceEntry | None:
    """Return the result that counts for ``key``, or None."""
    return choose(entries, key, now=now).entry


_CHANGED = {
    "closure": "what it requires",
    "suite": "the suite",
    "runner": "pawl's way of judging or the implementation",
}


def why_not_reused(choice: Choice, suite: Name) -> str:
    """Return in words why no result of a suite counts; the newest one on the same version says it."""
    rows = [row for row in choice.passed_over if row.entry.suite == suite and "subject" not in row.changed]
    if not rows:
        return "there is no result of it so far"
    row = max(rows, key=lambda item: (item.entry.finished, item.entry.digest))
    if not row.changed:
        return f"the result of {row.entry.finished_at} does not count: {row.reason}"
    what = " and ".join(_CHANGED[part] for part in row.changed)
    return f"{what} changed since the result of {row.entry.finished_at}"


def parse_time(text: str) -> datetime:
    """Return an RFC 3339 time in UTC; ``ValueError`` for anything else, a time without a zone too."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} names no time zone")
    return moment.astimezone(UTC)


def _why_not(entry: EvidenceEntry, key: Key, now: datetime) -> str | None:
    changed = _changed(entry.key, key)
    if changed:
        return f"it is of another {', '.join(changed)}"
    if entry.partial:
        return "it is of a run that left cases out"
    if entry.finished > now:
        return f"it is from the future: {entry.finished_at}"
    return None


def _changed(key: Key, other: Key) -> tuple[str, ...]:
    return tuple(part for part in ("subject", "closure", "suite", "runner") if _part(key, part) != _part(other, part))


def _part(key: Key, part: str) -> Digest:
    found: Digest = getattr(key, part)
    return found


def _entry_of(content: Mapping[str, Any], file: str, digest: Digest) -> EvidenceEntry:
    predicate = content["predicate"]
    ours = predicate["pawl"]
    (subject,) = content["subject"]
    about = parse_ref(ours["about"])
    configuration = {item["name"]: _digest(item["digest"]) for item in predicate["configuration"]}
    suite = parse_name(ours["suite"])
    if subject["name"] != str(about) or ours["format"] != 1:
        raise ValueError("the subject is not what it is about, or its format is unknown")
    finished_at: str = ours["finished_at"]
    parse_time(finished_at)
    return EvidenceEntry(
        file=file,
        digest=digest,
        key=Key(
            subject=_digest(subject["digest"]),
            closure=configuration["closure"],
            suite=configuration[f"suite:{suite}"],
            runner=configuration["runner"],
        ),
        suite=suite,
        about=about,
        outcome=_outcome(ours["outcome"]),
        cases=_ids([case["id"] for case in ours["cases"]]),
        partial=_flag(ours["partial"]),
        finished_at=finished_at,
    )


def _digest_set(digest: Digest) -> dict[str, str]:
    algorithm, _, value = digest.partition(":")
    return {algorithm: value}


def _digest(digests: Mapping[str, str]) -> Digest:
    return parse_digest(f"sha256:{digests['sha256']}")


def _outcome(text: Any) -> Outcome:
    for outcome in OUTCOMES:
        if text == outcome:
            return outcome
    raise ValueError(f"{text!r} is no outcome")


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _ids(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise TypeError("its cases are no list of ids")
    return tuple(values)


def _damaged(file: str, why: str) -> IntegrityError:
    return IntegrityError(
        f"evidence {file}: {why}", code="evidence-damaged", hint=f"restore the file as it was recorded: {file}"
    )
