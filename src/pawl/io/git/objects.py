"""Objects of a repository: read from their files where they have some, else through one process that is kept."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

from pawl.errors import InvalidError
from pawl.io.git.loose import Object, head_of, is_plain, loose
from pawl.io.git.place import Place
from pawl.io.git.process import command, complaint, environment
from pawl.io.git.tree import TREES, Tree

_NOTHING = (b" missing\n", b" ambiguous\n", b" submodule\n")


class Objects:
    """Objects by their ids, by the names of files in HEAD, or by an expression of Git's; not for several threads at
    once. Folders that were read are kept, as an object never changes."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._plain: bool | None = None
        self._batch: _Batch | None = None
        self._trees: dict[str, Tree] = {}

    def head(self) -> Object | None:
        """Return the commit that HEAD names now; None before the first one."""
        object_id = head_of(self._place)
        found = self._loose(object_id) if object_id else None
        return found or self.read(b"HEAD")

    def tree(self, object_id: str) -> Tree | None:
        """Return the entries of a folder, which are not to be changed; None if the id is that of no folder."""
        if object_id not in self._trees:
            found = self._loose(object_id) or self.read(object_id.encode("ascii"))
            if found is None or found.kind != "tree":
                return None
            self._trees[object_id] = Tree.read(found.data, len(object_id) // 2)
        return self._trees[object_id]

    def entry(self, tree_id: str, name: bytes) -> tuple[bytes, str] | None:
        """Return mode and object id of what a path names below a folder; None if it names nothing."""
        *folders, last = name.split(b"/")
        for folder in folders:
            tree = self.tree(tree_id)
            found = tree.get(folder) if tree else None
            if found is None or found[0] not in TREES:
                return None
            tree_id = found[1]
        tree = self.tree(tree_id)
        return tree.get(last) if tree else None

    def blob(self, expression: bytes, *, limit: int | None) -> bytes | None:
        """Return the bytes of the file that ``<commit>:<path>`` names, or None if it names no file.

        Raises ``InvalidError`` if it has more than ``limit`` bytes.
        """
        found = self.read(expression, limit=limit)
        return found.data if found is not None and found.kind == "blob" else None

    def read(self, expression: bytes, *, limit: int | None = None) -> Object | None:
        """Return what ``expression`` names, as Git says; None if it names nothing. It has no line break.

        Raises ``InvalidError`` if it is a blob of more than ``limit`` bytes.
        """
        if self._batch is None:
            self._batch = _Batch(self._place.root)
        try:
            return self._batch.answer(expression, limit)
        except BaseException:
            self.close()  # an answer that was not read to its end must not become the next one
            raise

    def close(self) -> None:
        """End the process if there is one; reading again starts another."""
        if self._batch is not None:
            self._batch.close()
            self._batch = None

    def _loose(self, object_id: str) -> Object | None:
        if self._plain is None:
            self._plain = is_plain(self._place)
        return loose(self._place, object_id) if self._plain else None


class _Batch:
    """One ``git cat-file --batch`` that is kept for many reads."""

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

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not sent to a process that is gone
                    pipe.close()
        self._process.kill()
        self._process.wait()
        self._complaints.close()

    def answer(self, expression: bytes, limit: int | None) -> Object | None:
        """Return what an expression names."""
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
