"""Reading a procedure: from a parsed document to a value that can be trusted, or to every fault in it."""

from __future__ import annotations

from typing import Any

from pawl.canonical import digest_of
from pawl.errors import Faulty
from pawl.ids import Digest, Name, parse_version
from pawl.problems import Fault
from pawl.procedures.procedure import Procedure
from pawl.procedures.words import shown


def read_procedure(document: Any) -> Procedure:
    """Return the procedure in a document that was parsed from strict YAML; raises ``Faulty`` with every fault."""
    if not isinstance(document, dict):
        message = f"a procedure is a mapping, found {shown(document)}"
        raise Faulty((Fault(code="procedure-field-invalid", message=message),))
    from pawl.procedures.read_faults import faults_of  # noqa: PLC0415 - slow to import; what was found valid goes without

    errors = tuple(fault for fault in faults_of(document) if fault.severity == "error")
    if errors:
        raise Faulty(errors)
    try:
        digest = digest_of(document)
    except ValueError as error:
        raise Faulty((Fault(code="procedure-field-invalid", message=f"it has no canonical form: {error}"),)) from None
    return procedure_of(document, digest)


def procedure_of(document: dict[str, Any], digest: Digest) -> Procedure:
    """Return the procedure in a document that was found valid, with its digest."""
    return Procedure(
        kind=document["kind"],
        name=Name(document["name"]),
        version=parse_version(document["version"]),
        document=document,
        digest=digest,
    )
