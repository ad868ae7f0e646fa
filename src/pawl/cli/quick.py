"""``pawl resolve``, answered without what parses every other command line: scripts ask it again and again.

Only a plain question about something that is served is answered here; whatever else it comes to, an option more or a
pin that is withheld, is left to the command, which says it in full.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

_OPTIONS = {"-C": "folder", "--channel": "channel", "-o": "output", "--output": "output"}
_FORMS = ("text", "json")


def resolved(words: Sequence[str]) -> bool:
    """Answer a question for what a channel serves; False where the command has to be asked."""
    asked = _asked(words)
    if asked is None:
        return False
    data = _served(asked["folder"], asked["name"], asked["channel"])
    if data is None:
        return False
    from pawl.cli.output import json_form, text_form, write_answer  # noqa: PLC0415 - not where the command is asked

    write_answer(json_form("resolve", "done", data) if asked["output"] == "json" else text_form("done", lines(data)))
    return True


def _asked(words: Sequence[str]) -> dict[str, str] | None:
    """Return what is asked where every word is plain: options with their value in the next word, each once."""
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in _OPTIONS:
            key, value = _OPTIONS[word], next(rest, "")
        else:
            key, value = "name" if "command" in found else "command", word
        before = key in {"folder", "command"}  # what stands before the command's own words
        if key in found or not value or value.startswith("-") or before == ("command" in found):
            return None
        found[key] = value
    if found.get("command") != "resolve" or not {"name", "channel"} <= found.keys():
        return None
    if found.get("output", "text") not in _FORMS:
        return None
    return {"folder": ".", "output": "text", **found}


def _served(folder: str, name: str, channel: str) -> Mapping[str, Any] | None:
    from datetime import UTC, datetime  # noqa: PLC0415 - not where the command is asked
    from pathlib import Path  # noqa: PLC0415 - as above

    from pawl.errors import PawlError  # noqa: PLC0415 - as above
    from pawl.ids import parse_channel, parse_name  # noqa: PLC0415 - as above
    from pawl.runs.snapshot_view import served_row  # noqa: PLC0415 - as above
    from pawl.runs.views import open_channel  # noqa: PLC0415 - as above
    from pawl.workspace import find_workspace  # noqa: PLC0415 - as above

    try:
        view = open_channel(find_workspace(Path(folder)), parse_channel(channel))
        entry = view.entry(parse_name(name), datetime.now(UTC).replace(microsecond=0))
    except (PawlError, ValueError, OSError):
        return None
    return None if entry.withheld is not None or entry.warnings else served_row(entry, view)


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was resolved, for a person."""
    if "version" in data:
        yield f"{data['name']}@{data['version']} ({data['kind']}) on {data['channel']}, serial {data['serial']}"
        yield data["digest"]
