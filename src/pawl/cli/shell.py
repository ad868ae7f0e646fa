"""What the entry point and every command know; it is imported before the command is known, so it imports little."""

from __future__ import annotations

from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from pathlib import Path

USAGE = 2
CRASH = 70
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Shell:
    """What stands before the command: the folder to work in."""

    folder: Path
