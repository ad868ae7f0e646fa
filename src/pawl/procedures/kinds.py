"""The kinds of procedures: a typed dictionary from a kind's name to everything that is special about it.

A new kind is one more entry here; nothing else asks for kinds by name to decide how a document is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from pawl.problems import Fault, Place
from pawl.procedures.models import PromptDocument, ToolDocument, WorkflowDocument
from pawl.procedures.schema import check_schema
from pawl.procedures.template import check_template, template_warnings, used_inputs
from pawl.procedures.workflow import check_workflow

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is special about one kind; all functions take a document whose shape is right, except ``references``."""

    model: type[BaseModel]
    check: Callable[[Document], tuple[Fault, ...]]
    """Faults beyond the shape."""
    warn: Callable[[Document], tuple[Fault, ...]]
    references: Callable[[Document], Iterator[tuple[str, Place]]]
    """The names of procedures that the spec speaks of, with their places; takes any document."""
    starter: str
    """What ``pawl new`` writes; NAME stands for the name."""


def check_prompt(document: Document) -> tuple[Fault, ...]:
    spec = document["spec"]
    inputs = spec.get("inputs", {})
    faults = list(_inputs_faults(inputs))
    if spec.get("output") is not None:
        faults += check_schema(spec["output"], at=("spec", "output"))
    properties = inputs.get("properties") if isinstance(inputs.get("properties"), Mapping) else {}
    required = inputs.get("required") if isinstance(inputs.get("required"), list) else []
    with_default = {name for name, item in properties.items() if isinstance(item, Mapping) and "default" in item}
    guaranteed = frozenset(name for name in required if isinstance(name, str)) | with_default
    for index, message in enumerate(spec["messages"]):
        faults += check_template(
            message["content"],
            kind=spec.get("template", "simple"),
            declared=frozenset(properties),
            guaranteed=guaranteed,
            at=("spec", "messages", index, "content"),
        )
    return tuple(faults)


def warn_prompt(document: Document) -> tuple[Fault, ...]:
    spec = document["spec"]
    declared = frozenset(spec.get("inputs", {}).get("properties") or {})
    kind = spec.get("template", "simple")
    found: list[Fault] = []
    used: frozenset[str] = frozenset()
    for index, message in enumerate(spec["messages"]):
        at = ("spec", "messages", index, "content")
        found += template_warnings(message["content"], kind=kind, declared=declared, at=at)
        used |= used_inputs(message["content"], kind, declared)
        if index and message["role"] == "system" and spec["messages"][index - 1]["role"] != "system":
            text = "a system message after other messages: some models refuse it"
            found.append(Fault(code="prompt-role-order", message=text, at=(*at[:-1], "role"), severity="warning"))
    for name in sorted(declared - used):
        text = f"the input {name} is declared and no message uses it"
        place = ("spec", "inputs", "properties", name)
        found.append(Fault(code="prompt-input-unused", message=text, at=place, on_key=True, severity="warning"))
    return tuple(found)


def check_tool(document: Document) -> tuple[Fault, ...]:
    spec = document["spec"]
    faults = list(check_schema(spec["inputSchema"], at=("spec", "inputSchema"), root_object=True))
    if spec.get("outputSchema") is not None:
        faults += check_schema(spec["outputSchema"], at=("spec", "outputSchema"))
    if not spec["description"].strip():
        message = "the description is empty: a model chooses tools by it"
        faults.append(Fault(code="tool-description-empty", message=message, at=("spec", "description")))
    binding = spec.get("binding")
    if binding is not None and len([key for key in binding if binding[key] is not None]) != 1:
        message = "a binding names exactly one of python, mcp and http"
        faults.append(Fault(code="binding-invalid", message=message, at=("spec", "binding")))
    effects = spec.get("effects") or []
    for index, effect in enumerate(effects):
        if not effect.strip() or effect in effects[:index]:
            message = f"the effect {effect!r} is empty or named twice"
            faults.append(Fault(code="effect-invalid", message=message, at=("spec", "effects", index)))
    return tuple(faults)


ROOT_COMPOSITION = ("anyOf", "oneOf", "allOf", "not", "enum", "if")


def warn_tool(document: Document) -> tuple[Fault, ...]:
    spec = document["spec"]
    found = []
    for key in ROOT_COMPOSITION:
        if key in spec["inputSchema"]:
            message = f"{key} at the root of inputSchema: OpenAI, Anthropic and Gemini refuse such tools"
            at = ("spec", "inputSchema", key)
            found.append(Fault(code="schema-root-composition", message=message, at=at, on_key=True, severity="warning"))
    return tuple(found)


def check_workflow_document(document: Document) -> tuple[Fault, ...]:
    spec = document["spec"]
    faults = list(_inputs_faults(spec.get("inputs", {})))
    faults += (fault.under("spec") for fault in check_workflow(spec, document.get("requires") or {}))
    return tuple(faults)


def workflow_references(document: Document) -> Iterator[tuple[str, Place]]:
    spec = document.get("spec")
    steps = spec.get("steps") if isinstance(spec, Mapping) else None
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        for key in ("tool", "prompt", "workflow"):
            name = step.get(key) if isinstance(step, Mapping) else None
            if isinstance(name, str):
                yield name, ("spec", "steps", index, key)


def warn_workflow(document: Document) -> tuple[Fault, ...]:
    spec = document["spec"]
    faults = check_workflow(spec, document.get("requires") or {})
    return tuple(fault.under("spec") for fault in faults if fault.severity != "error")


def _inputs_faults(inputs: Any) -> tuple[Fault, ...]:
    if not inputs:
        return ()
    return check_schema({"type": "object", **inputs}, at=("spec", "inputs"), root_object=True)


def _nothing(_: Document) -> Iterator[tuple[str, Place]]:
    return iter(())


_HEAD = """kind: {kind}
name: NAME
version: 0.1.0
summary: Says in one sentence what NAME is for.
owner: your-team
changes: First version.
"""

KINDS: Mapping[str, Kind] = {
    "prompt": Kind(
        model=PromptDocument,
        check=check_prompt,
        warn=warn_prompt,
        references=_nothing,
        starter=_HEAD.format(kind="prompt")
        + """spec:
  inputs:
    type: object
    properties:
      question: {type: string}
    required: [question]
    additionalProperties: false
  messages:
    - role: system
      content: Answer in one short paragraph.
    - role: user
      content: "{{ question }}"
""",
    ),
    "tool": Kind(
        model=ToolDocument,
        check=check_tool,
        warn=warn_tool,
        references=_nothing,
        starter=_HEAD.format(kind="tool")
        + """spec:
  description: Tells a model when to call this tool and what comes back.
  inputSchema:
    type: object
    properties:
      id: {type: string}
    required: [id]
    additionalProperties: false
  outputSchema:
    type: object
    properties:
      found: {type: boolean}
    required: [found]
  annotations: {readOnlyHint: true}
  effects: []
""",
    ),
    "workflow": Kind(
        model=WorkflowDocument,
        check=check_workflow_document,
        warn=warn_workflow,
        references=workflow_references,
        starter=_HEAD.format(kind="workflow")
        + """requires: {}   # name: ">=1,<2" of every procedure that a step calls
spec:
  inputs:
    type: object
    properties:
      id: {type: string}
    required: [id]
  steps:
    - id: done
      end: {outcome: done}
  budget: {max_steps: 8}
""",
    ),
}


def starter(kind: str, name: str) -> str:
    """Return the text of a procedure file to start from."""
    return KINDS[kind].starter.replace("NAME", name)
