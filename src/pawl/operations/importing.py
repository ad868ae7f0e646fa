"""Import: bring procedures in from other formats, into the work tree only. Nothing imported is run or fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pawl.errors import Faulty, InvalidError, UsageError
from pawl.formats.mcp import compare_import, import_tools, read_tools
from pawl.ids import parse_name
from pawl.io.dump import yaml_bytes
from pawl.io.files import replace
from pawl.io.strict_yaml import Unreadable, load
from pawl.operations.reading import MAX_IMPORT_BYTES, read_json
from pawl.operations.serving import input_problems
from pawl.operations.session import Report, Session
from pawl.problems import Problem


def import_mcp(session: Session, file: Path, *, prefix: str | None, version: str, owner: str | None) -> Report:
    """Write a procedure file for each MCP tool that is new or changed; each tool that cannot be used is refused by name.

    Unchanged tools keep their file and version, so importing the same input twice writes nothing.
    """
    if prefix is not None:
        try:
            parse_name(prefix)
        except ValueError as error:
            raise UsageError(f"--prefix: {error}", code="name-bad") from None
    value = read_json(file, MAX_IMPORT_BYTES)
    try:
        imported = import_tools(read_tools(value), prefix=prefix, version=version, owner=owner)
    except Faulty as error:
        raise InvalidError(f"{file} holds no tools", problems=input_problems(error.faults)) from None
    rows: list[dict[str, Any]] = []
    for document in imported.documents:
        rows.append(_write(session, document))
    problems = tuple(
        Problem(code=fault.code, message=fault.message, path=str(file), hint=fault.hint) for fault in imported.refused
    )
    counts = {state: sum(row["state"] == state for row in rows) for state in ("new", "changed", "same")}
    status = "failed" if problems else "done" if counts["new"] + counts["changed"] else "unchanged"
    data = {"found": imported.found, **counts, "refused": len(problems), "tools": rows}
    return Report(status=status, exit_code=1 if problems else 0, problems=problems, data=data)


def _write(session: Session, document: dict[str, Any]) -> dict[str, Any]:
    workspace = session.workspace
    name = parse_name(document["name"])
    path = workspace.procedure_file(name)
    state = compare_import(_existing(session, path), document)
    if state != "same":
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, yaml_bytes(document))
    return {"name": name, "state": state, "path": workspace.relative(path)}


def _existing(session: Session, path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        document: dict[str, Any] = load(session.workspace.read_source(path))
    except Unreadable:
        where = session.workspace.relative(path)
        raise InvalidError(
            f"{where} does not read, so it is not replaced", code="import-existing", hint="pawl check says why"
        ) from None
    return document
