"""JSON Schemas on the way of a value: compiling, judging values, filling defaults. ``schema_check`` judges schemas.

- Nothing is ever fetched: the validator is offline, and references lead into the same schema only.
- Patterns run in an engine of linear time and bounded size, so none can hang it; look-around and back-references are
  therefore refused in schemas.
- ``jsonschema-rs`` is the judge: 1.0 is an integer, ``$`` is the end of the text, ``\\d`` is ASCII, ``format`` is not
  asserted.
- A value that JSON cannot hold (NaN, a date, a key that is no text) fits no schema.
"""

from __future__ import annotations

from collections.abc import Mapping

from pawl.problems import Fault, Place
from pawl.procedures.schema_tree import MAX_DEPTH, dialect_of
from pawl.procedures.words import shown
from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any

MAX_PATTERN_BYTES = 256 * 1024
"""The size of one compiled pattern."""
_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"})


@dataclass(frozen=True, slots=True, eq=False)
class Validator:
    """A compiled schema."""

    compiled: Any
    schema: Any = True

    def is_valid(self, value: Any) -> bool:
        return not_json(value) is None and bool(self.compiled.is_valid(value))

    def faults(
        self,
        value: Any,
        *,
        at: Place = (),
        code: str = "value-invalid",
        missing: str | None = None,
        undeclared: str | None = None,
    ) -> tuple[Fault, ...]:
        """Return what is wrong with a value, each at its place in the value.

        ``missing`` and ``undeclared`` are codes of their own for properties that are not there, or not known.
        """
        wrong = not_json(value)
        if wrong is not None:
            return (Fault(code=code, message=wrong.message, at=(*at, *wrong.at)),)
        if self.compiled.is_valid(value):
            return ()
        from pawl.procedures.schema_explain import explain  # noqa: PLC0415 - only where a value is wrong

        codes = {"required": missing or code, "undeclared": undeclared or code, "other": code}
        return tuple(fault.under(*at) for fault in explain(self.compiled, self.schema, value, codes))


def not_json(value: Any, at: Place = ()) -> Fault | None:
    """Return what keeps a value from being JSON, or None. Validators would crash on it, or see something else."""
    if value is None or isinstance(value, bool | int):
        return None
    if isinstance(value, str):
        half = not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)
        return _not_json(at, "it holds half of a surrogate pair, which UTF-8 cannot") if half else None
    if isinstance(value, float):
        return None if value - value == 0 else _not_json(at, f"{value} is no number that JSON has")
    if not isinstance(value, dict | list | tuple):
        return _not_json(at, f"found a Python {type(value).__name__}, which JSON does not have")
    if len(at) > MAX_DEPTH:
        return _not_json(at[:1], f"it is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        wrong = (_key_not_json(key, at) or not_json(item, (*at, key)) for key, item in value.items())
    else:
        wrong = (not_json(item, (*at, index)) for index, item in enumerate(value))
    return next((fault for fault in wrong if fault is not None), None)


def _key_not_json(key: Any, at: Place) -> Fault | None:
    return not_json(key, at) if isinstance(key, str) else _not_json(at, f"a key is {shown(key)}, and keys are texts")


def _not_json(at: Place, message: str) -> Fault:
    where = ".".join(str(part) for part in at)
    return Fault(code="value-invalid", message=f"{where}: {message}" if where else message, at=at)


def compile_schema(schema: Any, *, closed_root: bool = False) -> Validator:
    """Return a validator; ``ValueError`` for a schema that does not compile. Nothing is fetched."""
    import jsonschema_rs  # noqa: PLC0415 - only where values are checked

    wanted: Any = closed(schema) if closed_root else schema
    kind = jsonschema_rs.Draft7Validator if dialect_of(wanted) == "draft-07" else jsonschema_rs.Draft202012Validator
    patterns = jsonschema_rs.RegexOptions(size_limit=MAX_PATTERN_BYTES, dfa_size_limit=MAX_PATTERN_BYTES)
    try:
        compiled = kind(wanted, pattern_options=patterns, offline=True, validate_formats=False)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
        raise ValueError(str(error).splitlines()[0] if str(error) else "it does not compile") from None
    return Validator(compiled, wanted)


def closed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a prompt's or a workflow's inputs: an object, closed unless it says otherwise."""
    root: dict[str, Any] = {"type": "object", **schema}
    if not {"additionalProperties", "unevaluatedProperties"} & set(schema):
        # properties may also be declared by what the root is composed of, which only unevaluatedProperties sees
        composed = _COMPOSED & set(schema) and dialect_of(schema) == "2020-12"
        root["unevaluatedProperties" if composed else "additionalProperties"] = False
    return root


def fill_defaults(schema: Mapping[str, Any], value: Any) -> Any:
    """Return ``value`` with the defaults of absent properties, at every depth that ``properties`` describes."""
    properties = schema.get("properties")
    if not isinstance(value, Mapping) or not isinstance(properties, Mapping):
        return value
    filled = dict(value)
    for name, inner in properties.items():
        if not isinstance(inner, Mapping):
            continue
        if name in filled:
            filled[name] = fill_defaults(inner, filled[name])
        elif "default" in inner:
            from copy import deepcopy  # noqa: PLC0415 - few calls leave an input out

            filled[name] = deepcopy(inner["default"])
    return filled
