"""Rendering a prompt: inputs are checked first, then put into the messages, once.

The number, order and roles of messages are those of the file, for any value. A wrong input gives no messages at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pawl.errors import Faulty
from pawl.problems import Fault
from pawl.procedures.procedure import Procedure
from pawl.procedures.schema import Validator, closed, compile_schema, fill_defaults
from pawl.procedures.template import TEMPLATES
from pawl.procedures.tokens import estimate

MAX_RENDERED = 4 * 1024 * 1024
"""Characters of all messages together."""


class BadInputs(Faulty):
    """The inputs are not those that the prompt takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A prompt's messages, as role and content; ``token_method`` says how ``tokens`` were counted."""

    messages: tuple[Mapping[str, str], ...]
    tokens: int
    token_method: str


def render(procedure: Procedure, inputs: Mapping[str, Any]) -> Rendered:
    """Return the messages of a prompt; raises ``BadInputs`` with every wrong input, ``Faulty`` beyond a bound."""
    spec = procedure.spec
    schema = _inputs_schema(procedure)
    values = fill_defaults(schema, dict(inputs))
    faults = _validator(procedure).faults(values, code="input-invalid")
    if faults:
        raise BadInputs(faults)
    declared = frozenset(schema.get("properties") or {})
    template = TEMPLATES[spec.get("template", "simple")]
    messages: list[Mapping[str, str]] = []
    size = tokens = 0
    for message in spec["messages"]:
        content = template.render(message["content"], declared, values)
        size += len(content)
        if size > MAX_RENDERED:
            text = f"the rendered prompt has more than {MAX_RENDERED} characters"
            raise Faulty((Fault(code="prompt-too-large", message=text),))
        tokens += estimate(content)
        messages.append({"role": message["role"], "content": content})
    _check_budget(spec, tokens)
    return Rendered(messages=tuple(messages), tokens=tokens, token_method="estimate")  # noqa: S106 - no secret


def _check_budget(spec: Mapping[str, Any], tokens: int) -> None:
    most = (spec.get("budget") or {}).get("tokens")
    if most is not None and tokens > most:
        message = f"the rendered prompt has about {tokens} tokens (estimated), and its budget is {most}"
        raise Faulty((Fault(code="prompt-budget", message=message),))


def _inputs_schema(procedure: Procedure) -> Mapping[str, Any]:
    return closed(procedure.spec.get("inputs") or {})


@lru_cache(maxsize=1_024)
def _validator(procedure: Procedure) -> Validator:
    return compile_schema(_inputs_schema(procedure))
