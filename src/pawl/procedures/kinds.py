"""The kinds of procedures: a typed dictionary from a kind's name to everything that is special about it.

A new kind is one more entry here; nothing else asks for kinds by name to decide how a document is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pawl.problems import Fault, Place
from pawl.procedures.schema import compile_schema
from pawl.procedures.schema_check import check_schema
from pawl.procedures.schema_tree import dialect_of
from pawl.procedures.template import TEMPLATES, check_template, template_warnings, used_inputs
from pawl.procedures.workflow import check_workflow

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is special about one kind. ``check`` and ``references`` take any document, ``warn`` one that was read."""

    name: str
    check: Callable[[Document], tuple[Fault, ...]]
    """Faults beyond the shape."""
    warn: Callable[[Document], tuple[Fault, ...]]
    references: Callable[[Document], Iterator[tuple[str, Place]]]
    """The names of procedures that the spec speaks of, with their places; takes any document."""
    starter: str
    """What ``pawl new`` writes; NAME stands for the name."""


def _spec(document: Document) -> Mapping[str, Any]:
    spec = document.get("spec")
    return spec if isinstance(spec, Mapping) else {}


def check_prompt(document: Document) -> tuple[Fault, ...]:
    spec = _spec(document)
    faults = [*_inputs_faults(spec), *_schema_faults(spec, "output")]
    messages, kind = spec.get("messages"), spec.get("template", "simple")
    if not isinstance(messages, list) or not isinstance(kind, str) or kind not in TEMPLATES:
        return tuple(faults)
    declared, guaranteed = _inputs(spec)
    for index, message in enumerate(messages):
        content = message.get("content") if isinstance(message, Mapping) else None
        if isinstance(content, str):
            at = ("spec", "messages", index, "content")
            faults += check_template(content, kind=kind, declared=declared, guaranteed=guaranteed, at=at)
    return tuple(faults)


def _inputs(spec: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the declared inputs, and those that have a value in every legal call."""
    inputs = spec.get("inputs")
    properties = inputs.get("properties") if isinstance(inputs, Mapping) else None
    required = inputs.get("required") if isinstance(inputs, Mapping) else None
    known = properties if isinstance(properties, Mapping) else {}
    with_default = {name for name, item in known.items() if isinstance(item, Mapping) and "default" in item}
    names = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    return frozenset(known), frozenset(names | with_default)


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
    spec = _spec(document)
    faults = [*_schema_faults(spec, "inputSchema", root_object=True), *_schema_faults(spec, "outputSchema")]
    description, binding, effects = spec.get("description"), spec.get("binding"), spec.get("effects")
    if isinstance(description, str) and not description.strip():
        message = "the description is empty: a model chooses tools by it"
        faults.append(Fault(code="tool-description-empty", message=message, at=("spec", "description")))
    if isinstance(binding, Mapping) and len(binding) != 1:
        found = f"found {' and '.join(sorted(map(str, binding)))}" if binding else "found none"
        message = f"a binding names exactly one of python, mcp and http, {found}"
        faults.append(Fault(code="binding-invalid", message=message, at=("spec", "binding")))
    seen: set[str] = set()
    for index, effect in enumerate(effects if isinstance(effects, list) else ()):
        if isinstance(effect, str) and (not effect.strip() or effect in seen):
            message = f"the effect {effect[:60]!r} is named twice" if effect.strip() else "an effect is empty"
            faults.append(Fault(code="effect-invalid", message=message, at=("spec", "effects", index)))
        elif isinstance(effect, str):
            seen.add(effect)
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
    spec = _spec(document)
    requires = document.get("requires")
    graph = check_workflow(spec, requires if isinstance(requires, Mapping) else {})
    return (*_inputs_faults(spec), *(fault.under("spec") for fault in graph))


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


def _schema_faults(spec: Mapping[str, Any], key: str, *, root_object: bool = False) -> tuple[Fault, ...]:
    schema = spec.get(key)
    return () if schema is None else check_schema(schema, at=("spec", key), root_object=root_object)


def _inputs_faults(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Inputs need not say ``type: object``; they are closed and filled, which some schemas do not allow."""
    inputs, at = spec.get("inputs"), ("spec", "inputs")
    if not isinstance(inputs, Mapping) or not inputs:
        return
    faults = check_schema({"type": "object", **inputs}, at=at, root_object=True)
    yield from faults
    if faults:
        return
    composed = {"$ref", "allOf", "anyOf", "oneOf", "if"} & set(inputs)
    if dialect_of(inputs) == "draft-07" and composed and "additionalProperties" not in inputs:
        message = "inputs of draft-07 that are composed cannot be closed: say additionalProperties, or use 2020-12"
        yield Fault(code="schema-dialect", message=message, at=at)
    properties = inputs.get("properties") or {}
    for name, item in properties.items():
        if isinstance(item, Mapping) and "default" in item:
            alone = {**inputs, "properties": {name: item}, "required": [], "type": "object"}
            wrong = compile_schema({key: alone[key] for key in alone if key in _ALONE}).faults({name: item["default"]})
            for fault in wrong:
                message = f"the default does not fit its own schema: {fault.message}"
                place = (*at, "properties", name, "default")
                yield Fault(code="schema-default-invalid", message=message, at=place)


_ALONE = frozenset({"$schema", "$id", "$defs", "definitions", "type", "properties", "required"})


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
        name="prompt",
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
        name="tool",
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
        name="workflow",
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
