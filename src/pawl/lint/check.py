"""Lint as one: everything that is found in a procedure, or in what is used together, as faults with places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pawl.ids import Name
from pawl.lint.profiles import judged
from pawl.lint.prompts import prompt_faults
from pawl.lint.schemas import find_in_schema
from pawl.lint.secrets import secret_faults
from pawl.lint.settings import LintSettings
from pawl.lint.tools import exported_name, find_count, find_in_tool, undescribed
from pawl.lint.workflows import workflow_faults
from pawl.problems import Fault
from pawl.procedures.procedure import Procedure
from pawl.procedures.read_faults import warnings
from pawl.procedures.tokens import ESTIMATE, Counter

_HERE = frozenset({"schema-root-composition"})
"""Warnings of reading that the table of profiles says better."""
_ANSWER_ROWS = frozenset({"schema-open-object"})


def lint_procedure(
    procedure: Procedure, settings: LintSettings, *, counters: Sequence[Counter] = (ESTIMATE,)
) -> tuple[Fault, ...]:
    """Return what is found in one procedure, in the order of its document; what reading warns of is part of it.

    A budget holds by every one of ``counters``.
    """
    found = [fault for fault in warnings(procedure) if fault.code not in _HERE]
    if procedure.kind == "tool":
        found += judged(find_in_tool(procedure, settings.prefixes), settings.profiles)
        found += undescribed(procedure)
    elif procedure.kind == "prompt":
        found += prompt_faults(procedure, counters)
        found += _answer(procedure, settings)
    elif procedure.kind == "workflow":
        found += workflow_faults(procedure)
    found += secret_faults(procedure.document)
    return tuple(dict.fromkeys(found))


def lint_closure(procedures: Iterable[Procedure], settings: LintSettings) -> tuple[tuple[Name, Fault], ...]:
    """Return what is found in procedures that are used together, each with the procedure to which it belongs.

    The first procedure is the closure's root; the number of its tools is told there.
    """
    members = tuple({procedure.name: procedure for procedure in procedures}.values())
    tools = [member for member in members if member.kind == "tool"]
    count = find_count(tools)
    counted = [(members[0].name, fault) for fault in judged([count] if count else [], settings.profiles)]
    return (*counted, *_clashes(tools))


def _clashes(tools: Iterable[Procedure]) -> Iterator[tuple[Name, Fault]]:
    same: dict[str, list[Procedure]] = defaultdict(list)
    for tool in tools:
        same[exported_name(tool).casefold()].append(tool)
    for together in same.values():
        for tool in together if len(together) > 1 else ():
            others = ", ".join(other.name for other in together if other is not tool)
            message = f"models would see {exported_name(tool)} for this tool and for {others}, which are used together"
            at = ("spec", "name") if "name" in tool.spec else ("name",)
            hint = "give one of them another spec.name; case alone makes no difference"
            yield tool.name, Fault(code="tool-name-clash", message=message, at=at, hint=hint)


def _answer(prompt: Procedure, settings: LintSettings) -> Iterator[Fault]:
    """The schema of an answer goes to vendors as a tool's does; of what they object to, being open matters there."""
    schema = prompt.spec.get("output")
    if schema:
        rows = (finding for finding in find_in_schema(schema) if finding.row in _ANSWER_ROWS)
        yield from judged((finding.under("spec", "output") for finding in rows), settings.profiles)
