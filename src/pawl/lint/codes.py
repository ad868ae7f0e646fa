"""Codes as values: what each means, which section of docs/problems.md it is in, and whether lint's ignores may name it.

``explain`` adds, for the codes of lint, why it matters, an example of what is found and of what is not, and how to
ignore it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pawl.lint.meanings import MEANINGS
from pawl.lint.profiles import NAMES, PROFILES, ROWS

ALWAYS: frozenset[str] = frozenset({"tool-name-clash", "prompt-budget"})
"""Found by lint too, and errors that nobody can ignore: what has them does not work."""
_LINT_SECTION = "Lint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """One code in one line. ``exit`` is in words, such as ``1`` or ``7 when served, a warning otherwise``."""

    code: str
    section: str
    means: str
    exit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What ``pawl check --explain CODE`` says; for codes that are not lint's, the meaning is all."""

    code: str
    section: str
    means: str
    exit: str
    why: str | None = None
    objections: tuple[str, ...] = ()
    """One line for each row of the table of profiles."""
    bad: str | None = None
    good: str | None = None
    ignore: str | None = None

    def text(self) -> str:
        """Return it for a terminal."""
        lines = [f"{self.code}: {self.means}", f"section: {self.section}"]
        lines += ["", self.why] if self.why else []
        lines += ["", *self.objections] if self.objections else []
        for title, block in (("found in:", self.bad), ("not found in:", self.good), ("to ignore it:", self.ignore)):
            lines += ["", title, *(f"  {line}" for line in block.splitlines())] if block else []
        return "\n".join(lines) + "\n"


def _meanings() -> Iterator[Meaning]:
    section = exit_of_section = ""
    for line in MEANINGS.replace("\n  ", " ").splitlines():
        if line.startswith("# "):
            section = line[2:]
            exit_of_section = _exit(section) or ""
            continue
        codes, _, means = line.partition(" | ")
        for code in codes.split(", "):
            yield Meaning(code=code, section=section, means=means, exit=_exit(means) or exit_of_section)


def _exit(text: str) -> str | None:
    """Return what the last parentheses say of exit codes or severity."""
    found = re.findall(r"\(([^()]*(?:\d|warning|note|error)[^()]*)\)", text)
    return found[-1].removeprefix("exit ") if found else None


CODES: Mapping[str, Meaning] = MappingProxyType({meaning.code: meaning for meaning in _meanings()})
IGNORABLE: frozenset[str] = frozenset(
    code for code, meaning in CODES.items() if meaning.section.startswith(_LINT_SECTION)
)
"""The codes of lint that are not always errors."""


def explain(code: str) -> Explanation | None:
    """Return what a code means, or None if there is no such code."""
    meaning = CODES.get(code)
    if meaning is None:
        return None
    from pawl.lint.examples import EXAMPLES  # noqa: PLC0415 - texts that only --explain shows

    example = EXAMPLES.get(code)
    return Explanation(
        code=code,
        section=meaning.section,
        means=meaning.means,
        exit=meaning.exit,
        why=example.why if example else None,
        objections=tuple(_objections(code)),
        bad=example.bad if example else None,
        good=example.good if example else None,
        ignore=_ignore(code),
    )


def _objections(code: str) -> Iterator[str]:
    rows = [row for row in ROWS.values() if row.code == code]
    words = {"E": "refused by", "w": "better avoided for", "L": "rewritten by the exporter for"}
    for row in rows:
        parts = []
        for cell, word in words.items():
            names = [NAMES[profile] for profile in PROFILES[1:] if row.cells[profile] == cell]
            parts += [f"{word} {', '.join(names)}"] if names else []
        yield f"{row.what}: {'; '.join(parts) or 'taken by all'}"


def _ignore(code: str) -> str | None:
    """Return the lines of registry.yaml, or why there are none."""
    if code in IGNORABLE:
        return (
            "# registry/registry.yaml\nlint:\n  ignores:\n"
            f'    - {{code: {code}, files: "procedures/support/*", reason: "Say why here."}}'
        )
    return "it is always an error, and cannot be ignored" if code in ALWAYS else None
