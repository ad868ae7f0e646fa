"""From pydantic's errors to faults in the words of those who write YAML."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pawl.problems import Fault, Place
from pawl.procedures.words import shown

_EXPECTED = {
    "string_type": "a text",
    "string_unicode": "a text that UTF-8 can hold",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "mapping_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
}
MAX_FAULTS = 200


def tuple_from_list(value: Any) -> Any:
    """Let a strict tuple be written as a YAML list, and nothing else."""
    return tuple(value) if isinstance(value, list) else value


def shape_faults(error: ValidationError, model: type[BaseModel], *, prefix: str) -> tuple[Fault, ...]:
    """Return every fault in ``error``; codes begin with ``prefix``: -field-unknown, -field-missing, -field-invalid."""
    return tuple(_faults(error, model, prefix))[:MAX_FAULTS]


def _faults(error: ValidationError, model: type[BaseModel], prefix: str) -> Iterator[Fault]:
    for found in error.errors(include_url=False):
        loc = found["loc"]
        if found["type"] == "too_short" and len(found["input"]) >= found["ctx"]["min_length"]:
            continue  # only because entries are at fault, each of which is told
        of_key = loc[-1:] == ("[key]",) and loc[-2:-1] == (found["input"],)
        at: Place = loc[:-1] if of_key else loc
        if found["type"] == "extra_forbidden":
            known = _fields(model, at[:-1])
            close = get_close_matches(str(at[-1]), known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known here: {', '.join(known)}" if known else None
            yield Fault(
                code=f"{prefix}-field-unknown",
                message=f"unknown field {str(at[-1])[:120]}",
                at=at,
                on_key=True,
                hint=hint,
            )
        elif found["type"] == "missing":
            where = f" in {_name(at[:-1])}" if at[:-1] else ""
            yield Fault(code=f"{prefix}-field-missing", message=f"{at[-1]} is missing{where}", at=at[:-1])
        else:
            yield Fault(code=f"{prefix}-field-invalid", message=f"{_name(at)}: {_sentence(found)}", at=at)


def _sentence(found: ErrorDetails) -> str:
    kind, context, value = found["type"], found.get("ctx", {}), found["input"]
    match kind:
        case "literal_error":
            text = f"expected {context['expected']}, found {shown(value)}"
        case "value_error":
            text = str(context["error"])
        case "too_short" | "string_too_short":
            text = "must not be empty"
        case "too_long":
            text = f"has more than {context['max_length']} entries"
        case "string_too_long":
            text = f"has more than {context['max_length']} characters"
        case "greater_than_equal":
            text = f"must be at least {context['ge']}, found {shown(value)}"
        case "less_than_equal":
            text = f"must be at most {context['le']}, found {shown(value)}"
        case "string_pattern_mismatch":
            text = f"{shown(value)} does not match {context['pattern']}"
        case _:
            text = f"expected {_EXPECTED.get(kind, 'something else')}, found {shown(value)}"
    return text


def _name(at: Place) -> str:
    words = [str(part)[:120] for part in at]
    return ".".join(words) if words else "the document"


def _fields(model: type[BaseModel], at: Place) -> list[str]:
    """Return the fields that a model has at a place, as far as they can be told."""
    here: Any = model
    for part in at:
        if isinstance(part, int):
            continue
        fields = here.model_fields if isinstance(here, type) and issubclass(here, BaseModel) else {}
        inner = next((info.annotation for key, info in fields.items() if (info.alias or key) == part), None)
        here = _model_in(inner) or here if inner is not None else here
    if not (isinstance(here, type) and issubclass(here, BaseModel)):
        return []
    return [info.alias or key for key, info in here.model_fields.items()]


def _model_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part)) is not None), None)
