"""Fix forward: a new version with the content of an old one, in the work tree, marked where today's rules object.

Nothing is published or committed. The file is the frozen copy of the old version, comments and layout kept, with the
lowest version number that the way from the newest published version to it allows, and with comments, which change no
digest, above the places that the rules looked at. What stands in the work tree is replaced only where its bytes are
published, or where its content is published and its bytes are committed; otherwise only on request, and then a copy of
what nobody else has is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pawl.canonical import content_digest, digest_of, sha256
from pawl.changes.bump import smallest_version
from pawl.errors import Faulty, IntegrityError, InvalidError, NotFoundError, WithheldError
from pawl.ids import Channel, Ref, Serial, Version
from pawl.io.edit import set_scalar
from pawl.io.files import replace as replace_file
from pawl.io.files import sweep_ended
from pawl.io.insert import set_text, without_comments
from pawl.io.locating import problems_of, unreadable_problems
from pawl.io.strict_yaml import Unreadable, load
from pawl.operations.authoring.bumping import above_all, ground_of, no_number
from pawl.operations.authoring.making_way import in_the_way, make_way
from pawl.operations.authoring.marking import Mark, Objected, find_objections, mark_line, place_marks
from pawl.operations.session import Report, Session
from pawl.operations.sources import read_settings_file
from pawl.operations.world import World, read_world
from pawl.problems import Problem
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.registry.catalog import Published
from pawl.registry.channels import Pin
from pawl.registry.versions import newest_first
from pawl.workspace import MAX_SOURCE_BYTES

_VERSION_LINE = re.compile(rb"^(version:[ \t]*)[^\s#]+", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """The new version as it would be written."""

    data: bytes
    version: Version
    marks: tuple[Mark, ...]
    problems: tuple[Problem, ...]


def fix_forward(session: Session, ref: Ref, channel: Channel | None = None, *, take_place: bool = False) -> Report:
    """Write procedures/NAME.yaml as a new version with the content of ``ref``.

    The rules are asked on ``channel``, or on every channel of the adopted policy. ``take_place`` replaces what somebody
    wrote there, too.
    """
    world, workspace = read_world(session.workspace), session.workspace
    published = world.published(ref)
    withdrawal = world.catalog.withdrawal(ref)
    if withdrawal is not None and withdrawal.level == "revoked":
        message = f"{ref} is revoked: {withdrawal.reason}"
        raise WithheldError(message, code="revoked", hint=f"choose another version: pawl show {ref.name}")
    policy = world.catalog.policy
    channels = (world.channel(channel).channel,) if channel else tuple(policy.channels if policy else ())
    path = workspace.to_write(workspace.procedure_file(ref.name))
    here = in_the_way(workspace, ref.name)
    draft = _draft(session, world, published, channels)
    data = _data(session, ref, draft, _way_to(channels, policy.channels if policy else {}))
    if here is not None and (same := _holds(here, published, world, draft)) is not None:
        return Report(status="unchanged", problems=draft.problems, data={**data, "to": same, "next": []})
    if here is not None:
        kept = make_way(workspace, world, ref.name, here, take_place=take_place)
        data = {**data, "kept": kept} if kept else data
    sweep_ended(path.parent)
    replace_file(path, draft.data)
    return Report(status="done", problems=draft.problems, data=data)


def _way_to(channels: Iterable[Channel], after: Mapping[Channel, Channel | None]) -> tuple[Channel, ...]:
    """Return channels in the order in which a new version reaches them, with those that it must be live on first."""
    way: dict[Channel, None] = {}
    for channel in channels:
        before: list[Channel] = []
        step: Channel | None = channel
        while step is not None and step not in before:
            before.append(step)
            step = after.get(step)
        way |= dict.fromkeys(reversed(before))
    return tuple(way)


def _data(session: Session, ref: Ref, draft: _Draft, channels: tuple[Channel, ...]) -> dict[str, Any]:
    new = Ref(ref.name, draft.version)
    branch = read_settings_file(session.workspace).branch or "main"
    return {
        "name": ref.name,
        "from": ref.version,
        "to": draft.version,
        "path": session.workspace.relative(session.workspace.procedure_file(ref.name)),
        "marks": [mark.as_dict() for mark in draft.marks],
        "next": [
            f"pawl check --base {branch}",
            f"pawl publish {ref.name}",
            *(f'pawl promote {new} --to {channel} --reason "..."' for channel in channels),
        ],
    }


# The new version


def _draft(session: Session, world: World, published: Published, channels: tuple[Channel, ...]) -> _Draft:
    frozen = session.workspace.frozen(published)
    try:
        document = load(frozen)
    except Unreadable as error:
        return _unread_draft(session, world, published, frozen, error)
    clean = without_comments(frozen, mark_line())
    version = _number(session, world, published, document)
    data = set_scalar(clean, ("version",), version)
    data, problems = _with_changes(data, f"Brings back {published.version}.")
    objected = _objected(session, world, published, data, channels)
    if objected.marks:
        why = ", ".join(dict.fromkeys(f"{mark.rule} of policy {mark.policy}" for mark in objected.marks))
        data, problems = _with_changes(data, f"Brings back {published.version}, mended for {_cut(why)}.")
    if len(data) > MAX_SOURCE_BYTES:
        raise InvalidError(f"{published.ref} with its new version is larger than is read", code="too-large")
    where = session.workspace.relative(session.workspace.procedure_file(published.name))
    marked, marks = place_marks(data, objected.marks)
    said = (*problems, *objected.problems, *_faults(where, marked))
    return _Draft(data=marked, version=version, marks=marks, problems=said)


def _cut(text: str) -> str:
    return text if len(text) <= 1_000 else text[:999] + "…"


def _with_changes(data: bytes, sentence: str) -> tuple[bytes, tuple[Problem, ...]]:
    try:
        return set_text(data, "changes", sentence, after="version"), ()
    except (InvalidError, NotFoundError) as error:
        message = f"changes: is as it was, since its layout cannot take another text: {error.message}"
        return data, (Problem(code="cannot-edit", severity="warning", message=message),)


def _number(session: Session, world: World, published: Published, document: Mapping[str, Any]) -> Version:
    procedure = Procedure(
        kind=published.kind,
        name=published.name,
        version=published.version,
        document=document,
        digest=published.digest,
    )
    newest = newest_first(item.version for item in world.catalog.versions_of(published.name))[0]
    try:
        found = above_all(procedure, ground_of(session.workspace, world.catalog))
    except (InvalidError, IntegrityError):  # what can no longer be compared promises nothing
        found = smallest_version(newest, "major")
    if found is None:
        raise no_number(published.name)
    return found


def _objected(
    session: Session, world: World, published: Published, data: bytes, channels: tuple[Channel, ...]
) -> Objected:
    document = load(data)
    pin = Pin(
        kind=published.kind,
        name=published.name,
        version=Version(document["version"]),
        digest=digest_of(document),
        content=content_digest(document),
        file=sha256(data),
        requires=published.requires,
        since=Serial(0),
        tests={},
    )
    return find_objections(session, world, pin, document, channels)


def _faults(where: str, data: bytes) -> tuple[Problem, ...]:
    """Return as warnings what reading would find wrong with the new file today: check says it as errors."""
    try:
        read_procedure(load(data))
    except Faulty as error:
        return _warnings(problems_of(where, data, error.faults))
    return ()


def _warnings(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(replace(problem, severity="warning") for problem in problems)


def _unread_draft(session: Session, world: World, published: Published, frozen: bytes, error: Unreadable) -> _Draft:
    """Return a draft of what no longer reads as YAML: its bytes with another version line, and what is wrong."""
    newest = newest_first(item.version for item in world.catalog.versions_of(published.name))[0]
    version = smallest_version(newest, "major")
    if version is None:
        raise no_number(published.name)
    data = _VERSION_LINE.sub(lambda found: found[1] + version.encode("ascii"), frozen, count=1)
    where = session.workspace.relative(session.workspace.procedure_file(published.name))
    problems = _warnings(unreadable_problems(where, error))
    return _Draft(data=data, version=version, marks=(), problems=problems)


def _holds(here: bytes, published: Published, world: World, draft: _Draft) -> Version | None:
    """Return the version in the work tree where it is what would be written, or is the old one and all that is new."""
    if here == draft.data:
        return draft.version
    try:
        document = load(here)
    except Unreadable:
        return None
    if draft.marks or content_digest(document) != published.content:
        return None
    newest = newest_first(item.version for item in world.catalog.versions_of(published.name))[0]
    version = document.get("version")
    if version == draft.version or (version == published.version == newest):
        return Version(version)
    return None
