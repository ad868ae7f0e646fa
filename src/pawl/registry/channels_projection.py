"""The projection of a channel: its state as the file under registry/channels/, and the digest of that state.

The digest stands in every record, so a projection is believed only where the newest record vouches for it. What is
empty beside pins, rejections and halts is left out, so that a channel that never had it keeps its bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pawl.errors import IntegrityError, why_unreadable
from pawl.ids import Channel, Digest, Name, Serial
from pawl.problems import Problem
from pawl.registry.channels_grants import read_approval, read_freeze, read_waiver
from pawl.registry.channels_state import ChannelState, Halt, Pin, Rejection
from pawl.registry.journal import FORMAT, Head, Record

MEND = "the file is only a copy of the journal: delete it, and the next release writes it again"
"""What to do about a projection that is not what its journal says."""


def state_digest(state: ChannelState) -> Digest:
    """Return the digest of the state: SHA-256 over the compact JSON of its parts with sorted keys.

    All values are text, whole numbers and truth values, and all keys but those of labels ASCII, for which this is the
    RFC 8785 form up to escapes.
    """
    text = json.dumps(_state_fields(state), sort_keys=True, separators=(",", ":"))
    return Digest("sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest())


def projection(state: ChannelState) -> dict[str, Any]:
    """Return the content of registry/channels/<channel>.json."""
    return {
        "format": FORMAT,
        "channel": state.channel,
        "serial": state.head.serial,
        "head": state.head.digest,
        "registry": state.registry.as_dict(),
        **_state_fields(state),
    }


def read_projection(data: bytes, channel: Channel, newest: Record) -> ChannelState:
    """Return the state in a projection if ``newest``, the channel's newest record, vouches for it.

    Raises ``IntegrityError`` otherwise: the projection was edited, or belongs to another record.
    """
    try:
        fields = json.loads(data)
        state = ChannelState(
            channel=channel,
            head=Head(serial=Serial(fields["serial"]), digest=fields["head"]),
            registry=read_head(fields["registry"]),
            pins={Name(name): read_pin(name, row) for name, row in fields["pins"].items()},
            rejections={
                Digest(key): Rejection(content=Digest(key), **row) for key, row in fields["rejections"].items()
            },
            halts={Name(name): Halt(**row) for name, row in fields["halts"].items()},
            approvals={
                Digest(key): tuple(read_approval(row) for row in rows)
                for key, rows in fields.get("approvals", {}).items()
            },
            waivers={Serial(int(key)): read_waiver(row) for key, row in fields.get("waivers", {}).items()},
            freezes={Serial(int(key)): read_freeze(row) for key, row in fields.get("freezes", {}).items()},
        )
        if projection(state) != fields or fields["channel"] != channel:
            raise ValueError("it holds other fields than it should")  # noqa: TRY301 - one way out for all
        vouched = (newest.head, newest.body["state"], newest.body["registry"])
        if (state.head, state_digest(state), state.registry.as_dict()) != vouched:
            raise ValueError(f"record {newest.serial} of the journal does not vouch for it")  # noqa: TRY301
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"registry/channels/{channel}.json is not what the journal of {channel} says: {why_unreadable(error)}"
        problem = Problem(
            code="projection-damaged", message=message, hint=MEND, path=f"registry/channels/{channel}.json"
        )
        raise IntegrityError(message, problems=(problem,)) from error
    return state


def why_no_json(data: bytes) -> str | None:
    """Return why a projection cannot even be parsed, or None where it can."""
    try:
        json.loads(data)
    except (ValueError, RecursionError) as error:
        return why_unreadable(error)
    return None


def _state_fields(state: ChannelState) -> dict[str, Any]:
    later: dict[str, Any] = {
        "approvals": {key: [approval.as_dict() for approval in rows] for key, rows in state.approvals.items()},
        "waivers": {str(serial): waiver.as_dict() for serial, waiver in state.waivers.items()},
        "freezes": {str(serial): freeze.as_dict() for serial, freeze in state.freezes.items()},
    }
    return {
        "pins": {name: pin.as_dict() for name, pin in state.pins.items()},
        "rejections": {key: rejection.as_dict() for key, rejection in state.rejections.items()},
        "halts": {name: halt.as_dict() for name, halt in state.halts.items()},
        **{name: value for name, value in later.items() if value},
    }


_PIN_FIELDS = ("kind", "version", "digest", "content", "file", "requires", "since", "tests")


def read_head(fields: Mapping[str, Any]) -> Head:
    return Head(serial=Serial(fields["serial"]), digest=fields["digest"])


def read_pin(name: str, row: Mapping[str, Any]) -> Pin:
    return Pin(name=Name(name), **{key: row[key] for key in _PIN_FIELDS})
