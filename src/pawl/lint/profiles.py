"""Who refuses what: one table of findings and profiles, as data; nothing else knows a vendor.

- A cell is ``E`` (refused there), ``w`` (taken, and better avoided), ``L`` (an exporter rewrites it) or ``-`` (fine).
- ``portable`` stands for use everywhere. It always runs and only warns.
- A profile that registry.yaml lists makes its ``E`` rows errors and its ``w`` rows warnings. ``L`` is silent here.
- Limits that vendors report differently are the lower ones, and close to a limit is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from pawl.problems import Fault, Place

Profile: TypeAlias = Literal["portable", "openai", "openai-strict", "anthropic", "gemini", "mcp"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
NAMES: Mapping[Profile, str] = MappingProxyType(
    {
        "portable": "portable",
        "openai": "OpenAI",
        "openai-strict": "OpenAI's strict mode",
        "anthropic": "Anthropic",
        "gemini": "Gemini",
        "mcp": "MCP hosts",
    }
)
"""What people call a profile in a sentence."""
MAX_DEPTH, CLOSE_DEPTH = 10, 5
"""Levels below the root, references expanded."""
MAX_NAME, CLOSE_NAME, MAX_MCP_NAME = 64, 60, 128
MAX_DESCRIPTION = 1_024
MAX_TOOLS, CLOSE_TOOLS = 128, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One finding. A code has several rows where vendors tell cases of it apart."""

    code: str
    what: str
    cells: Mapping[Profile, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something found, before anybody asked which profile objects; ``row`` is a key of ``ROWS``."""

    row: str
    message: str
    at: Place = ()
    on_key: bool = False
    hint: str | None = None

    def under(self, *prefix: str | int) -> Finding:
        """Return the same finding in a document that holds this one at ``prefix``."""
        at = (*prefix, *self.at)
        return Finding(row=self.row, message=self.message, at=at, on_key=self.on_key, hint=self.hint)


def _rows() -> Iterator[tuple[str, Row]]:
    for line in _TABLE.strip().splitlines():
        key, what, cells = (part.strip() for part in line.split("|"))
        named = dict(zip(PROFILES, cells.split(), strict=True))
        yield key, Row(code=key.partition("/")[0], what=what, cells=MappingProxyType(named))


# The columns are those of PROFILES: portable, openai, openai-strict, anthropic, gemini, mcp.
_TABLE = """
schema-root-composition  | anyOf, oneOf, allOf, not, if or enum at the root                   | E E E E E -
schema-open-object       | an object without additionalProperties: false                     | w - E w - -
schema-closed-object     | an object that says additionalProperties                           | - - - - L -
schema-optional-property | a property that is not required                                    | - - L - - -
schema-ref               | a reference into the same schema                                   | - - - - L -
schema-ref-cycle         | a schema that contains itself                                      | E w w w E -
schema-depth             | more than 10 levels, references expanded                           | E w E w E -
schema-depth/close       | more than 5 levels, references expanded                            | w - w - w -
schema-type-array        | a list of types other than [T, "null"]                             | E - - - E -
schema-type-array/null   | a list of types [T, "null"]                                        | - - - - L -
schema-boolean           | true or false as a schema                                          | w - w - L -
schema-oneof             | oneOf below the root                                               | E w E w E -
schema-oneof/disjoint    | oneOf below the root, of which one branch at most can hold         | E w E w L -
schema-allof             | allOf below the root                                               | w w E w E -
schema-keyword           | a keyword such as patternProperties, prefixItems, contains, not, if | E w E w E -
schema-const             | const                                                              | - - w - L -
schema-default           | default                                                            | - - w - L -
schema-bound             | exclusiveMinimum or exclusiveMaximum                               | - - w - L -
schema-property-name     | a property's name that is not [A-Za-z_][A-Za-z0-9_-]{0,63}         | E E E E E w
schema-property-name/dash | a property's name with -                                          | - - - - E -
tool-name                | a tool's name, prefix included, that is not [A-Za-z0-9_-]          | E E E E E -
tool-name/first          | a tool's name that begins with a digit or -                        | - - - - E -
tool-name/long           | a tool's name, prefix included, of more than 64 characters         | E E E E E -
tool-name/longest        | a tool's name, prefix included, of more than 128 characters        | E E E E E w
tool-name/close          | a tool's name, prefix included, of more than 60 characters         | w w w w w -
tool-description-long    | a description of more than 1,024 characters                        | w E E w w -
tool-count               | more than 128 tools in one closure                                 | E E E w w w
tool-count/close         | more than 40 tools in one closure                                  | w w w w w w
mcp-header               | an x-mcp-header for which clients drop the tool                    | - - - - - E
tool-output-closed       | an outputSchema that allows no further field                       | w w w w w w
"""
ROWS: Mapping[str, Row] = MappingProxyType(dict(_rows()))
TABLE_CODES: frozenset[str] = frozenset(row.code for row in ROWS.values())


def judged(findings: Iterable[Finding], listed: Iterable[Profile]) -> Iterator[Fault]:
    """Yield the findings to which ``portable`` or a listed profile objects, each saying who objects."""
    active = frozenset(listed) - {"portable"}
    for finding in findings:
        cells = ROWS[finding.row].cells
        against = [profile for profile in PROFILES if profile in active and cells[profile] == "E"]
        if not against and cells["portable"] not in "Ew" and not any(cells[profile] == "w" for profile in active):
            continue
        yield Fault(
            code=ROWS[finding.row].code,
            message=f"{finding.message}{_objection(cells, against)}",
            at=finding.at,
            on_key=finding.on_key,
            severity="error" if against else "warning",
            hint=finding.hint,
        )


def _objection(cells: Mapping[Profile, str], against: list[Profile]) -> str:
    """Return the end of a sentence: who refuses it, else who may; a row to which all agree speaks for itself."""
    refuse = [profile for profile in PROFILES[1:] if cells[profile] == "E"]
    if "openai" in refuse and "openai-strict" in refuse:
        refuse.remove("openai-strict")
    if refuse:
        names = [NAMES[profile] for profile in refuse]
        listed = f" (listed: {', '.join(against)})" if against else ""
        return f": {_joined(names)} {'refuses' if len(names) == 1 and refuse != ['mcp'] else 'refuse'} it{listed}"
    wary = [profile for profile in PROFILES[1:] if cells[profile] == "w"]
    if len(wary) >= len(PROFILES) - 2 or not wary:
        return ""
    return f": {_joined([NAMES[profile] for profile in wary])} may not take it as it is meant"


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
