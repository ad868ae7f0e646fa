"""The projection of a channel: its state as the file under registry/channels/, and the digest of that state.

The digest stands in every record, so a projection is believed only where the newest record vouches for it. What is
empty beside pins, rejections and halts is left out, so that a channel that never had it keeps its bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from json.encoder import encode_basestring as quoted
from json.encoder import encode_basestring_ascii as quoted_ascii
from typing import Any

from pawl.canonical import record_text
from pawl.errors import IntegrityError, why_unreadable
from pawl.ids import Channel, Digest, Name, Serial
from pawl.problems import Problem
from pawl.registry.channels_grants import read_approval, read_freeze, read_waiver
from pawl.registry.channels_state import ChannelState, Halt, Pin, Rejection
from pawl.registry.growing import Form, Overlay, StoredPart, StoredPins
from pawl.registry.journal import FORMAT, Head, Record
from pawl.values import dataclass

MEND = "the file is only a copy of the journal: delete it, and the next release writes it again"
"""What to do about a projection that is not what its journal says."""


def state_digest(state: ChannelState) -> Digest:
    """Return the digest of the state: SHA-256 over the compact JSON of its parts with sorted keys.

    All values are text, whole numbers and truth values, and all keys but those of labels ASCII, for which this is the
    RFC 8785 form up to escapes.
    """
    parts = ",".join(f'"{name}":{{{rows}}}' for name, rows in _parts(state, "compact"))
    return Digest("sha256:" + hashlib.sha256(f"{{{parts}}}".encode("ascii")).hexdigest())


def projection_bytes(state: ChannelState) -> bytes:
    """Return the file registry/channels/<channel>.json: ``record_bytes`` of the projection, from the text of its rows
    where that is stored."""
    fields = {name: f"{{\n{rows}\n  }}" if rows else "{}" for name, rows in _parts(state, "pretty")}
    fields |= {name: record_text(value, "  ") for name, value in _envelope(state).items()}
    rows = ",\n".join(f'  "{name}": {fields[name]}' for name in sorted(fields))
    return f"{{\n{rows}\n}}\n".encode()


def joined(texts: Mapping[str, str], form: Form) -> str:
    """Return values, given as JSON by key, as they stand between the braces of their part; nothing for none."""
    if form == "pretty":
        return ",\n".join([f"    {quoted(key)}: {texts[key]}" for key in sorted(texts)])
    return ",".join([f"{quoted_ascii(key)}:{texts[key]}" for key in sorted(texts)])


SEPARATOR: Mapping[Form, str] = {"pretty": ",\n", "compact": ","}
"""What stands between two pieces of ``joined`` that follow each other."""


def written(value: Any, form: Form) -> str:
    """Return the JSON of one value of a part, as the state's digest or the projection has it."""
    if form == "pretty":
        return record_text(value, "    ")
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _parts(state: ChannelState, form: Form) -> Iterator[tuple[str, str]]:
    """Yield the parts of a state in the order of their names, each as the JSON between its braces."""
    for name in sorted(PARTS):
        rows = _rows_text(getattr(state, name), PARTS[name], form)
        if rows or not PARTS[name].later:
            yield name, rows


def _rows_text(values: Mapping[Any, Any], part: Part, form: Form) -> str:
    known = None
    if isinstance(values, StoredPins):
        known = values.joined(form, {})
    elif isinstance(values, Overlay) and isinstance(values.base, StoredPins):
        known = values.base.joined(form, _changes_of(values, part, form))
    return joined(texts_of(values, part, form), form) if known is None else known


def _changes_of(values: Overlay[Any, Any], part: Part, form: Form) -> dict[str, str | None]:
    gone: dict[str, str | None] = {str(key): None for key in values.gone}
    return gone | {str(key): written(part.write(value), form) for key, value in values.put.items()}


