"""The documents that people write under procedures/: strict, frozen, without unknown fields.

Shapes only, and the source of ``pawl schema KIND``; what goes beyond one field is checked in ``read.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from pawl.procedures.shapes import tuple_from_list

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Item = TypeVar("Item")
Listed: TypeAlias = Annotated[tuple[Item, ...], BeforeValidator(tuple_from_list)]
"""A tuple that is written as a list."""
Schema: TypeAlias = dict[str, Any]

_SEGMENT = r"[a-z0-9]([a-z0-9_-]*[a-z0-9])?"
_PYTHON = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*"
_URL = r"https?://[^\s/?#]\S*"
_TOOL_NAME = r"[A-Za-z0-9_.-]{1,128}"
_VERSION = r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)((a|b|rc)(0|[1-9][0-9]*))?"


def _of_form(pattern: str, expected: str) -> Callable[[str], str]:
    wanted = re.compile(pattern)

    def check(text: str) -> str:
        if not wanted.fullmatch(text):
            raise ValueError(f"expected {expected}, found the text {text[:60]!r}")
        return text

    return check


def _pattern(pattern: str) -> dict[str, Any]:
    return {"pattern": f"^{pattern}$"}


StepId: TypeAlias = Annotated[
    str,
    Field(max_length=128, json_schema_extra=_pattern(_SEGMENT)),
    AfterValidator(_of_form(_SEGMENT, "a step's id of a-z, 0-9, - and _")),
]
PythonTarget: TypeAlias = Annotated[
    str,
    Field(json_schema_extra=_pattern(_PYTHON)),
    AfterValidator(_of_form(_PYTHON, "a module and a function, such as package.module:function")),
]
Url: TypeAlias = Annotated[
    str,
    Field(json_schema_extra=_pattern(_URL)),
    AfterValidator(_of_form(_URL, "an address that begins with http:// or https://")),
]
ToolName: TypeAlias = Annotated[
    str,
    Field(json_schema_extra=_pattern(_TOOL_NAME)),
    AfterValidator(_of_form(_TOOL_NAME, "at most 128 characters of A-Z, a-z, 0-9, _, - and .")),
]


class Shape(BaseModel):
    """Base of every part of a document."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Message(Shape):
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str = Field(description="Text; {{ name }} of a declared input is replaced.")


class PromptBudget(Shape):
    """An upper bound on the rendered prompt."""

    tokens: int = Field(ge=1)


class PromptSpec(Shape):
    """What a prompt is."""

    inputs: Schema = Field(
        default={},
        description="JSON Schema 2020-12 of the inputs; its root is closed unless it says otherwise.",
    )
    template: Literal["simple", "jinja2", "none"] = Field(
        default="simple", description="simple replaces {{ name }} only; jinja2 is sandboxed; none is literal."
    )
    messages: Listed[Message] = Field(min_length=1)
    output: Schema | None = Field(default=None, description="JSON Schema of the answer.")
    model: dict[str, Any] | None = Field(default=None, description="Passed through to callers.")
    budget: PromptBudget | None = None


class Annotations(Shape):
    """MCP's hints; an absent one has MCP's default: destructiveHint and openWorldHint are true."""

    title: str | None = None
    readOnlyHint: bool | None = None  # noqa: N815 - MCP's names
    destructiveHint: bool | None = None  # noqa: N815
    idempotentHint: bool | None = None  # noqa: N815
    openWorldHint: bool | None = None  # noqa: N815


class McpBinding(Shape):
    """A tool of an MCP server."""

    command: Listed[str] = Field(min_length=1)
    tool: str = Field(min_length=1)


class HttpBinding(Shape):
    """A tool behind HTTP."""

    url: Url
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"


class Binding(Shape):
    """Where the implementation of a tool is; exactly one of the three."""

    python: PythonTarget | None = None
    mcp: McpBinding | None = None
    http: HttpBinding | None = None


