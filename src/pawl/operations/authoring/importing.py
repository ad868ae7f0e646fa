"""Import: bring procedures in from other formats, into the work tree only. Nothing imported is run or fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pawl.errors import Faulty, InvalidError, UsageError
from pawl.formats.mcp import Imported, Merged, import_tools, merge_import, read_tools
from pawl.ids import parse_name
from pawl.io.dump import yaml_bytes
from pawl.io.files import replace, sweep_ended
from pawl.io.strict_yaml import Unreadable, load
from pawl.operations.observing.reading import MAX_IMPORT_BYTES, read_json
from pawl.operations.serving.serving import input_problems
from pawl.operations.session import Report, Session, Status
from pawl.problems import Problem, Severity


def import_mcp(
    session: Session, file: Path, *, prefix: str | None, version: str, owner: str | None, skip_unusable: bool
) -> Report:
    """Write a procedure file for each MCP tool that is new or changed; one that cannot be used is refused by name.

    Where one is refused nothing is written, unless ``skip_unusable`` says so. Unchanged tools keep their file and
    version, so importing the same input twice writes nothing; what people added to a tool's file stays.
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
    problems = _refusals(imported, file, skipped=skip_unusable)
    failed = any(problem.severity == "error" for problem in problems)
    planned = [] if failed else [_planned(session, document) for document in imported.documents]
    # every text is made before the first file is written: nothing is written where one cannot be
    files = [(path, yaml_bytes(merged.document)) for path, merged, _ in planned if merged.state != "same"]
    for folder in {path.parent for path, _ in files}:
        sweep_ended(folder)
    for path, text in files:
        replace(path, text)
    rows = [row for _, _, row in planned]
    counts = {state: sum(row["state"] == state for row in rows) for state in ("new", "changed", "same")}
    status: Status = "failed" if failed else "done" if counts["new"] + counts["changed"] else "unchanged"
    data = {"found": imported.found, **counts, "refused": len(imported.refused), "tools": rows}
    return Report(status=status, exit_code=1 if failed else 0, problems=problems, data=data)


def _refusals(imported: Imported, file: Path, *, skipped: bool) -> tuple[Problem, ...]:
    severity: Severity = "warning" if skipped and imported.documents else "error"
    rows = [
        Problem(code=fault.code, severity=severity, message=fault.message, path=str(file), hint=fault.hint)
        for fault in imported.refused
    ]
    if rows and severity == "error" and imported.documents:
        message = f"nothing was written; {len(imported.documents)} other tools could be"
        hint = "to import those and leave the named ones out: --skip-unusable"
        rows.append(Problem(code="import-stopped", severity="note", message=message, hint=hint))
    return tuple(rows)


def _planned(session: Session, document: dict[str, Any]) -> tuple[Path, Merged, dict[str, Any]]:
    workspace = session.workspace
    name = parse_name(document["name"])
    path = workspace.to_write(workspace.procedure_file(name))
    where = workspace.relative(path)
    try:
        merged = merge_import(_existing(session, path), document)
    except Faulty as error:
        problems = tuple(
            Problem(code=fault.code, message=fault.message, path=where, hint=fault.hint) for fault in error.faults
        )
        raise InvalidError(f"{where} is not replaced; nothing was written", problems=problems) from None
    return path, merged, {"name": name, "state": merged.state, "path": where}


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
