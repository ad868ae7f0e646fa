"""Suites: reading a document into frozen cases, with every fault at once, and saying which versions a suite is about.

Nothing in a suite is passed over: an unknown field or assertion type, a case without assertions, an assertion that
cannot fail, and two cases of one id are faults of the suite. Whether a case fits the kind of its procedure is seen
when it is judged, for the same suite can outlive a change of kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pawl.canonical import digest_of
from pawl.conformance.assertions import Assertion, split
from pawl.conformance.plain import ABSENT
from pawl.errors import Faulty
from pawl.ids import Digest, Name, Version
from pawl.problems import Fault
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
    from pawl.conformance.suite_faults import suite_faults  # noqa: PLC0415 - pydantic; what was found valid goes without

    if faults := suite_faults(document):
        raise Faulty(faults)
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
