"""Schemas in their documents: what a keyword says, in one spelling, and where it stands.

- Two dialects are read: 2020-12, also where nothing is said, and draft-07, whose spellings are turned into those of
  2020-12 and whose rule that ``$ref`` hides its siblings holds.
- A *schema* is a conjunction of *sources*: ``allOf`` and ``$ref`` only add sources. No source at all means anything.
- Every source knows where its text stands (``at``) and from where it is used (``use``), both in the procedure's
  document. Sources are equal if they are the same text, wherever they are used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import jsonschema_rs

from pawl.changes.values import ABSENT
from pawl.errors import Faulty
from pawl.problems import Fault, Place
from pawl.procedures.schema_tree import DIALECTS, resolve_pointer

DEFAULT_DIALECT = "2020-12"
TEXT = ("title", "description", "examples", "deprecated", "readOnly", "writeOnly")
"""Keywords that only a reader sees, a model above all."""
SILENT = frozenset({"$comment", "$id", "$anchor", "$schema", "$defs", "definitions", "$vocabulary"})
"""Keywords that do not count at all, or only for the document as a whole."""
_UNKNOWN_TO_DRAFT_07 = frozenset(
    [
        "prefixItems",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedItems",
        "unevaluatedProperties",
        "minContains",
        "maxContains",
    ]
)


@dataclass(slots=False, eq=False)
class Document:
    """The root of one side's schema and where it stands in the procedure's document."""

    root: Any
    base: Place = ()
    dialect: str | None = field(init=False)
    """None is a dialect that is not read here."""
    _texts: dict[Place, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.dialect = _dialect(self.root, self.base)

    @property
    def schema(self) -> Schema:
        return (Source(self, (), self.base, self.root),)

    @cached_property
    def references(self) -> frozenset[str]:
        """Every ``$ref`` in the document, and every other text under that key."""
        return frozenset(_references(self.root))

    @cached_property
    def definitions(self) -> str:
        """The text of what references usually point to, the same for the same definitions."""
        held = self.root if isinstance(self.root, Mapping) else {}
        return json.dumps([held.get("$defs"), held.get("definitions")], sort_keys=True)

    def text(self, source: Source) -> str:
        """Return a text of a source that is the same for the same JSON."""
        known = self._texts.get(source.at) if not source.part else None
        if known is None:
            known = json.dumps(source.raw, sort_keys=True)
            if not source.part:
                self._texts[source.at] = known
        return known


class Source:
    """One text of a schema; ``part`` tells apart texts that were cut out of the one at the same place."""

    __slots__ = ("_hash", "at", "document", "part", "raw", "use")

    def __init__(self, document: Document, at: Place, use: Place, raw: Any, part: str = "") -> None:
        self.document = document
        self.at = at
        self.use = use
        self.raw = raw
        self.part = part
        self._hash = hash((id(document), at, part))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Source)
            and self.document is other.document
            and self.at == other.at
            and self.part == other.part
        )

    def __hash__(self) -> int:
        return self._hash

    def child(self, *suffix: str | int) -> Source:
        """Return the schema below this one at ``suffix``."""
        raw = self.raw
        for part in suffix:
            raw = raw[part]
        return Source(self.document, (*self.at, *suffix), (*self.use, *suffix), raw)

    def without(self, *keywords: str) -> Source:
        """Return the same schema without some keywords."""
        raw = {key: value for key, value in self.raw.items() if key not in keywords}
        return Source(self.document, self.at, self.use, raw, part=f"{self.part}-{'-'.join(sorted(keywords))}")

    def only(self, raw: Mapping[str, Any], part: str) -> Source:
        """Return a cut of this schema, for the judge alone."""
        return Source(self.document, self.at, self.use, raw, part=f"{self.part}+{part}")

    def target(self) -> Source | None:
        """Return what ``$ref`` points to, used from here; None if it points to nothing."""
        found = resolve_pointer(self.document.root, self.raw["$ref"])
        return None if found is None else Source(self.document, found.at, self.use, found.schema)

    def spot(self, *suffix: str | int) -> Spot:
        """Return the place of a keyword of this schema."""
        value: Any = self.raw
        for part in suffix:
            value = value[part]
        use, at = (*self.use, *suffix), (*self.document.base, *self.at, *suffix)
        return Spot(use, None if use == at else at, value)


Schema: TypeAlias = tuple[Source, ...]
ANYTHING: Schema = ()


class Spot(NamedTuple):
    """A place in the procedure's document: from where it is used, where its text stands if elsewhere, and the value."""

    use: Place
    at: Place | None = None
    value: Any = ABSENT


