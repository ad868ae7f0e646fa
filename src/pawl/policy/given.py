"""What an example beside a rule says is known: approvals, times on channels, ages of results, withdrawals.

Everything is relative to the moment of the example, so that examples do not grow old: ``live: {staging: PT30H}`` has
been live there for thirty hours. What an example does not say is not known, which is a no to a rule that needs it;
only withdrawals are none where none are given, and the version that is pinned now is ``current``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pawl.canonical import timestamp
from pawl.policy.durations import parse_duration
from pawl.policy.facts import ApprovalFact, Facts, ResultFact, Stay, WithdrawnFact
from pawl.registry.channels_grants import Identity

POLICY = 2
"""The number of the policy in an example."""
AUTHOR = "author@example.invalid"
_LONG = parse_duration("P365D").exact
_OTHER = {
    "this": "",
    "another-version": "another version",
    "another-closure": "this version with another closure",
    "another-policy": "",
}
OF = tuple(_OTHER)
"""What an approval in an example can be of."""


def facts_from(
    given: Mapping[str, Any] | None, *, current: Mapping[str, Any] | None, actor: Mapping[str, Any], now: datetime
) -> Facts:
    """Return what is known in an example."""
    said = given or {}
    live, results, withdrawn = said.get("live"), said.get("evidence"), said.get("withdrawn", {})
    return Facts(
        moves=said.get("moves", True),
        pinned=(str(current.get("version")),) if current is not None else (),
        policy=POLICY,
        approvals=tuple(_approval(row, now) for row in said["approvals"]) if "approvals" in said else None,
        authors=(_identity(said.get("author", AUTHOR)),),
        requester=_identity(actor["email"], name=actor["name"]),
        roles=tuple(actor["roles"]),
        stays=None if live is None else {channel: _stay(length, now) for channel, length in live.items()},
        results=None
        if results is None
        else tuple(ResultFact(suite=suite, at=_before(now, age)) for suite, age in results.items()),
        withdrawn=tuple(WithdrawnFact(ref=ref, level=level, reason="given") for ref, level in withdrawn.items()),
        leaving=said.get("leaving", ""),
    )


def _approval(row: Mapping[str, Any], now: datetime) -> ApprovalFact:
    of = row.get("of", "this")
    return ApprovalFact(
        by=_identity(row["by"], kind=row.get("kind", "human"), verified=row.get("verified", False)),
        roles=tuple(row["roles"]) if "roles" in row else None,
        policy=POLICY - 1 if of == "another-policy" else POLICY,
        at=_before(now, row.get("age", "PT1H")),
        until=timestamp(now if row.get("ended") else now + _LONG),
        other=_OTHER[of],
    )


def _identity(email: str, *, name: str = "", kind: Any = "human", verified: bool = False) -> Identity:
    return Identity(name=name or email, email=email, kind=kind, verified=verified)


def _stay(length: str, now: datetime) -> Stay:
    return Stay(times=((_before(now, length), None),))


def _before(now: datetime, length: str) -> str:
    return timestamp(now - parse_duration(length).exact)