class ToolSpec(Shape):
    """What a tool is, in MCP's names."""

    name: ToolName | None = Field(default=None, description="The exported name, where it is not the last segment.")
    title: str | None = None
    description: str = Field(description="What a model reads to decide whether to call the tool.")
    inputSchema: Schema = Field(description="JSON Schema of the arguments; its root has type: object.")  # noqa: N815
    outputSchema: Schema | None = None  # noqa: N815
    annotations: Annotations | None = None
    effects: Listed[str] | None = Field(default=None, description="What it touches, such as orders:read.")
    binding: Binding | None = None


class Branch(Shape):
    """One branch of a switch; without ``when`` it is the default, which is required and stands last."""

    when: str | None = Field(default=None, min_length=1, description="CEL over inputs, result and steps.")
    then: str


class End(Shape):
    """How a workflow ends."""

    outcome: str = Field(min_length=1, max_length=128)
    output: Any = None


class Step(Shape):
    """One step: it calls a tool, a prompt or a workflow, or it is an end."""

    id: StepId
    tool: str | None = None
    prompt: str | None = None
    workflow: str | None = None
    arguments: dict[str, Any] | None = Field(default=None, alias="with", description="Arguments; ${{ CEL }} inside.")
    then: str | None = None
    switch: Listed[Branch] | None = Field(default=None, min_length=1)
    end: End | None = None


class WorkflowBudget(Shape):
    """A bound on every loop."""

    max_steps: int = Field(ge=1, le=10_000)


class WorkflowSpec(Shape):
    """What a workflow is; the first step starts."""

    inputs: Schema = Field(default={}, description="JSON Schema 2020-12 of the inputs, closed at its root.")
    steps: Listed[Step] = Field(min_length=1, max_length=1_000)
    budget: WorkflowBudget | None = None


class Head(Shape):
    """What every procedure has."""

    name: str = Field(
        description="The file's path below procedures/ without .yaml.",
        json_schema_extra={"maxLength": 128, **_pattern(f"{_SEGMENT}(/{_SEGMENT})*")},
    )
    version: str = Field(
        description="X.Y.Z, optionally followed by aN, bN or rcN.", json_schema_extra=_pattern(_VERSION)
    )
    summary: str | None = Field(default=None, max_length=1_000)
    owner: str | None = Field(default=None, min_length=1, max_length=200)
    labels: dict[str, str] = {}
    requires: dict[str, str] = Field(default={}, description="Procedure name -> version specifier.")
    changes: str | None = Field(default=None, max_length=10_000, description="What this version changes.")
    extensions: dict[str, Any] = Field(default={}, description="What an outside format knows and pawl does not.")


class PromptDocument(Head):
    """A prompt."""

    kind: Literal["prompt"]
    spec: PromptSpec


class ToolDocument(Head):
    """A tool."""

    kind: Literal["tool"]
    spec: ToolSpec


class WorkflowDocument(Head):
    """A workflow."""

    kind: Literal["workflow"]
    spec: WorkflowSpec


MODELS: Mapping[str, type[Head]] = {"prompt": PromptDocument, "tool": ToolDocument, "workflow": WorkflowDocument}
"""The shape of each kind's document."""


def model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file, for editors."""
    schema: dict[str, Any] = _without_null(model.model_json_schema(by_alias=True))
    return {"$schema": DIALECT, **schema}


def _without_null(schema: Any) -> Any:
    """A field is left out or has a value: reading refuses an empty one, so editors shall not offer it."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _without_null(item) for key, item in schema.items()}
    branches = plain.get("anyOf")
    if isinstance(branches, list) and {"type": "null"} in branches:
        rest = [branch for branch in branches if branch != {"type": "null"}]
        del plain["anyOf"]
        plain = {**(rest[0] if len(rest) == 1 else {"anyOf": rest}), **plain}
        if plain.get("default", "") is None:
            del plain["default"]
    return plain
