"""Objects of a repository, read through one process that is kept."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pawl.errors import InvalidError
from pawl.io.git.process import command, complaint, environment

_NOTHING = (b" missing\n", b" ambiguous\n", b" submodule\n")


@dataclass(frozen=True, slots=True)
class Object:
    """An object with its id, its kind (blob, tree, commit, tag) and its bytes."""

    id: str
    kind: str
    data: bytes


class Objects:
    """One ``git cat-file --batch`` that is kept for many reads; not for several threads at once."""

    def __init__(self, folder: Path) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process; a pipe could fill up
        try:
            self._process = subprocess.Popen(
                command("cat-file", "--batch"),
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                env=environment(os.environ),
            )
        except OSError as error:
            self._complaints.close()
            raise InvalidError(f"Git cannot be run: {error}", code="git-missing") from error

    def blob(self, expression: bytes, *, limit: int | None) -> bytes | None:
        """Return the bytes of the file that ``<commit>:<path>`` names, or None if it names no file.

        Raises ``InvalidError`` if it has more than ``limit`` bytes.
        """
        found = self.read(expression, limit=limit)
        return found.data if found is not None and found.kind == "blob" else None

    def read(self, expression: bytes, *, limit: int | None = None) -> Object | None:
        """Return what ``expression`` names, or None if it names nothing; it has no line break.

        Raises ``InvalidError`` if it is a blob of more than ``limit`` bytes.
        """
        try:
            return self._answer(expression, limit)
        except BaseException:
            self.close()  # an answer that was not read to its end must not become the next one
            raise

    @property
    def closed(self) -> bool:
        """Whether the process has been ended."""
        return self._process.stdin is None or self._process.stdin.closed

    def close(self) -> None:
        """End the process; harmless when it has ended."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not sent to a process that is gone
                    pipe.close()
        self._process.kill()
        self._process.wait()
        self._complaints.close()

    def _answer(self, expression: bytes, limit: int | None) -> Object | None:
        stdin, stdout = self._process.stdin, self._process.stdout
        header = b""
        if stdin is not None and stdout is not None:
            with contextlib.suppress(OSError):
                stdin.write(expression + b"\n")
                stdin.flush()
                header = stdout.readline()
        if stdout is None or not header.endswith(b"\n"):
            raise InvalidError(self._why_it_ended(), code="git-failed")
        words = header.split()
        if header.endswith(_NOTHING) or len(words) != 3:
            return None
        size = int(words[2])
        if words[1] == b"blob":
            refuse_larger(size, expression, limit)
        data = stdout.read(size)
        if len(data) != size or stdout.read(1) != b"\n":
            raise InvalidError(self._why_it_ended(), code="git-failed")
        return Object(words[0].decode("ascii"), words[1].decode("ascii"), data)

    def _why_it_ended(self) -> str:
        self._process.wait(timeout=10)
        self._complaints.seek(0)
        said = self._complaints.read(10_000)
        return f"Git refused: {complaint(said)}" if said else "Git ended while it was read from"


def refuse_larger(size: int, expression: bytes, limit: int | None) -> None:
    """Raise ``InvalidError`` if a file, named as ``<commit>:<path>``, has more than ``limit`` bytes."""
    if limit is not None and size > limit:
        shown = expression.partition(b":")[2].decode("utf-8", "replace")
        raise InvalidError(f"{shown} is larger than {limit} bytes, which is the most that is read", code="too-large")
