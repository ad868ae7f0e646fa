"""``require``: an expression over documents, channel, action and actor that must be true."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from pawl.errors import Faulty
from pawl.policy.context import RuleContext, RuleKind, Said
from pawl.policy.variables import VARIABLES
from pawl.problems import Fault


def _check(body: Any) -> tuple[Fault, ...]:
    if not isinstance(body, str):
        message = "require must be a CEL expression, as text"
        return (Fault(code="policy-field-invalid", message=message),)
    from pawl.procedures.expressions import compile_expression  # noqa: PLC0415 - serving seldom asks a rule

    try:
        compile_expression(body, variables=VARIABLES, want="bool")
    except Faulty as error:
        return error.faults
    return ()


def _evaluate(body: Any, context: RuleContext) -> Said:
    from pawl.policy.explain import describe, describe_absent, explain_difference  # noqa: PLC0415 - as above
    from pawl.procedures.expressions import ExpressionError, compile_expression  # noqa: PLC0415 - as above

    values = context.values()
    try:
        holds = compile_expression(body, variables=VARIABLES, want="bool").evaluate(values)
    except ExpressionError as error:
        absent = describe_absent(body, values)
        reason = f"{absent} ({error})" if absent else str(error)
        return "errored", f"the expression cannot be evaluated: {reason}"
    except Faulty as error:
        return "errored", f"the expression is not valid: {error}"
    if holds is not True:
        return "failed", explain_difference(body, values) if context.explain else ""
    return "passed", describe(body, values) if context.detail else ""


KIND = RuleKind(
    schema=MappingProxyType(
        {
            "type": "string",
            "minLength": 1,
            "title": "Require",
            "description": "CEL that must be true, over " + ", ".join(VARIABLES) + ".",
        }
    ),
    check=_check,
    evaluate=_evaluate,
    live=True,
)
