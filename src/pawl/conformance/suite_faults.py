"""Every fault of a suite's document, each placed in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from pawl.conformance.assertions import ASSERTIONS, NOT_RUN, split
from pawl.conformance.models import AssertionDocument, CaseDocument, SuiteDocument
from pawl.conformance.plain import ABSENT
from pawl.conformance.values import schema_faults
from pawl.ids import parse_name
from pawl.problems import Fault, Place
from pawl.procedures.read_faults import specifier_fault
from pawl.procedures.shapes import shape_faults


def suite_faults(document: Any) -> tuple[Fault, ...]:
    """Return all faults of a parsed document; where its shape is wrong, also what is wrong inside whole cases."""
    try:
        read = SuiteDocument.model_validate(document)
    except ValidationError as error:
        return (*shape_faults(error, SuiteDocument, prefix="suite"), *_whole_cases(document))
    return (*_head_faults(read), *_case_faults(read))


def _head_faults(read: SuiteDocument) -> Iterator[Fault]:
    for field in ("suite", "about"):
        try:
            parse_name(getattr(read, field))
        except ValueError as error:
            yield Fault(code="suite-field-invalid", message=f"{field}: {error}", at=(field,))
    if "versions" in read.model_fields_set and (wrong := specifier_fault(read.versions)):
        yield Fault(code="suite-versions-invalid", message=f"versions: {wrong}", at=("versions",))
    if not read.cases:
        yield Fault(
            code="suite-empty",
            message="the suite has no cases: it needs at least one, or it checks nothing",
            at=("cases",),
        )


def _case_faults(read: SuiteDocument) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for at, case in enumerate(read.cases):
        if (before := first.setdefault(case.id, at)) != at:
            yield Fault(
                code="suite-case-duplicate",
                message=f"case {case.id!r} is there twice, first as number {before + 1}: ids are unique in a suite",
                at=("cases", at, "id"),
            )
        for fault in _one_case_faults(case):
            yield fault.under("cases", at)


def _one_case_faults(case: CaseDocument) -> Iterator[Fault]:
    for one, others in _APART.items():
        if one in case.model_fields_set and (clash := sorted(others & case.model_fields_set)):
            yield Fault(
                code="suite-case-shape",
                message=f"a case with {one} has no {' or '.join(clash)}: {_SHAPES}",
                at=(clash[0],),
                on_key=True,
            )
    if not case.expectations:
        yield Fault(
            code="suite-case-unasserted",
            message=f"case {case.id!r} has no assertions: a case that expects nothing checks nothing",
            at=("assert",),
        )
    for at, expectation in enumerate(case.expectations):
        for fault in _assertion_faults(expectation):
            yield fault.under("assert", at)


def _assertion_faults(expectation: AssertionDocument) -> Iterator[Fault]:
    bare, _ = split(expectation.type)
    if bare in NOT_RUN:
        return
    kind = ASSERTIONS.get(bare)
    if kind is None:
        close = get_close_matches(bare, (*ASSERTIONS, *NOT_RUN), n=1)
        yield Fault(
            code="suite-assertion-unknown",
            message=f"{expectation.type!r} is no assertion type: pawl knows {', '.join(ASSERTIONS)}, each with not-",
            at=("type",),
            hint=f"did you mean {close[0]}?" if close else None,
        )
        return
    value = _stated(expectation, "value")
    if (expected := kind.value(value)) is not None:
        at: Place = () if value is ABSENT else ("value",)
        yield Fault(code="suite-assertion-value", message=f"{expectation.type} {expected}", at=at)
    elif kind.has_schema:
        yield from (fault.under("value") for fault in schema_faults(value))
    for field in _useless_fields(expectation):
        yield Fault(
            code="suite-assertion-field",
            message=f"{expectation.type} has no {field}: {_FIELDS[field]}",
            at=(field,),
            on_key=True,
        )


def _useless_fields(expectation: AssertionDocument) -> list[str]:
    kind = ASSERTIONS[split(expectation.type)[0]]
    useless = set() if kind.takes_threshold else {"threshold"}
    if kind.looks_at != "subject":
        useless |= {"role", "message"}
    return sorted(useless & expectation.model_fields_set)


_SHAPES = "prompts take inputs or an answer, tools a call, workflows inputs and given"
_APART = {"call": {"inputs", "given", "answer"}, "answer": {"given"}}
_FIELDS = {
    "threshold": "only levenshtein has one",
    "role": "only assertions on rendered messages have one",
    "message": "only assertions on rendered messages have one",
}


def _stated(read: CaseDocument | AssertionDocument, field: str) -> Any:
    return getattr(read, field) if field in read.model_fields_set else ABSENT


def _whole_cases(document: Any) -> Iterator[Fault]:
    """Yield what is wrong inside the cases that have their shape, in a document that has not."""
    cases = document.get("cases") if isinstance(document, Mapping) else None
    for at, raw in enumerate(cases if isinstance(cases, list) else ()):
        try:
            case = CaseDocument.model_validate(raw)
        except ValidationError:
            continue
        yield from (fault.under("cases", at) for fault in _one_case_faults(case))
