"""What a check is about: everything, or what differs from a Git revision and what depends on that.

What somebody else did on the base since the branch left it is no change of ours: files are compared with the commit
where both parted. What is published is read at the base's tip, because that is what the branch will be merged into.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pawl.errors import InvalidError
from pawl.ids import Name
from pawl.operations.reviewing.revisions import Revision
from pawl.operations.sources import Sources
from pawl.procedures.procedure import Procedure

SETTINGS = "registry/registry.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One procedure before and after; ``None`` where it is not there, or where it did not read at the base."""

    name: Name
    old: Procedure | None
    new: Procedure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """``changed`` is what differs, ``linted`` whose files are looked at, ``tested`` whose suites run.

    ``revision`` is ``None`` where nothing is compared.
    """

    revision: Revision | None
    kind: Literal["all", "changed"]
    changed: Mapping[Name, Change]
    linted: frozenset[Name]
    tested: frozenset[Name]
    untested: frozenset[Name] = frozenset()
    """What suites that are gone were about."""

    @property
    def label(self) -> str:
        return self.revision.ref if self.revision else ""


def whole(sources: Sources) -> Scope:
    """Return the scope of a check that compares with nothing."""
    every = frozenset(sources.procedures)
    return Scope(revision=None, kind="all", changed={}, linted=every, tested=every)


def since(revision: Revision, paths: frozenset[str], sources: Sources, *, everything: bool) -> Scope:
    """Return what differs from ``revision``; ``paths`` are its changed files, ``everything`` tests all nevertheless."""
    changed = dict(_changes(revision, sources))
    every = frozenset(sources.procedures)
    if everything:
        return Scope(revision=revision, kind="all", changed=changed, linted=every, tested=every)
    gone = frozenset(_by_suites_gone(revision, paths, sources))
    touched = {*changed, *_by_suites(paths, sources), *_by_code(paths, sources), *gone}
    linted = every if SETTINGS in paths else every & changed.keys()
    return Scope(
        revision=revision,
        kind="changed",
        changed=changed,
        linted=linted,
        tested=with_dependents(touched, sources),
        untested=gone,
    )


def with_dependents(names: Iterable[Name], sources: Sources) -> frozenset[Name]:
    """Return the names that are here, with every procedure of the work tree that requires one of them, however far."""
    callers: dict[Name, list[Name]] = {}
    for name, source in sources.requiring.items():
        for required in source.value.requires:
            callers.setdefault(required, []).append(name)
    found = set(names)
    waiting = list(found)
    while waiting:
        new = set(callers.get(waiting.pop(), ())) - found
        found |= new
        waiting.extend(new)
    return frozenset(found & sources.procedures.keys())


def _changes(revision: Revision, sources: Sources) -> Iterable[tuple[Name, Change]]:
    for name in revision.unlike(sources.contents("blob")):
        source = sources.procedures[name]
        if revision.same(name, source.data):
            continue
        old = _before(revision, name)
        if old is None or old.digest != source.value.digest:
            yield name, Change(name=name, old=old, new=source.value)
    unread = set(sources.unread)
    for name in sorted(revision.names_besides(sources.procedures)):
        if f"procedures/{name}.yaml" not in unread:
            yield name, Change(name=name, old=_before(revision, name), new=None)


def _before(revision: Revision, name: Name) -> Procedure | None:
    try:
        return revision.procedure(name)
    except InvalidError:
        return None  # what did not read there was never served: the version here is judged by what is published


def _by_suites(paths: frozenset[str], sources: Sources) -> Iterable[Name]:
    """What changed suites are about."""
    return (about for path in paths if (about := sources.suite_subject(path)) is not None)


def _by_suites_gone(revision: Revision, paths: frozenset[str], sources: Sources) -> Iterable[Name]:
    """What suites were about that are in other files now, or nowhere."""
    for path in sorted(paths - set(sources.unread)):
        gone = path.startswith("conformance/") and sources.suite_subject(path) is None
        about = revision.suite_subject(path) if gone else None
        if about is not None and about in sources.procedures:
            yield about


def _by_code(paths: Iterable[str], sources: Sources) -> Iterable[Name]:
    """Tools with an implementation in Python, if any Python file or a setting of the workspace changed.

    Which of its modules an implementation needs is not known without running it.
    """
    if not any(path.endswith(".py") or path == SETTINGS for path in paths):
        return ()
    tools = (sources.procedures[head.name] for head in sources.heads if head.kind == "tool")
    return (source.value.name for source in tools if "python" in (source.value.spec.get("binding") or {}))
