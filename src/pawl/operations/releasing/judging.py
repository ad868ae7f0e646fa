"""Putting a question to the evaluator: gathering what it must know, running the suites that have no valid evidence.

The cheap checks come first: where they already refuse, no suite is run, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pawl.canonical import record_bytes, sha256
from pawl.conformance.evidence import (
    Choice,
    EvidenceEntry,
    Key,
    choose,
    entry_from_record,
    parse_time,
    statement,
    to_record,
    why_not_reused,
)
from pawl.conformance.outcomes import SuiteResult
from pawl.conformance.run import run_suite, runner_digest_for
from pawl.conformance.suites import Suite
from pawl.errors import IntegrityError, PawlError
from pawl.ids import Digest, Name
from pawl.io.files import read_bounded
from pawl.operations.session import Session
from pawl.operations.situations import situation_for
from pawl.operations.sources import Sources
from pawl.operations.world import World
from pawl.policy.evaluator import evaluate
from pawl.policy.freshness import longest_age
from pawl.policy.situation import Situation, SuiteEvidence, affected
from pawl.policy.verdict import EVIDENCE, Action, Answers, Verdict
from pawl.problems import Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.closure import Closure, closure_of
from pawl.registry.journal import MAX_RECORD_BYTES
from pawl.releases.planning import NewEvidence
from pawl.workspace import Workspace

_DECIDED = {
    "passed": "evidence reused from",
    "failed": "on exactly these digests; a changed procedure, suite or implementation is tested anew; evidence of",
}
"""Results that stand until one of their digests changes; anything else could not tell, and is run again."""
_NOT_RUN = "no stored result counts, and it was not run"
_TOLD_NOTHING = "skipped"
"""What a suite comes to whose implementation was not run: it says nothing about the version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suites:
    """How results are come by: by default what is stored and decided counts, and everything else is run."""

    run: bool = True
    """Where this is false nothing is run, and a suite without a result has none."""
    since: datetime | None = None
    """What was finished then or before is run again."""
    mark: str = ""
    """What tells the files of several judgements under one record apart."""
    made: dict[Key, SuiteResult] | None = None
    """What was run already; with it, no suite is run twice on one closure."""
    read: dict[Digest, Procedure] | None = None
    """Which frozen versions were read already, by this command: with it, none is read twice."""


