"""pawl: prompts, tools and workflows of AI agents as pinned, gated and revocable versions.

    channel = pawl.open("production", workspace=".")
    with channel.run(agent="support") as run:
        messages = run.prompt("support/refund-draft", order_id="A1", amount=20)

Importing this package is light: what a call needs is imported when it is called.
"""

from __future__ import annotations

from pawl._version import __version__

TYPE_CHECKING = False  # as typing has it, whose import takes longer than all that is read from a snapshot
if TYPE_CHECKING:
    from typing import Any

    from pawl.errors import (
        ConflictError,
        IntegrityError,
        InvalidError,
        NotFoundError,
        PawlError,
        RefusedError,
        UsageError,
        WithheldError,
    )
    from pawl.runs.pinned import Messages, PinnedTool, PinnedWorkflow, Served
    from pawl.runs.run import ChannelHandle, Run
    from pawl.runs.run import open_channel_handle as open  # noqa: A004 - pawl.open, as shutil has its own copy

__all__ = [
    "ChannelHandle",
    "ConflictError",
    "IntegrityError",
    "InvalidError",
    "Messages",
    "NotFoundError",
    "PawlError",
    "PinnedTool",
    "PinnedWorkflow",
    "RefusedError",
    "Run",
    "Served",
    "UsageError",
    "WithheldError",
    "__version__",
    "open",
]

_FROM_RUNS = {"ChannelHandle", "Messages", "PinnedTool", "PinnedWorkflow", "Run", "Served"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pawl' has no attribute {name!r}")
    if name == "open" or name in _FROM_RUNS:
        from pawl.runs import run  # noqa: PLC0415 - importing the package is light

        return getattr(run, "open_channel_handle" if name == "open" else name)
    from pawl import errors  # noqa: PLC0415 - as above

    return getattr(errors, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
