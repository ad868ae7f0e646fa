"""The shape of registry.yaml, and what is wrong with one beyond its shape."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import Field, ValidationError

from pawl.ids import parse_channel
from pawl.lint.settings_shape import LintDocument, lint_settings_faults
from pawl.problems import Fault
from pawl.procedures.models import Listed, Shape, model_schema
from pawl.procedures.shapes import shape_faults

MACHINE_ROLES = ("agent", "service")
"""The roles that say that somebody is no human."""
_ROLE = re.compile(r"[a-z0-9][a-z0-9_-]*\Z", re.ASCII)


class ChannelDocument(Shape):
    """One channel."""

    after: str | None = Field(
        default=None, description="Only versions that are or were live on this channel may enter."
    )


class PolicyDocument(Shape):
    """What adopting a policy needs."""

    require_tests: bool = Field(
        default=False, description="Whether a rule without an example that it denies is refused, not only warned of."
    )
    require_grace: bool = Field(
        default=False,
        description="Whether a rule that something live breaks is adopted only with an effective_on to come.",
    )


class SettingsDocument(Shape):
    """What registry/registry.yaml says."""

    format: Literal[1] = Field(description="The format of the workspace; this pawl knows 1.")
    branch: str | None = Field(
        default=None, min_length=1, description="Journals are written on this Git branch only, if it is set."
    )
    channels: dict[str, ChannelDocument] = Field(min_length=1, description="Channel name -> settings.")
    people: dict[str, Listed[str]] = Field(default={}, description="E-mail address -> roles, used by approvals.")
    python_path: Listed[str] = Field(
        default=(), description="Folders inside the workspace from which implementations of tools are imported."
    )
    lint: LintDocument = Field(default=LintDocument(), description="What lint holds procedures against.")

    policy: PolicyDocument = Field(default=PolicyDocument(), description="What adopting a policy needs.")


def settings_faults(document: Any) -> tuple[Fault, ...]:
    """Return every fault of a parsed registry.yaml: of its shape, and beyond it."""
    beyond = _faults_beyond(document)
    try:
        SettingsDocument.model_validate(document)
    except ValidationError as error:
        return (*shape_faults(error, SettingsDocument, prefix="settings"), *beyond)
    return beyond


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of registry.yaml for editors."""
    return model_schema(SettingsDocument)


def _faults_beyond(document: Any) -> tuple[Fault, ...]:
    """Return what is wrong beyond the shape; a part of another shape is passed over, so that it hides no other part."""
    if not isinstance(document, Mapping):
        return ()
    lint = (fault.under("lint") for fault in lint_settings_faults(document.get("lint")))
    paths = document.get("python_path")
    faults: list[Fault] = []
    channels = document.get("channels")
    if isinstance(channels, Mapping):
        after = {name: row.get("after") if isinstance(row, Mapping) else None for name, row in channels.items()}
        faults += (*_channel_faults(after), *_order_faults(after))
    people = document.get("people")
    faults += _role_faults(people if isinstance(people, Mapping) else {})
    faults += _path_faults(paths if isinstance(paths, list) else ())
    return (*faults, *lint)


def _channel_faults(channels: Mapping[str, Any]) -> Iterator[Fault]:
    for name, after in channels.items():
        try:
            parse_channel(name)
        except ValueError as error:
            yield Fault(code="channel-name", message=str(error), at=("channels", name), on_key=True)
        if isinstance(after, str) and after not in channels:
            message = f"{name} comes after {after}, which is no channel here"
            yield Fault(code="channel-unknown", message=message, at=("channels", name, "after"))


def _order_faults(channels: Mapping[str, Any]) -> Iterator[Fault]:
    for start in channels:
        seen = [start]
        here = channels[start]
        while isinstance(here, str) and here in channels and here not in seen:
            seen.append(here)
            here = channels[here]
        if here == start:
            message = f"the order of channels goes round in a circle: {' after '.join((*seen, start))}"
            yield Fault(code="channel-cycle", message=message, at=("channels", start, "after"))


def _role_faults(people: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield each role that is no word, or nearly one of a machine, whose owner would be a human by mistake."""
    for who, roles in people.items():
        for index, role in enumerate(roles if isinstance(roles, list) else ()):
            if not isinstance(role, str):
                continue
            at = ("people", who, index)
            if (meant := _nearly(role)) is not None:
                message = f"{role[:80]!r} is nearly {meant}, and only {meant} says that somebody is no human"
                yield Fault(
                    code="role-bad", message=message, at=at, hint=f"write {meant}, or a role that reads otherwise"
                )
            elif not _ROLE.match(role):
                message = f"{role[:80]!r} is no role: expected a word of a-z, 0-9, - and _ that begins with a-z or 0-9"
                yield Fault(
                    code="role-bad", message=message, at=at, hint="write it in small letters, such as risk-team"
                )


def _nearly(role: str) -> str | None:
    """Return the role of a machine that is meant by another spelling: other letters, blanks, signs, the plural."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKC", role).casefold() if sign.isalnum())
    for meant in MACHINE_ROLES:
        if role != meant and (
            bare.removesuffix("s") == meant or meant in get_close_matches(bare, MACHINE_ROLES, cutoff=0.9)
        ):
            return meant
    return None


def _path_faults(paths: Sequence[Any]) -> Iterator[Fault]:
    for index, path in enumerate(paths):
        parts = path.split("/") if isinstance(path, str) else ()
        if parts and (not path or path.startswith("/") or ".." in parts or "\\" in path or "\0" in path):
            message = f"{path!r} is no folder inside the workspace"
            yield Fault(code="path-outside", message=message, at=("python_path", index))
