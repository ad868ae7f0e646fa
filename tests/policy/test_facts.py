"""Who somebody is by the adopted people, and for how long something was live."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pawl.policy.facts import Stay, kind_of, roles_of
from pawl.registry.channels_grants import Identity

PEOPLE = {"ada@example.invalid": ("risk",), "ADA@example.invalid": ("release", "risk"), "dan@example.invalid": ()}


def who(email: str | None, kind: Any = "human") -> Identity:
    return Identity(name="x", email=email, kind=kind, verified=False)


ROLES = [
    ("ada@example.invalid", ("risk", "release")),
    ("Ada@Example.invalid", ("risk", "release")),
    ("dan@example.invalid", ()),
    ("eve@example.invalid", None),
    ("", None),
    (None, None),
]


@pytest.mark.parametrize(("email", "roles"), ROLES)
def test_roles_go_by_address_whatever_its_case(email: str | None, roles: tuple[str, ...] | None) -> None:
    assert roles_of(who(email), PEOPLE) == roles
    assert roles_of(who(email), None) is None
    assert roles_of(who(email), {}) is None


KINDS = [
    ("human", (), "human"),
    ("human", None, "human"),
    ("human", ("risk", "agent"), "agent"),
    ("human", ("service",), "service"),
    ("service", ("agent",), "agent"),
    ("service", (), "service"),
    ("agent", ("human", "service"), "agent"),
    ("unknown", ("human",), "unknown"),
]


@pytest.mark.parametrize(("recorded", "roles", "kind"), KINDS)
def test_whoever_is_called_an_agent_anywhere_is_one(recorded: str, roles: tuple[str, ...] | None, kind: str) -> None:
    assert kind_of(who("ada@example.invalid", recorded), roles) == kind


STAYS: list[tuple[list[tuple[str, str | None]], timedelta]] = [
    ([], timedelta()),
    ([("2026-03-01T10:00:00Z", None)], timedelta(hours=2)),
    ([("2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"), ("2026-03-01T11:30:00Z", None)], timedelta(minutes=90)),
    ([("2026-03-01T10:00:00Z", "2026-03-01T09:00:00Z")], timedelta()),  # a clock went back
    ([("2026-03-01T11:00:00Z", "2026-03-05T00:00:00Z")], timedelta(hours=1)),
    ([("2026-03-02T00:00:00Z", None)], timedelta()),
]


@pytest.mark.parametrize(("times", "total"), STAYS)
def test_time_to_come_does_not_count(times: list[tuple[str, str | None]], total: timedelta) -> None:
    assert Stay(times=tuple(times)).total(datetime(2026, 3, 1, 12, 0, tzinfo=UTC)) == total
