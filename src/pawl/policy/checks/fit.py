"""Whether what would be pinned together fits: each caller beside the versions that it would call.

- Promotions and rollbacks are refused where a caller, moved or staying, could no longer make a call or read a result.
  What is pinned together already is not judged anew: leaving a live version that does not fit is never blocked, and
  neither is moving something beside it.
- A rollback to versions that were live together on this channel before is warned of and not refused: then they served.
  Doubts about these are not told again.
- An audit warns of what is live and does not fit; it breaks no rule. Doubts were told when it came in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pawl.ids import Digest, Name
from pawl.policy.verdict import REFUSED, Action, Finding, Status
from pawl.registry.channels import ChannelState, Pin
from pawl.registry.versions import satisfies

if TYPE_CHECKING:
    from pawl.changes.fitting import Misfit

MAX_TOLD = 20
"""Findings of one caller; the record of a release holds them all."""
_JUDGED: frozenset[Action] = frozenset({"promote", "rollback", "audit"})


def fit_findings(
    names: Iterable[Name],
    pins: Mapping[Name, Pin],
    *,
    action: Action,
    state: ChannelState,
    documents: Mapping[Digest, Mapping[str, Any]],
) -> Iterator[Finding]:
    """Yield what is to be said of the callers ``names`` with ``pins`` as they would be; ``state`` is as it is.

    Callers whose documents are not known are passed over: what must be known, other checks ask for.
    """
    for name in names if action in _JUDGED else ():
        caller = documents.get(pins[name].digest)
        wanted = {
            other: documents.get(pins[other].digest)
            for other, specifier in pins[name].requires.items()
            if other in pins and satisfies(pins[other].version, specifier)  # else the requirement is what is unmet
        }
        callees: dict[str, Mapping[str, Any]] = {
            other: document for other, document in wanted.items() if document is not None
        }
        if caller is None or caller.get("kind") != "workflow" or not callees:
            continue
        if action != "audit" and all(_together_now(state, pins, (name, Name(other))) for other in callees):
            continue
        yield from _of_caller(name, pins, caller, callees, action, state)


def _of_caller(
    name: Name,
    pins: Mapping[Name, Pin],
    caller: Mapping[str, Any],
    callees: Mapping[str, Mapping[str, Any]],
    action: Action,
    state: ChannelState,
) -> Iterator[Finding]:
    from pawl.changes.fitting import find_misfits  # noqa: PLC0415 - resolving asks for the evaluator and never for this

    rows: list[tuple[Status, Misfit]] = []
    for misfit in find_misfits(caller, callees):
        status = _status(misfit, (name, *map(Name, misfit.callees)), pins, action, state)
        if status is not None:
            rows.append((status, misfit))
    ref = pins[name].ref
    if not rows:
        message = f"{ref} fits what it calls"
        yield Finding(
            check="fit", status="passed", code="calls-fit", message=message, exit_code=REFUSED, subject=str(ref)
        )
    rows.sort(key=lambda row: row[0] != "failed")
    for number, (status, misfit) in enumerate(rows[:MAX_TOLD], start=1):
        more = f" (and {len(rows) - MAX_TOLD} more)" if number == MAX_TOLD < len(rows) else ""
        yield Finding(
            check="fit",
            status=status,
            code=misfit.fault.code,
            message=f"{ref}: {misfit.fault.message}{more}",
            exit_code=REFUSED,
            subject=str(ref),
            hint=_hint(name, misfit) if status == "failed" else misfit.fault.hint,
        )


def _hint(name: Name, misfit: Misfit) -> str:
    others = " and ".join(sorted(misfit.callees))
    return f"move versions of {name} and {others} together that fit; --with-requirements brings what they require"


def _status(
    misfit: Misfit, parties: tuple[Name, ...], pins: Mapping[Name, Pin], action: Action, state: ChannelState
) -> Status | None:
    """Return how a misfit counts, or None where nothing is said of it."""
    certain = misfit.fault.severity == "error"
    if action == "audit":
        return "warning" if certain else None
    if _together_now(state, pins, parties):
        return None
    known = action == "rollback" and _together_before(state, pins, parties)
    if known and not certain:
        return None
    return "failed" if certain and not known else "warning"


def _together_now(state: ChannelState, pins: Mapping[Name, Pin], parties: Iterable[Name]) -> bool:
    return all(name in state.pins and state.pins[name].digest == pins[name].digest for name in parties)


def _together_before(state: ChannelState, pins: Mapping[Name, Pin], parties: Iterable[Name]) -> bool:
    """Whether exactly these versions were live at the same time: at the moment when the last of them came."""
    spans = [list(_spans(state, pins[name])) for name in parties]
    starts = {start for span in spans for start, _ in span}
    return any(
        all(any(start <= at and (end is None or at < end) for start, end in span) for span in spans) for at in starts
    )


def _spans(state: ChannelState, pin: Pin) -> Iterator[tuple[int, int | None]]:
    present = state.pins.get(pin.name)
    if present is not None and present.digest == pin.digest:
        yield present.since, None
    for past in state.stays(pin.digest, pin.name):
        yield past.pin.since, past.until
