"""What a run hands out: messages, tools and workflows as they are pinned, each with what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pawl.errors import Faulty, IntegrityError, InvalidError, why_unreadable
from pawl.problems import Problem, pointer
from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from pawl.procedures.procedure import Procedure

    Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What everything served says of itself."""

    name: str
    kind: str
    version: str
    digest: str
    channel: str
    serial: int
    stale: bool
    warnings: tuple[str, ...]

    @property
    def ref(self) -> str:
        return f"{self.name}@{self.version}"


class Messages(list[dict[str, str]]):
    """A prompt's rendered messages: a plain list for any client, with ``served`` beside it."""

    def __init__(self, messages: list[dict[str, str]], served: Served) -> None:
        super().__init__(messages)
        self.served = served


@dataclass(frozen=True, slots=True, eq=False)
class PinnedTool:
    """A tool as it is pinned."""

    served: Served
    procedure: Procedure

    def call(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call as ``{"name": ..., "arguments": ...}``, its arguments checked against the pinned schema.

        Raises ``InvalidError`` with every wrong argument.
        """
        from pawl.procedures.call import check_call, exported_name  # noqa: PLC0415 - only tools need it

        faults = whole(self.served, check_call, self.procedure, arguments)
        if faults:
            raise wrong_input(f"{self.served.ref} does not take these arguments", faults)
        return {"name": whole(self.served, exported_name, self.procedure), "arguments": dict(arguments)}

    def check_result(self, result: Any) -> Any:
        """Return ``result`` if it fits the pinned output schema; ``InvalidError`` otherwise."""
        from pawl.procedures.call import check_result  # noqa: PLC0415 - only tools need it

        faults = whole(self.served, check_result, self.procedure, result)
        if faults:
            raise wrong_input(f"the result is not one of {self.served.ref}", faults)
        return result

    def definition(self) -> dict[str, Any]:
        """Return the tool in MCP's form, for a client's list of tools."""
        from pawl.procedures.call import exported_name  # noqa: PLC0415 - only tools need it

        keys = ("title", "description", "inputSchema", "outputSchema", "annotations")
        spec = self.procedure.spec
        name = whole(self.served, exported_name, self.procedure)
        return {"name": name, **{key: spec[key] for key in keys if spec.get(key) is not None}}


@dataclass(frozen=True, slots=True, eq=False)
class PinnedWorkflow:
    """A workflow as it is pinned. Agents drive it: ask for the next step, make the call, ask again."""

    served: Served
    procedure: Procedure

    def next(self, inputs: Mapping[str, Any], results: list[tuple[str, Any]] | None = None) -> Any:
        """Return the next call, or the end, given the inputs and every (step id, result) so far."""
        from pawl.procedures.walk import check_inputs, next_step  # noqa: PLC0415 - only workflows need it

        faults = whole(self.served, check_inputs, self.procedure.spec, inputs)
        if faults:
            raise wrong_input(f"{self.served.ref} does not take these inputs", faults)
        steps = tuple(results or ())
        try:
            return whole(self.served, next_step, self.procedure.spec, inputs, steps)
        except Faulty as error:
            raise wrong_input(f"{self.served.ref} cannot go on", error.faults) from None


def whole(what: Served, act: Callable[..., Value], *arguments: Any) -> Value:
    """Return what ``act`` returns; ``IntegrityError`` where the document is of another shape than any published one:
    whoever can write a snapshot can seal one that holds no procedure."""
    try:
        return act(*arguments)
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration, RecursionError) as error:
        message = f"{what.ref} is no {what.kind} that was published: {why_unreadable(error)}"
        raise IntegrityError(message, code="snapshot-damaged", hint="make the snapshot again") from error


def wrong_input(message: str, faults: tuple[Any, ...]) -> InvalidError:
    """Return the error for inputs that do not fit, with every fault in it."""
    problems = tuple(
        Problem(code=fault.code, message=f"{pointer(fault.at)}: {fault.message}" if fault.at else fault.message)
        for fault in faults
    )
    return InvalidError(f"{message}: {'; '.join(problem.message for problem in problems)}", problems=problems)
