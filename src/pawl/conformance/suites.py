"""Suites: reading a document into frozen cases, with every fault at once, and saying which versions a suite is about.

Nothing in a suite is passed over: an unknown field or assertion type, a case without assertions, an assertion that
cannot fail, and two cases of one id are faults of the suite. Whether a case fits the kind of its procedure is seen
when it is judged, for the same suite can outlive a change of kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

from pydantic import ValidationError

from pawl.canonical import digest_of
from pawl.conformance.assertions import ASSERTIONS, NOT_RUN, Assertion, split
from pawl.conformance.models import AssertionDocument, CaseDocument, SuiteDocument
from pawl.conformance.plain import ABSENT
from pawl.conformance.values import schema_faults
from pawl.errors import Faulty
from pawl.ids import Digest, Name, Version, parse_name
from pawl.problems import Fault, Place
from pawl.procedures.read import specifier_fault
from pawl.procedures.shapes import shape_faults
from pawl.registry.versions import satisfies


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case; what it does not state is None, or absent where null is a value."""

    id: str
    assertions: tuple[Assertion, ...]
    inputs: Mapping[str, Any] | None = None
    given: Mapping[str, Any] | None = None
    call: Any = ABSENT
    answer: Any = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A suite that was read and found valid. ``document`` is the parsed file, which nobody changes."""

    name: Name
    about: Name
    versions: str | None
    cases: tuple[Case, ...]
    document: Mapping[str, Any]
    digest: Digest


class Versioned(Protocol):
    """What a suite can be about: a procedure, a published version or a pin."""

    @property
    def name(self) -> Name: ...
    @property
    def version(self) -> Version: ...


def applies(suite: Suite, procedure: Versioned) -> bool:
    """Whether the suite is about this version; a pre-release counts where it lies within the specifier."""
    if suite.about != procedure.name:
        return False
    return suite.versions is None or satisfies(procedure.version, suite.versions)


def read_suite(document: Any) -> Suite:
    """Return the suite that a parsed document is; raises ``Faulty`` with all faults, each placed in the document."""
    try:
        read = SuiteDocument.model_validate(document)
    except ValidationError as error:
        raise Faulty((*shape_faults(error, SuiteDocument, prefix="suite"), *_whole_cases(document))) from None
    faults = [*_head_faults(read), *_case_faults(read)]
    if faults:
        raise Faulty(tuple(faults))
    try:
        digest = digest_of(document)
    except ValueError as error:
        raise Faulty(
            (Fault(code="suite-invalid", message=f"the suite has no canonical JSON form: {error}"),)
        ) from error
    return suite_of(document, digest)


def suite_of(document: Mapping[str, Any], digest: Digest) -> Suite:
    """Return the suite in a document that was found valid, with its digest."""
    return Suite(
        name=Name(document["suite"]),
        about=Name(document["about"]),
        versions=document.get("versions"),
        cases=tuple(map(_case, document["cases"])),
        document=document,
        digest=digest,
    )


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


def _case(stated: Mapping[str, Any]) -> Case:
    return Case(
        id=stated["id"],
        assertions=tuple(map(_assertion, stated["assert"])),
        inputs=stated.get("inputs"),
        given=stated.get("given"),
        call=stated.get("call", ABSENT),
        answer=stated.get("answer", ABSENT),
    )


def _assertion(stated: Mapping[str, Any]) -> Assertion:
    bare, negated = split(stated["type"])
    return Assertion(
        type=bare,
        negated=negated,
        value=stated.get("value", ABSENT),
        threshold=stated.get("threshold"),
        role=stated.get("role"),
        message=stated.get("message"),
    )


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