DEFAULT_SUITES = Suites()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict, what the suites said of each affected procedure, and the evidence that was made for it just now."""

    verdict: Verdict
    suites: Mapping[Name, tuple[SuiteEvidence, ...]]
    new: tuple[NewEvidence, ...]
    situation: Situation
    aged: frozenset[tuple[str, str]] = frozenset()
    """Version and suite of each stored result that a rollback would make again for its age; where nothing is run."""

    @property
    def undecided(self) -> bool:
        """Whether nothing but suites that were not run keeps it from being allowed."""
        failures = self.verdict.failures
        not_run = any(suite.outcome is None for suites in self.suites.values() for suite in suites)
        return not_run and all(finding.code == "evidence-missing" for finding in failures)

    def evidence(self) -> list[dict[str, Any]]:
        """Return what each suite came to, when, and how long ago; ``stored`` where it was not run for this."""
        situation = self.situation
        made = self.aged | {(new.entry["about"], new.entry["suite"]) for new in self.new}
        rows = []
        for name, suites in self.suites.items():
            about = str(situation.after[name].ref)
            for suite in suites:
                age = situation.now - parse_time(suite.at) if suite.at else None
                rows.append(
                    {
                        "suite": suite.suite,
                        "about": about,
                        "outcome": suite.outcome,
                        "finished_at": suite.at,
                        "reason": suite.reason,
                        "age_seconds": int(age.total_seconds()) if age is not None else None,
                        "stored": suite.at is not None and (about, suite.suite) not in made,
                    }
                )
        return rows

    def tests(self, name: Name) -> dict[str, int]:
        """Return how many cases each suite of a procedure has."""
        return {suite.suite: suite.cases for suite in self.suites.get(name, ())}


def judge(
    session: Session,
    world: World,
    sources: Sources,
    *,
    action: Action,
    state: ChannelState,
    moves: Mapping[Name, Pin | None],
    detail: bool = False,
    suites: Suites = DEFAULT_SUITES,
) -> Judgement:
    """Return the judgement on moving ``moves`` on a channel. Runs suites; stores nothing.

    ``detail``: every rule is told, with what it looked at.
    """
    situation = situation_for(
        session, world, action=action, state=state, moves=moves, unread_suites=sources.unread_suites, detail=detail
    )
    procedures = read_affected(session.workspace, situation, suites.read)
    if suites.read is not None:
        suites.read.update(procedures)
    situation = replace(situation, documents={item.digest: item.document for item in procedures.values()})
    answers: Answers = {}
    if suites.run or action == "remove":
        first = evaluate(situation, answers)  # the cheap checks, before any suite is run
        if action == "remove" or _is_refused(first):
            return Judgement(verdict=_without_suites(first), suites={}, new=(), situation=situation)
    gathering = _Gathering(
        session=session,
        world=world,
        sources=sources,
        procedures=procedures,
        release=f"{state.channel}-{state.head.serial + 1:06d}{suites.mark}",
        suites=suites,
    )
    found, new = gathering.gather(situation)
    asked = replace(situation, evidence=found)
    verdict = evaluate(asked, answers)
    if not suites.run and _is_refused(verdict):
        # what nobody asks above is not told here either, though it was at hand
        return Judgement(verdict=_without_suites(evaluate(situation)), suites={}, new=(), situation=situation)
    return Judgement(verdict=verdict, suites=found, new=new, situation=asked, aged=frozenset(gathering.aged))


def _is_refused(verdict: Verdict) -> bool:
    """Whether something else than evidence refuses, so that no suite needs to be asked."""
    return any(finding.exit_code != EVIDENCE for finding in verdict.failures)


def _without_suites(verdict: Verdict) -> Verdict:
    """Return a refusal in which suites that nobody asked are no further reason to refuse."""
    findings = tuple(
        replace(
            finding, status="not-applicable", code="evidence-not-asked", message=f"{finding.message}: refused already"
        )
        if finding.check == "evidence" and finding.status == "missing"
        else finding
        for finding in verdict.findings
    )
    return replace(verdict, findings=findings)


def read_affected(
    workspace: Workspace, situation: Situation, known: Mapping[Digest, Procedure] | None = None
) -> dict[Digest, Procedure]:
    """Return every procedure that the verdict covers and what is pinned in its place now, each with its closure.

    ``known`` are procedures that need not be read, or cannot be, because they are not published.
    """
    after = situation.after
    wanted: dict[Digest, Pin] = {}
    for name in affected(situation):
        for member in closure_of(name, after).members:
            wanted[member.digest] = after[member.name]
        if name in situation.state.pins:
            for member in closure_of(name, situation.state.pins).members:
                wanted[member.digest] = situation.state.pins[member.name]
    here = known or {}
    return {digest: here.get(digest) or workspace.procedure(pin) for digest, pin in wanted.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gathering:
    session: Session
    world: World
    sources: Sources
    procedures: Mapping[Digest, Procedure]
    release: str
    """The record that new evidence would be stored by: channel and serial."""
    suites: Suites
    aged: set[tuple[str, str]] = field(default_factory=set)

    def gather(self, situation: Situation) -> tuple[dict[Name, tuple[SuiteEvidence, ...]], tuple[NewEvidence, ...]]:
        """Return each affected procedure's suites with their newest results, and the statements made for it."""
        suites: dict[Name, tuple[SuiteEvidence, ...]] = {}
        new: list[NewEvidence] = []
        after = situation.after
        back = situation.action == "rollback"
        for name in affected(situation):
            closure = closure_of(name, after)
            procedure = self.procedures[closure.root.digest]
            # of other subjects no result could count, and there may be many
            entries = [entry_from_record(row) for row in self.world.evidence_of(procedure.digest)]
            age = longest_age(
                situation.rules,
                procedure=procedure.document,
                channel=situation.state.channel,
                action=situation.action,
                now=situation.now,
            )
            oldest = self.session.now - age if age is not None else None
            found = []
            for suite in self.sources.suites_of(procedure):
                known, made = self._suite(suite, procedure, closure, entries, oldest, back=back)
                found.append(known)
                new += made
            suites[name] = tuple(found)
        return suites, tuple(new)

    def _suite(
        self,
        suite: Suite,
        procedure: Procedure,
        closure: Closure,
        entries: list[EvidenceEntry],
        oldest: datetime | None,
        *,
        back: bool,
    ) -> tuple[SuiteEvidence, tuple[NewEvidence, ...]]:
        """Return the result that counts; what a rule would find too old, from ``oldest`` back, is made again."""
        settings = self.sources.settings
        root, paths = self.session.workspace.root, settings.python_path
        key = Key(
            subject=procedure.digest,
            closure=closure.digest,
            suite=suite.digest,
            runner=runner_digest_for(procedure, root=root, python_path=paths),
        )
        choice = choose(entries, key, now=self.session.now)
        entry, why_run = choice.entry, self._why_run(choice, suite, oldest)
        if entry is not None and why_run is None:
            return self._stored(suite, entry), ()
        passed_once = back and entry is not None and entry.outcome == "passed"  # age alone never closes a way back
        if entry is not None and passed_once and not self.suites.run:
            self.aged.add((str(procedure.ref), suite.name))
            return self._stored(suite, entry), ()
        if not self.suites.run:
            reason = f"{_NOT_RUN}: {why_run}"
            return SuiteEvidence(suite=suite.name, cases=len(suite.cases), outcome=None, reason=reason), ()
        required = {member.name: self.procedures[member.digest] for member in closure.members}
        made = self.suites.made if self.suites.made is not None else {}
        result = made.get(key)
        if result is None:
            code = self.session.run_code
            result = run_suite(suite, procedure, code=code, root=root, python_path=paths, closure=required)
            made[key] = result
        if entry is not None and passed_once and result.outcome == _TOLD_NOTHING:
            return self._stored(suite, entry), ()
        new = new_evidence(result, suite, key, closure, self.session, self.release)
        return _evidence(suite, result.outcome, _why(result, why_run), self.session.at), (new,)

    def _stored(self, suite: Suite, entry: EvidenceEntry) -> SuiteEvidence:
        self._check_stored(entry)
        reason = f"{_DECIDED[entry.outcome]} {entry.finished_at}"
        return _evidence(suite, entry.outcome, reason, entry.finished_at)

    def _why_run(self, choice: Choice, suite: Suite, oldest: datetime | None) -> str | None:
        """Return why a suite has to run; ``None`` where a stored result stands."""
        entry, since = choice.entry, self.suites.since
        if entry is None:
            return why_not_reused(choice, suite.name)
        if entry.outcome not in _DECIDED:
            return f"the result of {entry.finished_at} could not tell: {entry.outcome}"
        if since is not None and entry.finished <= since:
            return f"made anew, whatever is stored; the last result is of {entry.finished_at}"
        if oldest is not None and entry.outcome == "passed" and entry.finished <= oldest:
            return f"the result of {entry.finished_at} is older than a rule takes for a promotion"
        return None

    def _check_stored(self, entry: EvidenceEntry) -> None:
        path = self.session.workspace.evidence / entry.file
        try:
            found = sha256(read_bounded(path, limit=MAX_RECORD_BYTES))
        except PawlError:
            found = None
        if found != entry.digest:
            where = self.session.workspace.relative(path)
            message = f"the evidence {where} is not as it was recorded"
            problem = Problem(
                code="evidence-changed", message=message, path=where, hint=f"restore it: git checkout -- {where}"
            )
            raise IntegrityError(message, problems=(problem,))


