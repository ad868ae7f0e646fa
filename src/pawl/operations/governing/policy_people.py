"""What an adoption changes beside the rules: whose keys sign, who has which role, and the order of channels."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pawl.problems import Problem
from pawl.registry.catalog import Adopted

SIGNERS = "registry/allowed_signers"
_TOKEN = re.compile(r'(?:[^\s"]|"(?:\\.|[^"\\])*")+')
_KEY_TYPES = ("ssh-", "ecdsa-", "sk-")
_MACHINES = ("agent", "service")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """One principal of one line, with the key by its fingerprint and what the line says of it."""

    principal: str
    key: str
    options: str


def read_signers(text: str | None) -> tuple[tuple[Signer, ...], tuple[int, ...]]:
    """Return who signs with which key, and the numbers of the lines that are none."""
    found: list[Signer] = []
    broken: list[int] = []
    for number, line in enumerate((text or "").split("\n"), start=1):
        if not line.strip() or line.strip().startswith("#"):
            continue
        words = _TOKEN.findall(line)
        options = words.pop(1) if len(words) > 1 and not words[1].startswith(_KEY_TYPES) else ""
        try:
            data = base64.b64decode(words[2] if words[1].startswith(_KEY_TYPES) else "?", validate=True)
        except (IndexError, binascii.Error, ValueError):
            broken.append(number)
            continue
        print_of = base64.b64encode(hashlib.sha256(data).digest()).decode("ascii").rstrip("=")
        names = words[0].strip('"').split(",")
        found.extend(Signer(principal=name, key=f"SHA256:{print_of}", options=options) for name in names)
    return tuple(found), tuple(broken)


def signer_rows(old: Adopted | None, new: Adopted) -> list[dict[str, Any]]:
    """Return each principal whose keys change, with old and new."""
    before, after = (_keys(policy.signers if policy else None) for policy in (old, new))
    return _differing("principal", before, after)


def people_rows(old: Adopted | None, new: Adopted) -> list[dict[str, Any]]:
    """Return each person whose roles change, with old and new."""
    before, after = (_roles(policy.people if policy else {}) for policy in (old, new))
    return _differing("person", before, after)


def channel_rows(old: Adopted | None, new: Adopted) -> list[dict[str, Any]]:
    """Return each channel that comes, goes or follows another one, with old and new; ``None`` where there is none."""
    before, after = (
        {name: {"after": first} for name, first in policy.channels.items()} if policy else {} for policy in (old, new)
    )
    return [
        {"channel": name, "old": before.get(name), "new": after.get(name)}
        for name in sorted(set(before) | set(after))
        if before.get(name) != after.get(name)
    ]


def people_problems(data: Mapping[str, Any], channels: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield a warning for each change by which more people, keys or versions get through than under the old policy."""
    for row in data["signers"]:
        if added := _beyond(row["new"], row["old"]):
            yield _looser(f"{row['principal']} could sign with {', '.join(added)}, and could not before")
    for row in data["people"]:
        if gained := [role for role in _beyond(row["new"], row["old"]) if role not in _MACHINES]:
            yield _looser(f"{row['person']} would have the role {', '.join(gained)}, and had not before")
        if lost := [role for role in _beyond(row["old"], row["new"]) if role in _MACHINES]:
            yield _looser(f"{row['person']} would no longer be of the role {', '.join(lost)}, and so pass for a human")
    for row in channels:
        before = row["old"] and row["old"]["after"]
        after = row["new"] and row["new"]["after"]
        if before and row["new"] and before != after:
            then = f"{after} alone" if after else "no other channel"
            yield _looser(f"channel {row['channel']} came after {before} and would come after {then}")


def signer_problems(text: str | None) -> Iterator[Problem]:
    """Yield what is wrong with the signers to adopt, whether they change or not."""
    signers, broken = read_signers(text)
    for number in broken:
        message = f"line {number} of {SIGNERS} is no signer: expected ADDRESS KEYTYPE KEY"
        yield Problem(code="signer-bad", message=message, path=SIGNERS, line=number)
    owners: dict[str, dict[str, str]] = {}
    for signer in signers:
        owners.setdefault(signer.key, {}).setdefault(signer.principal.casefold(), signer.principal)
        if any(sign in signer.principal for sign in "*?!"):
            message = f"{signer.key} signs for everybody whose address fits {signer.principal}"
            yield Problem(code="signer-wildcard", severity="warning", message=message, path=SIGNERS)
        if "cert-authority" in signer.options.casefold():
            message = f"{signer.key} signs for {signer.principal} through every key that it certifies"
            yield Problem(code="signer-wildcard", severity="warning", message=message, path=SIGNERS)
    for key, names in owners.items():
        if len(names) > 1:
            message = f"{key} is the key of {' and of '.join(names.values())}: one person could sign as each of them"
            yield Problem(code="signer-twice", message=message, path=SIGNERS, hint="give each a key of their own")


def _keys(text: str | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for signer in read_signers(text)[0]:
        found.setdefault(signer.principal, []).append(f"{signer.key} {signer.options}".rstrip())
    return {who: sorted(set(keys)) for who, keys in found.items()}


def _roles(people: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for who, roles in people.items():
        found.setdefault(who.casefold(), []).extend(roles)
    return {who: sorted(set(roles)) for who, roles in found.items()}


def _differing(what: str, old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    return [
        {what: who, "old": old.get(who, []), "new": new.get(who, [])}
        for who in sorted(set(old) | set(new))
        if old.get(who, []) != new.get(who, [])
    ]


def _beyond(these: Iterable[str], those: Sequence[str]) -> list[str]:
    return [word for word in these if word not in those]


def _looser(message: str) -> Problem:
    return Problem(code="plan-looser", severity="warning", message=message)