class Keyword(NamedTuple):
    """One keyword of a schema in the spelling of 2020-12; ``suffix`` is where it is written."""

    name: str
    value: Any
    suffix: Place


def keywords(source: Source) -> Iterator[Keyword]:
    """Yield what a schema says that is no mere container; draft-07 is turned into the words of 2020-12."""
    old = source.document.dialect == "draft-07"
    raw: Mapping[str, Any] = source.raw
    hidden = old and "$ref" in raw
    for name, value in raw.items():
        if name in SILENT or (old and name in _UNKNOWN_TO_DRAFT_07):
            continue
        if hidden and name not in ("$ref", *TEXT, "default") and not name.startswith("x-"):
            continue
        if name == "additionalItems":
            if isinstance(raw.get("items"), list):
                yield Keyword("items", value, (name,))
        elif name == "items" and isinstance(value, list):
            yield Keyword("prefixItems", value, (name,))
        else:
            yield Keyword(name, value, (name,))


def is_anything(schema: Schema) -> bool:
    """Whether a schema plainly accepts every value."""
    return all(source.raw is True or source.raw == {} for source in schema)


def is_nothing(schema: Schema) -> bool:
    """Whether a schema plainly accepts no value."""
    return any(source.raw is False for source in schema)


def key_of(schema: Schema) -> frozenset[Source]:
    return frozenset(schema)


def meet(*schemas: Schema) -> Schema:
    """Return the schema of what all of ``schemas`` accept."""
    return tuple(dict.fromkeys(source for schema in schemas for source in schema))


def alike(old: Document, new: Document) -> bool:
    """Whether the same text means the same in both documents."""
    if old.dialect != new.dialect or old.dialect is None or new.dialect is None:
        return False
    references = old.references | new.references
    usual = all(text.startswith(("#/$defs/", "#/definitions/")) for text in references)
    return not references or (usual and old.definitions == new.definitions)


def _references(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Mapping):
            reference = here.get("$ref")
            if isinstance(reference, str):
                yield reference
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)


def _dialect(root: Any, base: Place) -> str | None:
    if isinstance(root, bool):
        return DEFAULT_DIALECT
    if not isinstance(root, Mapping):
        raise Faulty((Fault(code="schema-invalid", message="a JSON Schema is a mapping, true or false", at=base),))
    named = root.get("$schema")
    if named is not None and (not isinstance(named, str) or named not in DIALECTS):
        return None
    dialect = DIALECTS[named] if named is not None else DEFAULT_DIALECT
    if named is None and not _reads(root, DEFAULT_DIALECT) and _reads(root, "draft-07"):
        return "draft-07"  # a list under items, which 2020-12 does not know and importers bring
    if not _reads(root, dialect):
        message = f"the schema does not follow the metaschema of {dialect}"
        raise Faulty((Fault(code="schema-invalid", message=message, at=base),))
    return dialect


def _reads(root: Mapping[str, Any], dialect: str) -> bool:
    named = next(uri for uri, name in DIALECTS.items() if name == dialect)
    try:
        return jsonschema_rs.meta.is_valid({**root, "$schema": named})
    except (ValueError, jsonschema_rs.ReferencingError, RecursionError):
        return False
