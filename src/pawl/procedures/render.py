"""Rendering a prompt: inputs are checked first, then put into the messages, once.

The number, order and roles of messages are those of the file, for any value. A wrong input gives no messages at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.procedure import Procedure
from pawl.procedures.schema import Validator, closed, compile_schema, fill_defaults, not_json
from pawl.procedures.schema_quick import surely_fits
from pawl.procedures.template import TEMPLATES
from pawl.procedures.template_simple import MAX_RENDERED
from pawl.procedures.tokens import estimate
from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any


class BadInputs(Faulty):
    """The inputs are not those that the prompt takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A prompt's messages, as role and content; ``token_method`` says how ``tokens`` were counted."""

    messages: tuple[Mapping[str, str], ...]
    tokens: int
    token_method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """What a prompt takes."""

    schema: Mapping[str, Any]
    declared: frozenset[str]


def render(procedure: Procedure, inputs: Mapping[str, Any]) -> Rendered:
    """Return the messages of a prompt; raises ``BadInputs`` with every wrong input, ``Faulty`` beyond a bound."""
    spec = procedure.spec
    takes = _inputs(procedure)
    values = _checked(procedure, takes, inputs)
    template = TEMPLATES[spec.get("template", "simple")]
    messages: list[Mapping[str, str]] = []
    size = tokens = 0
    for message in spec["messages"]:
        try:
            content = template.render(message["content"], takes.declared, values)
        except ValueError as error:
            text = f"an input has no JSON form that keeps it exactly: {error}"
            raise BadInputs((Fault(code="input-invalid", message=text),)) from None
        size += len(content)
        if size > MAX_RENDERED:
            text = f"the rendered prompt has more than {MAX_RENDERED} characters"
            raise Faulty((Fault(code="prompt-too-large", message=text),))
        tokens += estimate(content)
        messages.append({"role": message["role"], "content": content})
    _check_budget(spec, tokens)
    return Rendered(messages=tuple(messages), tokens=tokens, token_method="estimate")  # noqa: S106 - no secret


def check_prompt_inputs(procedure: Procedure, inputs: Any) -> tuple[Fault, ...]:
    """Return everything that is wrong with the inputs of a prompt, without rendering it."""
    try:
        _checked(procedure, _inputs(procedure), inputs)
    except BadInputs as error:
        return error.faults
    return ()


def _checked(procedure: Procedure, takes: _Inputs, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(inputs, Mapping):
        raise BadInputs((Fault(code="input-invalid", message="the inputs of a prompt are a mapping"),))
    values: Mapping[str, Any] = fill_defaults(takes.schema, dict(inputs))
    if not_json(values) is None and surely_fits(takes.schema, values):
        return values
    faults = _validator(procedure).faults(
        values, code="input-invalid", missing="input-missing", undeclared="input-undeclared"
    )
    if faults:
        raise BadInputs(faults)
    return values


def _check_budget(spec: Mapping[str, Any], tokens: int) -> None:
    most = (spec.get("budget") or {}).get("tokens")
    if most is not None and tokens > most:
        message = f"the rendered prompt has about {tokens} tokens (estimated), and its budget is {most}"
        raise Faulty((Fault(code="prompt-budget", message=message),))


@lru_cache(maxsize=256)
def _inputs(procedure: Procedure) -> _Inputs:
    schema = closed(procedure.spec.get("inputs") or {})
    declared = frozenset(schema.get("properties") or {})
    return _Inputs(schema=schema, declared=declared)


@lru_cache(maxsize=256)
def _validator(procedure: Procedure) -> Validator:
    return compile_schema(_inputs(procedure).schema)
