"""A channel's journal with approvals, waivers and freezes by several people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pawl.canonical import digest_of
from pawl.ids import Channel, Digest
from pawl.registry.channels import ChannelState, Pin, fold_channel, follow, state_digest
from pawl.registry.closure import closure_of
from pawl.registry.journal import EMPTY, Actor, Record, seal
from registry.make import AT, STAGING, move

ADA = Actor(name="Ada", email="ada@example.invalid")
BEN = Actor(name="Ben", email="ben@example.invalid")
CAT = Actor(name="Cat", email="cat@example.invalid", verified=True)
BOT = Actor(name="Bot", email="bot@example.invalid")
LATER = "2026-04-01T12:00:00Z"


def closure_digest(*members: Pin) -> Digest:
    """Return the digest of the closure of the first of ``members``, which are pinned together."""
    return closure_of(members[0].name, {member.name: member for member in members}).digest


class Grants:
    """A journal that is written record by record; whoever acts is given each time."""

    def __init__(self, channel: Channel = STAGING) -> None:
        self.channel = channel
        self.records: tuple[Record, ...] = ()

    @property
    def state(self) -> ChannelState:
        return fold_channel(self.channel, self.records)

    def add(self, action: str, *, by: Actor = ADA, at: str = AT, reason: str = "because", **body: Any) -> Grants:
        head = self.records[-1].head if self.records else EMPTY
        whole = {**body, "registry": EMPTY.as_dict(), "evidence": []}

        def sealed(fields: Mapping[str, Any]) -> Record:
            return seal(journal=self.channel, after=head, action=action, at=at, actor=by, reason=reason, body=fields)

        state = state_digest(follow(self.state, sealed(whole)))
        self.records = (*self.records, sealed({**whole, "state": state}))
        return self

    def pinned(self, *members: Pin, at: str = AT) -> Grants:
        moves = [move(member.name, self.state.pins.get(member.name), member) for member in members]
        return self.add("promote", at=at, moves=moves)

    def approved(self, member: Pin, *, by: Actor = BEN, at: str = AT, kind: str = "human", **row: Any) -> Grants:
        given = {
            "ref": str(member.ref),
            "digest": member.digest,
            "closure": closure_digest(member),
            "policy": 1,
            "until": LATER,
            **row,
        }
        return self.add("approve", by=by, at=at, actor_kind=kind, approvals=[given])

    def consented(self, *serials: int, by: Actor = BEN, at: str = AT, kind: str = "human") -> Grants:
        return self.add("approve", by=by, at=at, actor_kind=kind, waivers=list(serials))

    def waived(self, member: Pin, *, by: Actor = ADA, at: str = AT, kind: str = "human", **fields: Any) -> Grants:
        body = {
            "rule": "R-1",
            "name": member.name,
            "digest": member.digest,
            "closure": None,
            "versions": None,
            "actions": ["promote", "rollback", "resolve", "audit"],
            "owner": "payments",
            "until": "2026-03-20T12:00:00Z",
            "break_glass": False,
            "review_by": None,
            **fields,
        }
        return self.add("waive", by=by, at=at, actor_kind=kind, waiver=body)

    def frozen(
        self,
        *,
        until: str | None = None,
        actions: Iterable[str] = ("promote",),
        spares: Mapping[str, Any] | None = None,
        at: str = AT,
    ) -> Grants:
        whole = {"labels": {}, "names": [], "roles": [], **(spares or {})}
        return self.add("freeze", at=at, freeze={"until": until, "actions": list(actions), "spares": whole})


OTHER = digest_of("another")
