"""Whether the signatures in a journal are what the records say of them, by the signers adopted when they were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pawl.errors import InvalidError
from pawl.io.signatures import is_by, is_sound
from pawl.problems import Problem
from pawl.registry.catalog import Catalog
from pawl.registry.journal import Record
from pawl.registry.signatures import signature_of, signed_of


def signature_problems(catalog: Catalog, records: Iterable[Record]) -> Iterator[Problem]:
    """Yield each record that says verified without a signature that shows it, or whose signature is not one of it."""
    for record in records:
        if not record.actor.verified and "signature" not in record.body:
            continue
        path = f"releases/{record.journal}/{record.serial:06d}.json"
        try:
            why = _why_forged(catalog, record)
        except InvalidError as error:
            message = f"signatures were not looked at: {error.message}"
            yield Problem(code="signatures-not-checked", severity="warning", message=message, path=path)
            return
        if why is not None:
            message = f"record {record.serial} of {record.journal}, by {record.actor}, {why}"
            hint = f"it counts for nothing; see where it came from: git log -- {path}"
            yield Problem(code="signature-forged", message=message, path=path, hint=hint)


def _why_forged(catalog: Catalog, record: Record) -> str | None:
    data, signature = signed_of(record), signature_of(record)
    if signature is None:
        return "says verified and is not signed" if record.actor.verified else "has a signature that is none"
    if not record.actor.verified:
        return None if is_sound(data, signature) else "has a signature that is not one of this record"
    signers = _signers(catalog, record)
    if is_by(signers.encode(), record.actor.email or "", data, signature, record.at):
        return None
    if not is_sound(data, signature):
        return "has a signature that is not one of this record"
    return "says verified and is signed with a key that was not the actor's by the signers adopted then"


def _signers(catalog: Catalog, record: Record) -> str:
    number = record.body.get("policy")
    known = catalog.policies[number - 1] if type(number) is int and 1 <= number <= len(catalog.policies) else None
    return (known.signers if known else None) or ""
