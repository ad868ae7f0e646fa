"""Values of files that nobody opened: what they are called and what they come to is known, the rest when it is asked.

Whoever asks for more than that (the document, the cases, the bytes) makes the file be read and hashed at that moment.
Bytes that are not the remembered ones are a conflict: the mark of the file did not show a change, or it came while the
command ran.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pawl.canonical import digest_of
from pawl.conformance.suites import Case, Suite, read_suite, suite_of
from pawl.errors import ConflictError
from pawl.ids import Name, Version
from pawl.io.strict_yaml import load
from pawl.operations.sources.files import UNMARKED
from pawl.operations.sources.memory import Row, SourceMemory
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.workspace import Workspace


def remembered_document(memory: SourceMemory, row: Row) -> Any:
    """Return the document that a file of these bytes was read as, or None where the memory does not say it."""
    text = memory.document(row)
    try:
        document = json.loads(text) if text is not None else None
        return document if document is not None and digest_of(document) == row.digest else None
    except (ValueError, RecursionError):
        return None


class Unopened:
    """One remembered file, read at most once and only when its bytes are asked for."""

    __slots__ = ("_data", "_document", "_memory", "_workspace", "row")

    def __init__(self, workspace: Workspace, memory: SourceMemory, row: Row) -> None:
        self._workspace, self._memory, self.row = workspace, memory, row
        self._data: bytes | None = None
        self._document: Any = None

    @property
    def data(self) -> bytes:
        """The bytes as they are now; ``ConflictError`` where they are not what was remembered."""
        if self._data is None:
            data = self._workspace.read_source(self._workspace.root / self.row.path)
            if sha256(data).hexdigest() != self.row.file:
                self._memory.mark(self.row.kind, self.row.path, self.row.file, UNMARKED)
                self._memory.save()
                message = f"{self.row.path} changed while it was read"
                raise ConflictError(message, code="source-moved", hint="run the command again")
            self._data = data
        return self._data

    @property
    def document(self) -> Any:
        """What the bytes were read as; read anew where the memory no longer says it, or says something else."""
        data = self.data
        if self._document is None:
            self._document = remembered_document(self._memory, self.row)
        if self._document is None:
            read = read_procedure if self.row.kind == "procedure" else read_suite
            self._document = read(load(data)).document
        return self._document

    def remembered(self) -> Any:
        """Return the document that the bytes are remembered to read as, or None."""
        _ = self.data
        return remembered_document(self._memory, self.row)


def _hold(value: object, **fields: Any) -> None:
    """Set fields of a value that is frozen for everybody else."""
    for name, held in fields.items():
        object.__setattr__(value, name, held)


class UnopenedProcedure(Procedure):
    """A procedure of a file that was not opened."""

    __slots__ = ("_file", "_requires")
    _file: Unopened
    _requires: Mapping[Name, str]

    def __init__(self, file: Unopened) -> None:
        row = file.row
        _hold(self, kind=row.type, name=Name(row.name), version=Version(row.version or ""), digest=row.digest)
        _hold(self, _file=file, _requires=json.loads(row.requires) if row.requires else {})

    @property
    def document(self) -> Mapping[str, Any]:
        document: Mapping[str, Any] = self._file.document
        return document

    @property
    def requires(self) -> Mapping[Name, str]:
        return self._requires


class UnopenedSuite(Suite):
    """A suite of a file that was not opened."""

    __slots__ = ("_file", "_read")
    _file: Unopened
    _read: Suite | None

    def __init__(self, file: Unopened) -> None:
        row = file.row
        _hold(self, name=Name(row.name), about=Name(row.about or ""), versions=row.version, digest=row.digest)
        _hold(self, _file=file, _read=None)

    @property
    def document(self) -> Mapping[str, Any]:
        document: Mapping[str, Any] = self._file.document
        return document

    @property
    def cases(self) -> tuple[Case, ...]:
        read = self._read
        if read is None:
            read = suite_of(self.document, self.digest)
            _hold(self, _read=read)
        return read.cases
