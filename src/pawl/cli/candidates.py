"""What a shell can complete from a workspace: the names of its folders and files, and nothing inside of them.

An answer is quick and bounded, and never a wrong beginning: where there are more than ``MAX_ANSWERS``, each is cut at
its next ``/`` or ``.``, to go on typing from; where that is still too many, or more than ``MAX_LOOKED`` entries would
have to be seen, there is no answer. Only what the grammar of names, versions and channels takes is offered, links are
not followed, and only registry.yaml, and records and projections where they are what is asked for, are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pawl.errors import PawlError
from pawl.ids import REGISTRY_JOURNAL, Version, parse_channel, parse_name, parse_version
from pawl.io.files import read_bounded
from pawl.registry.versions import newest_first
from pawl.workspace import Workspace, find_workspace

MAX_ANSWERS = 500
MAX_LOOKED = 100_000
MAX_PROJECTION = 8 * 1024 * 1024
MAX_RECORDS = 200
_ENDING = ".yaml"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One value that could stand here; ``open``: it is a beginning, and no space follows."""

    value: str
    open: bool = False


Candidates = Callable[[Workspace, Sequence[str], str], Sequence[Candidate]]
"""(workspace, procedures named before, what is typed) -> what could be meant, in the order to show."""


class _TooManyError(Exception):
    """More entries than anybody waits for."""


