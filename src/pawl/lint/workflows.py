"""What disappoints in a workflow: inputs that change nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pawl.problems import Fault
from pawl.procedures.procedure import Procedure
from pawl.procedures.workflow import expressions_of


def workflow_faults(workflow: Procedure) -> Iterator[Fault]:
    """Yield a warning for each declared input that no expression speaks of.

    An expression that takes the inputs as a whole may mean any of them.
    """
    named: set[str] = set()
    for use in expressions_of(workflow.spec):
        expression = use.expression
        found = {read.field for read in expression.reads | expression.asks if read.variable == "inputs"}
        if "inputs" in expression.uses and not found:
            return
        named |= found
    for name in (workflow.spec.get("inputs") or {}).get("properties") or {}:
        if name not in named:
            message = f"the input {name[:120]} is declared and no expression uses it"
            at = ("spec", "inputs", "properties", name)
            yield Fault(code="workflow-input-unused", message=message, at=at, on_key=True, severity="warning")
