"""The judge of values: jsonschema-rs, which also checks calls, asked about any place in a schema.

It answers None where it cannot say. Patterns run in linear time, formats are not asserted, nothing is fetched.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from pawl.changes.source import Document, Schema, Source
from pawl.problems import Place, pointer

_ADDRESS = "urn:pawl:schema"


class Judge:
    """Answers whether values hold under schemas of documents; compiled validators are kept."""

    def __init__(self) -> None:
        self._registries: dict[int, tuple[Document, Any]] = {}
        self._validators: dict[tuple[int, Place], Any] = {}

    def accepts(self, schema: Schema, value: Any) -> bool | None:
        """Return whether every source of a schema accepts a value; None if one cannot be asked and no other refuses."""
        unsure = False
        for source in schema:
            answer = self._accepts(source, value)
            if answer is False:
                return False
            unsure = unsure or answer is None
        return None if unsure else True

    def _accepts(self, source: Source, value: Any) -> bool | None:
        if isinstance(source.raw, bool):
            return source.raw
        if source.part:
            return None
        key = (id(source.document), source.at)
        if key not in self._validators:
            self._validators[key] = self._compiled(source)
        validator = self._validators[key]
        return None if validator is None else bool(validator.is_valid(value))

    def _compiled(self, source: Source) -> Any:
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
                {"$ref": f"{_ADDRESS}#{quote(pointer(source.at), safe='/~')}"},
                registry=self._registries[id(document)][1],
                pattern_options=jsonschema_rs.RegexOptions(),
                offline=True,
                validate_formats=False,
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, RecursionError):
            return None


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
