"""Every fault of a procedure's document, and what is allowed and probably not meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet

from pawl.ids import parse_name, parse_version
from pawl.problems import Fault, Place
from pawl.procedures.kinds import KINDS, Kind
from pawl.procedures.procedure import Procedure
from pawl.procedures.words import shown

MAX_REQUIRES = 1_000
MAX_NESTED = 16
"""Levels of a procedure's own fields; what goes deeper is data."""


def faults_of(document: dict[str, Any]) -> Iterator[Fault]:
    """Yield every fault, warnings among them; of a document of no known kind only what is wrong with its head."""
    name = document.get("kind")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        yield _unknown_kind(document)
        yield from _head(document)
    else:
        yield from _every_fault(document, kind)


def _every_fault(document: dict[str, Any], kind: Kind) -> Iterator[Fault]:
    """The shape is judged first; what is judged after it keeps silent about places that were found wrong."""
    first = (*_head(document), *_nulls(document, ()))
    taken = {fault.at for fault in first}
    shape = _shape(document, kind)
    unknown = {fault.at for fault in shape if fault.on_key}
    yield from (fault for fault in first if fault.at not in unknown)
    yield from (fault for fault in shape if fault.at not in taken - unknown)
    taken |= {fault.at for fault in shape if not fault.on_key}
    missing = {fault.at for fault in shape if fault.code == "procedure-field-missing"}
    for fault in (*kind.check(document), *_used(document)):
        above = {fault.at[:length] for length in range(len(fault.at) + 1)}
        if not above & (taken - missing) and fault.at not in missing:
            yield fault


def _shape(document: dict[str, Any], kind: Kind) -> tuple[Fault, ...]:
    from pydantic import ValidationError  # noqa: PLC0415 - slow to import; warnings of what was read go without it

    from pawl.procedures.models import MODELS  # noqa: PLC0415 - as above
    from pawl.procedures.shapes import shape_faults  # noqa: PLC0415 - as above

    model = MODELS[kind.name]
    try:
        model.model_validate(document)
    except ValidationError as error:
        return shape_faults(error, model, prefix="procedure")
    return ()


def warnings(procedure: Procedure) -> tuple[Fault, ...]:
    """Return what is allowed and probably not meant."""
    document = procedure.document
    found = list(KINDS[procedure.kind].warn(document))
    for field in ("summary", "owner"):
        if not document.get(field):
            message = f"{field} is not given"
            found.append(Fault(code=f"{field}-missing", message=message, severity="warning"))
    used = set(references(document))
    for name in document.get("requires") or {}:
        if procedure.kind == "workflow" and name not in used:
            message = f"{name} is required and no step uses it"
            fault = Fault(
                code="requires-unused", message=message, at=("requires", name), on_key=True, severity="warning"
            )
            found.append(fault)
    return tuple(found)


def references(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of other procedures that a document's spec speaks of, each once."""
    kind = KINDS.get(document.get("kind", ""))
    return tuple(dict.fromkeys(name for name, _ in kind.references(document))) if kind else ()


def _unknown_kind(document: Mapping[str, Any]) -> Fault:
    known = ", ".join(KINDS)
    if "kind" not in document:
        return Fault(code="procedure-field-missing", message=f"kind is missing; it is one of {known}")
    message = f"kind: expected one of {known}, found {shown(document['kind'])}"
    return Fault(code="kind-unknown", message=message, at=("kind",))


def _head(document: Mapping[str, Any]) -> Iterator[Fault]:
    for field, parse in (("name", parse_name), ("version", parse_version)):
        value = document.get(field)
        if field in document and not isinstance(value, str):
            message = f"{field}: expected a text, found {shown(value)}"
            hint = "a version has three numbers, such as 1.10.0" if field == "version" else None
            yield Fault(code=f"{field}-invalid", message=message, at=(field,), hint=hint)
        elif isinstance(value, str):
            try:
                parse(value)
            except ValueError as error:
                yield Fault(code=f"{field}-invalid", message=str(error), at=(field,))
    requires = document.get("requires")
    if isinstance(requires, dict):
        yield from _requires(requires, document.get("name"))


_FREE = frozenset({"inputs", "output", "inputSchema", "outputSchema", "model", "extensions", "with"})
"""Fields that hold data of their own, in which null is a value like any other."""


def _nulls(value: Any, at: Place) -> Iterator[Fault]:
    """A field that is there and empty is neither absent nor given; rules and defaults would read it either way."""
    if isinstance(value, dict) and len(at) < MAX_NESTED:
        for key, item in value.items():
            if item is None and not (at and at[-1] == "end" and key == "output"):
                message = f"{key}: expected a value, found nothing; leave the field out"
                yield Fault(code="procedure-field-invalid", message=message, at=(*at, key))
            elif key not in _FREE:
                yield from _nulls(item, (*at, key))
    elif isinstance(value, list) and len(at) < MAX_NESTED:
        for index, item in enumerate(value):
            yield from _nulls(item, (*at, index))


def _requires(requires: Mapping[str, Any], own: Any) -> Iterator[Fault]:
    if len(requires) > MAX_REQUIRES:
        yield Fault(code="requires-invalid", message=f"more than {MAX_REQUIRES} requirements", at=("requires",))
        return
    for name, specifier in requires.items():
        at = ("requires", name)
        try:
            parse_name(name)
        except ValueError as error:
            yield Fault(code="requires-invalid", message=str(error), at=at, on_key=True)
        if name == own:
            yield Fault(code="requirement-cycle", message=f"{name} requires itself", at=at, on_key=True)
        if isinstance(specifier, str) and (wrong := specifier_fault(specifier)):
            yield Fault(code="requires-invalid", message=wrong, at=at)


def specifier_fault(text: str) -> str | None:
    """Return what is wrong with a version specifier, or None: PEP 440 operators over canonical versions."""
    try:
        parts = tuple(SpecifierSet(text)) if text.strip() and len(text) <= 200 else ()
    except InvalidSpecifier:
        parts = ()
    if not parts:
        return f"{text[:80]!r} is no version specifier, such as >=1.2,<2"
    return next((wrong for part in parts if (wrong := _part_fault(part))), None)


def _part_fault(part: Specifier) -> str | None:
    if part.operator == "===":
        return "=== compares texts; write =="
    version = part.version.removesuffix(".*")
    numbers = version.split(".")
    if not all(number.isascii() and number.isdigit() for number in numbers[:-1]) or len(numbers) > 3:
        return f"{part.version!r} is no version that can be published: X.Y.Z, optionally with aN, bN or rcN"
    if any(mark in version for mark in ("!", "+", "post", "dev")):
        return f"{part.version!r} is no version that can be published: X.Y.Z, optionally with aN, bN or rcN"
    return None


def _used(document: Mapping[str, Any]) -> Iterator[Fault]:
    """Every procedure that the spec speaks of must be among what it requires, so that closures are complete."""
    kind = KINDS[document["kind"]]
    requires = document.get("requires")
    known = requires if isinstance(requires, dict) else {}
    for name, at in kind.references(document):
        if name not in known:
            message = f"{name} is used here and not required"
            hint = f'add it under requires, such as {name}: ">=1,<2"'
            yield Fault(code="requires-missing", message=message, at=at, hint=hint)