def texts_of(values: Mapping[Any, Any], part: Part, form: Form) -> Mapping[str, str]:
    """Return the JSON of every value of a part by its key as text; made only of what is not stored so."""
    if isinstance(values, StoredPart):
        return values.texts(form)
    if isinstance(values, Overlay):
        below = texts_of(values.base, part, form)
        if not (values.gone or values.put):
            return below
        texts = dict(below)
        for key in values.gone:
            del texts[str(key)]
        return texts | {str(key): written(part.write(value), form) for key, value in values.put.items()}
    return {str(key): written(part.write(value), form) for key, value in values.items()}


def projection(state: ChannelState) -> dict[str, Any]:
    """Return the content of registry/channels/<channel>.json."""
    return {**_envelope(state), **_state_fields(state)}


def _envelope(state: ChannelState) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "channel": state.channel,
        "serial": state.head.serial,
        "head": state.head.digest,
        "registry": state.registry.as_dict(),
    }


def read_projection(data: bytes, channel: Channel, newest: Record) -> ChannelState:
    """Return the state in a projection if ``newest``, the channel's newest record, vouches for it.

    Raises ``IntegrityError`` otherwise: the projection was edited, or belongs to another record.
    """
    try:
        fields = json.loads(data)
        parts: dict[str, Any] = {
            name: {part.key(key): part.read(key, row) for key, row in _rows_of(fields, name, part)}
            for name, part in PARTS.items()
        }
        head = Head(serial=Serial(fields["serial"]), digest=fields["head"])
        state = ChannelState(channel=channel, head=head, registry=read_head(fields["registry"]), **parts)
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


def serial_in(data: bytes) -> int | None:
    """Return the serial that a projection names, or None where it is no projection."""
    try:
        serial = json.loads(data)["serial"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return serial if type(serial) is int else None


def why_no_json(data: bytes) -> str | None:
    """Return why a projection cannot even be parsed, or None where it can."""
    try:
        json.loads(data)
    except (ValueError, RecursionError) as error:
        return why_unreadable(error)
    return None


def _rows_of(fields: Mapping[str, Any], name: str, part: Part) -> Iterable[tuple[str, Any]]:
    rows: Mapping[str, Any] = fields.get(name, {}) if part.later else fields[name]
    return rows.items()


def _state_fields(state: ChannelState) -> dict[str, Any]:
    found = {
        name: {str(key): part.write(value) for key, value in getattr(state, name).items()}
        for name, part in PARTS.items()
    }
    return {name: rows for name, rows in found.items() if rows or not PARTS[name].later}


_PIN_FIELDS = ("kind", "version", "digest", "content", "file", "requires", "since", "tests")


def read_head(fields: Mapping[str, Any]) -> Head:
    return Head(serial=Serial(fields["serial"]), digest=fields["digest"])


def read_pin(name: str, row: Mapping[str, Any]) -> Pin:
    return Pin(name=Name(name), **{key: row[key] for key in _PIN_FIELDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the state: how a key and a value are read from JSON, and a value is written.

    What came ``later`` than the first parts is left out where it is empty.
    """

    key: Callable[[str], Any]
    read: Callable[[str, Any], Any]
    write: Callable[[Any], Any]
    later: bool = False


def _as_dict(value: Any) -> Any:
    return value.as_dict()


def _serial(key: str) -> Serial:
    return Serial(int(key))


PARTS: Mapping[str, Part] = {
    "pins": Part(key=Name, read=read_pin, write=_as_dict),
    "rejections": Part(key=Digest, read=lambda key, row: Rejection(content=Digest(key), **row), write=_as_dict),
    "halts": Part(key=Name, read=lambda _, row: Halt(**row), write=_as_dict),
    "approvals": Part(
        key=Digest,
        read=lambda _, rows: tuple(read_approval(row) for row in rows),
        write=lambda rows: [row.as_dict() for row in rows],
        later=True,
    ),
    "waivers": Part(key=_serial, read=lambda _, row: read_waiver(row), write=_as_dict, later=True),
    "freezes": Part(key=_serial, read=lambda _, row: read_freeze(row), write=_as_dict, later=True),
}
"""The parts of the state, which every record vouches for, by the names that they have in a projection."""