def new_evidence(
    result: SuiteResult, suite: Suite, key: Key, closure: Closure, session: Session, release: str
) -> NewEvidence:
    """Return a result as the statement to store and its entry in the record that stores it.

    The file is named after the record, ``release``: where a command is killed before its record is complete, the next
    attempt takes the same number and replaces the file.
    """
    members = [(member.name, member.version, member.digest) for member in closure.members]
    content = statement(result, key, suite=suite, members=members, finished=session.at)
    data = record_bytes(content)
    file = f"{closure.root.name}/{closure.root.version}/{suite.name}.{release}.json"
    return NewEvidence(name=file, data=data, entry=to_record(content, file=file, digest=sha256(data)))


def _evidence(suite: Suite, outcome: Any, reason: str, at: str) -> SuiteEvidence:
    return SuiteEvidence(suite=suite.name, cases=len(suite.cases), outcome=outcome, reason=reason, at=at)


def _why(result: SuiteResult, why_run: str | None) -> str:
    if result.outcome == "passed":
        return f"run now: {why_run}"
    wrong = [case for case in result.cases if case.outcome != "passed"]
    first = "; ".join(f"{case.id} {case.outcome}: {'; '.join(case.reasons)}" for case in wrong[:3])
    more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return (first + more) or "it has no cases"
