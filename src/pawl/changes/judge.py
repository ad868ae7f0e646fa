"""The judge of values: jsonschema-rs, which also checks calls, asked about any place in a schema.

It answers None where it cannot say, or where the answer could take too long. Patterns run in linear time, formats are
not asserted, nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from pawl.changes.effort import MAX_WEIGHT, Effort, Weights
from pawl.changes.source import Document, Schema, Source
from pawl.problems import Place, pointer

_ADDRESS = "urn:pawl:schema"


class Judge:
    """Answers whether values hold under schemas of documents; compiled validators are kept."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self._weights: dict[int, Weights] = {}
        self._registries: dict[int, tuple[Document, Any]] = {}
        self._validators: dict[tuple[int, Place], Any] = {}

    @contextmanager
    def charged_to(self, effort: Effort) -> Iterator[None]:
        """Let questions cost ``effort`` in place of what the comparison has."""
        kept, self.effort = self.effort, effort
        try:
            yield
        finally:
            self.effort = kept

    def accepts(self, schema: Schema, value: Any) -> bool | None:
        """Return whether every source of a schema accepts a value; None if one cannot be asked and no other refuses."""
        unsure = False
        for source in schema:
            answer = self._accepts(source, value)
            if answer is False:
                return False
            unsure = unsure or answer is None
        return None if unsure else True

    def refuses(self, cut: Source, value: Any) -> bool:
        """Return whether a cut of a schema, taken alone, refuses a value."""
        key = (id(cut.document), (*cut.at, cut.part))
        if key not in self._validators:
            self._validators[key] = self._compiled(cut, _addressed(cut.raw))
        validator = self._validators[key]
        return validator is not None and self._bearable(cut, value) and not validator.is_valid(value)

    def _accepts(self, source: Source, value: Any) -> bool | None:
        if isinstance(source.raw, bool):
            return source.raw
        if source.part:
            return None
        key = (id(source.document), source.at)
        if key not in self._validators:
            reference = {"$ref": f"{_ADDRESS}#{quote(pointer(source.at), safe='/~')}"}
            self._validators[key] = self._compiled(source, reference)
        validator = self._validators[key]
        if validator is None or not self._bearable(source, value):
            return None
        return bool(validator.is_valid(value))

    def _bearable(self, source: Source, value: Any) -> bool:
        """Whether the validator surely answers soon, and the comparison can still afford it."""
        document = source.document
        weights = self._weights.get(id(document))
        if weights is None:
            weights = self._weights[id(document)] = Weights(document)
        weight = weights.of(source, value)
        return weight < MAX_WEIGHT and self.effort.spend(weight // 40)

    def _compiled(self, source: Source, schema: Any) -> Any:
        document = source.document
        if document.dialect is None:
            return None
        old = document.dialect == "draft-07"
        kind = jsonschema_rs.Draft7Validator if old else jsonschema_rs.Draft202012Validator
        try:
            if id(document) not in self._registries:
                draft = jsonschema_rs.Draft7 if old else jsonschema_rs.Draft202012
                registry = jsonschema_rs.Registry([(_ADDRESS, document.root)], draft=draft)
                self._registries[id(document)] = (document, registry)
            return kind(
                schema,
                registry=self._registries[id(document)][1],
                pattern_options=jsonschema_rs.RegexOptions(),
                offline=True,
                validate_formats=False,
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, RecursionError):
            return None


def _addressed(raw: Any) -> Any:
    """Return a cut of a schema with its references pointing into the whole."""
    if isinstance(raw, Mapping):
        return {
            key: f"{_ADDRESS}{value}" if key == "$ref" and isinstance(value, str) else _addressed(value)
            for key, value in raw.items()
        }
    return [_addressed(item) for item in raw] if isinstance(raw, list) else raw


@lru_cache(maxsize=512)
def _pattern(text: str) -> Any:
    try:
        return jsonschema_rs.Draft202012Validator({"pattern": text}, pattern_options=jsonschema_rs.RegexOptions())
    except (jsonschema_rs.ValidationError, ValueError):
        return None


def matches(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern of ``patternProperties``; a pattern that cannot be read matches nothing."""
    compiled = _pattern(pattern)
    return compiled is not None and bool(compiled.is_valid(name))