class _Looks:
    """How many entries one answer may still look at."""

    def __init__(self) -> None:
        self._left = MAX_LOOKED

    def take(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _TooManyError


def fitting(candidates: Candidates, folder: Path, named: Sequence[str], beginning: str) -> Sequence[Candidate]:
    """Return what could stand here in the workspace of a folder; nothing where there is none, or a broken one."""
    try:
        return candidates(find_workspace(folder.expanduser()), named, beginning)
    except (PawlError, OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError, _TooManyError):
        return ()


def names(workspace: Workspace, _named: Sequence[str], beginning: str) -> Sequence[Candidate]:
    """Return the names of procedures, published and not."""
    found = {*_published(workspace, beginning), *_sources(workspace, beginning)}
    return _narrowed(sorted(found), beginning, "/")


def refs(workspace: Workspace, _named: Sequence[str], beginning: str) -> Sequence[Candidate]:
    """Return NAME@VERSION of published versions; as long as several names fit, ``NAME@`` to go on from."""
    name, at, _ = beginning.partition("@")
    if at:
        return _refs_of(workspace, name, beginning)
    found = _narrowed(sorted(set(_published(workspace, beginning))), beginning, "/")
    if len(found) == 1 and not found[0].open:
        return _refs_of(workspace, found[0].value, beginning)
    return [item if item.open else Candidate(f"{item.value}@", open=True) for item in found]


def names_or_refs(workspace: Workspace, named: Sequence[str], beginning: str) -> Sequence[Candidate]:
    """Return names of published procedures, and the versions of one after its ``@``."""
    if "@" in beginning:
        return refs(workspace, named, beginning)
    return _narrowed(sorted(set(_published(workspace, beginning))), beginning, "/")


def versions(workspace: Workspace, named: Sequence[str], beginning: str) -> Sequence[Candidate]:
    """Return the published versions of the one procedure that was named before, newest first."""
    if len(named) != 1:
        return ()
    found = [version for version in _versions(workspace, named[0]) if version.startswith(beginning)]
    return _narrowed(found, beginning, ".")


def channels(workspace: Workspace, _named: Sequence[str], beginning: str) -> Sequence[Candidate]:
    """Return the channels of registry.yaml, and those that have a journal."""
    from pawl.io.strict_yaml import Unreadable, load  # noqa: PLC0415 - slow, and needed here alone

    found = {entry.name for entry in _entries(workspace.releases, _Looks()) if entry.is_dir(follow_symlinks=False)}
    with suppress(PawlError, Unreadable):
        written = load(workspace.read_source(workspace.settings_file)).get("channels")
        found |= set(written) if isinstance(written, dict) else set()
    known = sorted(name for name in found if name.startswith(beginning) and _fits(parse_channel, name))
    return _narrowed(known, beginning, "-")


def names_and_refs(workspace: Workspace, named: Sequence[str], beginning: str) -> Sequence[Candidate]:
    """Return the names of procedures, published and not, and the published versions of one after its ``@``."""
    return refs(workspace, named, beginning) if "@" in beginning else names(workspace, named, beginning)


def written_names(workspace: Workspace, _named: Sequence[str], beginning: str) -> Sequence[Candidate]:
    """Return the names of procedures in the work tree."""
    return _narrowed(sorted(set(_sources(workspace, beginning))), beginning, "/")


def pinned_on(channel: str) -> Candidates:
    """Return what offers the names that a channel serves, as its projection has them."""

    def offered(workspace: Workspace, _named: Sequence[str], beginning: str) -> Sequence[Candidate]:
        data = read_bounded(
            workspace.projection_file(parse_channel(channel)), limit=MAX_PROJECTION, root=workspace.root
        )
        pins = json.loads(data)["pins"]
        known = sorted(name for name in pins if name.startswith(beginning) and _fits(parse_name, name))
        return _narrowed(known, beginning, "/")

    return offered


def policies(workspace: Workspace, _named: Sequence[str], beginning: str) -> Sequence[Candidate]:
    """Return the numbers of policies that were adopted, newest first; none where that takes reading many records."""
    journal = sorted(entry.name for entry in _entries(workspace.releases / REGISTRY_JOURNAL, _Looks()))
    if len(journal) > MAX_RECORDS:
        return ()
    found = []
    for name in journal:
        data = read_bounded(workspace.releases / REGISTRY_JOURNAL / name, limit=MAX_PROJECTION, root=workspace.root)
        number = json.loads(data).get("policy")
        found += [str(number)] if isinstance(number, int) else []
    return [Candidate(number) for number in reversed(found) if number.startswith(beginning)]


def _refs_of(workspace: Workspace, name: str, beginning: str) -> Sequence[Candidate]:
    found = [f"{name}@{version}" for version in _versions(workspace, name)]
    return _narrowed([ref for ref in found if ref.startswith(beginning)], beginning, ".")


def _narrowed(values: Sequence[str], beginning: str, separator: str) -> Sequence[Candidate]:
    if len(values) <= MAX_ANSWERS:
        return [Candidate(value) for value in values]
    cut: dict[Candidate, None] = {}
    for value in values:
        head, found, _ = value[len(beginning) :].partition(separator)
        cut[Candidate(beginning + head + found, open=True) if found else Candidate(value)] = None
    return list(cut) if len(cut) <= MAX_ANSWERS else ()


def _versions(workspace: Workspace, name: str) -> Sequence[Version]:
    if not _fits(parse_name, name):
        return ()
    folder = workspace.versions / name
    if not folder.resolve().is_relative_to(workspace.versions.resolve()):
        return ()
    found = (_version_of(entry) for entry in _entries(folder, _Looks()))
    return newest_first(version for version in found if version is not None)


def _published(workspace: Workspace, beginning: str) -> Iterator[str]:
    for folder, entry in _walk(workspace.versions, beginning):
        if folder.startswith(beginning) and _version_of(entry) is not None:
            yield folder


def _sources(workspace: Workspace, beginning: str) -> Iterator[str]:
    for folder, entry in _walk(workspace.procedures, beginning):
        name = _joined(folder, entry.name.removesuffix(_ENDING))
        if entry.name.endswith(_ENDING) and name.startswith(beginning) and _fits(parse_name, name):
            yield name


def _walk(root: Path, beginning: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield every file below a folder with the name that its folder says, where that goes with what was typed."""
    looks = _Looks()
    folders = [""]
    while folders:
        folder = folders.pop()
        for entry in _entries(root / folder, looks):
            if not entry.is_dir(follow_symlinks=False):
                yield folder, entry
                continue
            below = _joined(folder, entry.name)
            on_the_way = below.startswith(beginning) or beginning.startswith(f"{below}/")
            if on_the_way and _fits(parse_name, below):
                folders.append(below)


def _entries(folder: Path, looks: _Looks) -> Iterator[os.DirEntry[str]]:
    """Yield what is in a folder; nothing where it cannot be listed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            looks.take()
            yield entry


def _joined(folder: str, entry: str) -> str:
    return f"{folder}/{entry}" if folder else entry


def _version_of(entry: os.DirEntry[str]) -> Version | None:
    version = entry.name.removesuffix(_ENDING)
    if version == entry.name or not _fits(parse_version, version) or not entry.is_file(follow_symlinks=False):
        return None
    return Version(version)


def _fits(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
