"""People to act as: their addresses, their roles, their keys, and rules that ask for them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Self

import pytest

from pawl.cli import command
from support import Shop

Become = Callable[[str], None]
"""Lets Git's user be somebody from now on."""
ADA, BEN, CYD, DOE, BOT = "Ada", "Ben", "Cyd", "Doe", "Bot"
"""Ada makes and asks, Ben is of risk, Cyd of release, Doe is not named, Bot is an agent of risk."""

PEOPLE = """\
people:
  ada@example.invalid: [author, risk]
  ben@example.invalid: [risk]
  cyd@example.invalid: [release]
  bot@example.invalid: [agent, risk]
"""

APPROVALS = """\
policy: approvals
owner: risk-team
rules:
  - id: APP-1
    class: readiness
    level: waivable
    applies: {channels: [production]}
    approvals: {count: 1, roles: [risk]}
    message: Somebody of risk says yes.
    waiver: {at_most: P14D, roles: [release], break_glass: P1D}
    tests:
      - {name: nobody, procedure: {}, given: {approvals: []}, expect: denied}
      - name: risk
        procedure: {}
        given: {approvals: [{by: ben@example.invalid, roles: [risk], verified: true}]}
        expect: allowed
"""


def address(who: str) -> str:
    return f"{who.lower()}@example.invalid"


def become(monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    """Let Git's user be somebody."""
    for part in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{part}_NAME", who)
        monkeypatch.setenv(f"GIT_{part}_EMAIL", address(who))


def with_people(shop: Shop, rules: str = APPROVALS, people: str = PEOPLE) -> None:
    """Write people and a policy that asks for approvals."""
    text = shop.read("registry/registry.yaml").partition("people:")[0]
    shop.write("registry/registry.yaml", text + people)
    shop.write("registry/policies/approvals.yaml", rules)


def stage(shop: Shop, rules: str = APPROVALS) -> Shop:
    """Adopt rules that ask for approvals, publish, and bring version 1 to staging."""
    with_people(shop, rules)
    shop.reach(Shop.to_staging)
    return shop


def make_key(folder: Path, who: str, passphrase: str = "") -> Path:
    """Make somebody's key and return the path of its private half."""
    path = folder / f"{who.lower()}-key"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", who, "-f", str(path)]
    subprocess.run(words, check=True, capture_output=True)
    return path


def signer_line(who: str, key: Path) -> str:
    """Return the line that gives somebody a key."""
    kind, public, *_ = key.with_suffix(".pub").read_text(encoding="utf-8").split()
    return f"{address(who)} {kind} {public}\n"


def set_clock(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """Set what commands read as the time of day."""

    class Clock(datetime):
        AT = at  # tests/kept.py looks here

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            moment: Any = cls.fromisoformat(at)
            found: Self = moment.astimezone(tz or UTC)
            return found

    monkeypatch.setattr(command, "datetime", Clock)
