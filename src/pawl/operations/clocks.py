"""Clocks that were set back: order is by serial whatever they say, and what had ended could count again by them.

Less than ``SLACK`` is nobody's fault: a command reads its clock when it starts and may then wait for one that started
later, and machines that are kept in step are still some seconds apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from pawl.ids import Serial
from pawl.operations.session import Session
from pawl.problems import Problem
from pawl.registry.journal import Head, Record

SLACK = timedelta(minutes=1)
_HINT = "look at the clocks of the machines that wrote them, and at what had ended and may have counted again"


def set_back(records: Sequence[Record]) -> frozenset[Serial]:
    """Return the records of a journal that are of a time before that of the one before them, by ``SLACK`` or more."""
    return frozenset(after.serial for before, after in pairwise(records) if _is_back(before.at, after.at))


def journal_problems(where: str, records: Sequence[Record], now: str) -> Iterator[Problem]:
    """Yield a warning for each record of a journal whose clock was back, as ``set_back`` tells, and for a newest one
    that is of a later time than it is ``now``."""
    for before, after in pairwise(records):
        if _is_back(before.at, after.at):
            first = f"record {before.serial} before it of {before.at}"
            message = f"record {after.serial} of {where} is of {after.at}, and {first}"
            yield Problem(code="clock-back", severity="warning", message=message, hint=_HINT)
    if records and _is_back(records[-1].at, now):
        yield _ahead(where, records[-1].serial, records[-1].at, now)


def now_problems(session: Session, heads: Mapping[str, Head]) -> tuple[Problem, ...]:
    """Return a warning for each journal whose newest record, as it was found, is of a later time than it is now."""
    found = []
    for journal, head in heads.items():
        newest = session.workspace.time_of(journal, head) if head.serial else session.at
        if _is_back(newest, session.at):
            found.append(_ahead(journal, head.serial, newest, session.at))
    return tuple(found)


def _ahead(journal: str, serial: Serial, at: str, now: str) -> Problem:
    message = f"it is {now} by the clock here, and record {serial} of {journal} is of {at}"
    hint = "set the clock right: what had ended may count again by it"
    return Problem(code="clock-back", severity="warning", message=message, hint=hint)


def _is_back(before: str, after: str) -> bool:
    return after < before and datetime.fromisoformat(before) - datetime.fromisoformat(after) >= SLACK
