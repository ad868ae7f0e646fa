"""Changes that every kind of procedure can have: what describes it, and what it requires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pawl.changes.document_rules import Report
from pawl.changes.values import ABSENT, same
from pawl.problems import Place

_META = ("summary", "changes")
_READ_BY_POLICY = ("owner", "labels")
_KNOWN = frozenset({"kind", "name", "version", "spec", "requires", "extensions", *_META, *_READ_BY_POLICY})
MAX_PARTS = 16
MOST = 999_999_999


def compare_every(report: Report, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Report changes outside ``spec``."""
    for name in (*_META, *_READ_BY_POLICY):
        left, right = old.get(name, ABSENT), new.get(name, ABSENT)
        if not same(left, right):
            key = "meta-changed:safety" if name in _READ_BY_POLICY else "meta-changed"
            report.add(key, (name,), name=name, old=left, new=right)
    _extensions(report, old.get("extensions") or {}, new.get("extensions") or {})
    _requires(report, old.get("requires") or {}, new.get("requires") or {})
    unknown(report, old, new, _KNOWN, ())


def unknown(report: Report, old: Mapping[str, Any], new: Mapping[str, Any], known: frozenset[str], at: Place) -> None:
    """Report what differs under fields that no rule speaks of: nobody can say what it means, so it is major."""
    for name in dict.fromkeys((*old, *new)):
        left, right = old.get(name, ABSENT), new.get(name, ABSENT)
        if name not in known and not same(left, right):
            report.add("undecided", (*at, name), name=name, old=left, new=right)


def _extensions(report: Report, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    for name in dict.fromkeys((*old, *new)):
        left, right = old.get(name, ABSENT), new.get(name, ABSENT)
        if same(left, right):
            continue
        outside = [value.get("name") if isinstance(value, Mapping) else None for value in (left, right)]
        at = ("extensions", name)
        if outside[0] is not None and not same(*outside):
            report.add("meta-changed:outside-name", (*at, "name"), old=outside[0], new=outside[1])
        else:
            report.add("meta-changed", at, name=".".join(at), old=left, new=right)


def _requires(report: Report, old: Mapping[str, str], new: Mapping[str, str]) -> None:
    for name in dict.fromkeys((*old, *new)):
        at = ("requires", name)
        left, right = old.get(name), new.get(name)
        if left == right:
            continue
        if left is None or right is None:
            key = "requires-added" if left is None else "requires-removed"
            report.add(key, at, name=name, old=left or ABSENT, new=right or ABSENT)
            continue
        moved = tuple(_moved(left, right))
        for key in moved:
            report.add(key, at, name=name, old=left, new=right)
        if not moved:
            report.add("meta-changed", at, name=".".join(at), old=left, new=right)


def _moved(old: str, new: str) -> Iterator[str]:
    """Yield the codes for a specifier that changed, judged by every version at which an answer can turn."""
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - only where a specifier changed

    both = (SpecifierSet(old), SpecifierSet(new))
    if len(both[0]) + len(both[1]) > MAX_PARTS:
        yield from ("requires-narrowed", "requires-widened")
        return
    texts = [part.version for specifier in both for part in specifier]
    versions = tuple(dict.fromkeys(version for text in texts for version in _near(text)))
    left, right = (
        {version for version in versions if specifier.contains(version, prereleases=True)} for specifier in both
    )
    if left and right and not left & right:
        yield "requires-moved"
        return
    if not left <= right:
        yield "requires-narrowed"
    if not right <= left:
        yield "requires-widened"


def _near(text: str) -> Iterator[str]:
    """Yield a version that a specifier names, those next to it on either side, and those where its wildcard ends."""
    from packaging.version import Version  # noqa: PLC0415 - as above

    named = Version(text.removesuffix(".*"))
    x, y, z = named.major, named.minor, named.micro
    below = (x, y, z - 1) if z else (x, y - 1, MOST) if y else (x - 1, MOST, MOST) if x else (0, 0, 0)
    for near in (
        below,
        (x, y, z),
        (x, y, z + 1),
        (x, y, MOST),
        (x, y + 1, 0),
        (x, MOST, 0),
        (x + 1, 0, 0),
        (MOST, 0, 0),
    ):
        release = ".".join(str(number) for number in near)
        yield release
        yield f"{release}a0"
    if named.pre is not None:
        stage, number = named.pre
        for other in (number - 1, number, number + 1):
            if other >= 0:
                yield f"{x}.{y}.{z}{stage}{other}"
