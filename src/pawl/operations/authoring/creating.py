"""Making things to start from: a workspace, a procedure, a suite, a policy. Nothing that exists is overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pawl.conformance.starter import starter_suite
from pawl.errors import ConflictError, Faulty, InvalidError, NotFoundError, PawlError, UsageError
from pawl.ids import Name, parse_name
from pawl.io.dump import yaml_bytes
from pawl.io.files import create, read_bounded, sweep_ended
from pawl.io.strict_yaml import Unreadable, load
from pawl.operations.reviewing.requirements import required
from pawl.operations.session import Report
from pawl.operations.sources import read_sources
from pawl.operations.world import read_world
from pawl.policy.starter import DEFAULT_POLICY_TEXT, policy_starter
from pawl.problems import Problem
from pawl.procedures.globs import glob_matches
from pawl.procedures.kinds import KINDS, starter
from pawl.procedures.read import read_procedure
from pawl.workspace import MAX_SOURCE_BYTES, Workspace

REGISTRY = """format: 1
channels:
  staging: {}
  production: {after: staging}   # only versions that are or were live on staging may enter
people: {}                       # e-mail address: [role, ...], used by approvals
policy:
  require_tests: true            # a rule is adopted only with an example that it denies
  require_grace: true            # a rule that something live breaks is adopted only with an effective_on to come
"""
ATTRIBUTES = """# pawl keeps digests of these files: Git must not change a byte of them
registry/versions/** -text
registry/channels/** -text
releases/** -text
"""
IGNORE = ".pawl/\n.pawl-tmp-*\n"


def init(folder: Path) -> Report:
    """Make a workspace with an example, its suite and a first policy; files that exist stay as they are."""
    workspace = Workspace(folder.resolve())
    if workspace.settings_file.exists():
        note = Problem(code="unchanged", severity="note", message=f"{folder} is a workspace already")
        return Report(status="unchanged", problems=(note,), data={"root": str(workspace.root), "files": []})
    example = Name("example/greeting")
    text = starter("prompt", example)
    procedure = read_procedure(load(text.encode()))
    files: dict[Path, bytes] = {
        workspace.procedure_file(example): text.encode(),
        workspace.conformance / "example" / "greeting.yaml": yaml_bytes(starter_suite(procedure)),
        workspace.policies / "default.yaml": DEFAULT_POLICY_TEXT.encode(),
        workspace.settings_file: REGISTRY.encode(),
    }
    written: list[Path | None] = [
        _new(workspace.to_write(path), data) for path, data in files.items() if not path.exists()
    ]
    written += [
        _lines(workspace.to_write(workspace.root / name), text)
        for name, text in ((".gitattributes", ATTRIBUTES), (".gitignore", IGNORE))
    ]
    done = [workspace.relative(path) for path in written if path is not None]
    return Report(status="done", data={"root": str(workspace.root), "files": done})


def new(workspace: Workspace, kind: str, name: str) -> Report:
    """Write a procedure of ``kind``, a ``policy``, or starter suites about every procedure that ``name`` fits."""
    if kind == "suite":
        return _new_suites(workspace, name)
    if kind == "policy":
        path = workspace.policies / f"{_parsed(name)}.yaml"
        return _written(workspace, [_must_create(workspace, path, policy_starter(name).encode())])
    if kind not in KINDS:
        raise UsageError(f"{kind} is no kind; there are {', '.join((*KINDS, 'suite', 'policy'))}", code="kind-unknown")
    path = workspace.procedure_file(_parsed(name))
    return _written(workspace, [_must_create(workspace, path, starter(kind, name).encode())])


def _new_suites(workspace: Workspace, pattern: str) -> Report:
    sources = read_sources(workspace)
    if "*" in pattern:
        names = [name for name in sources.procedures if glob_matches(pattern, name)]
    else:
        names = [name for name in (_parsed(pattern),) if name in sources.procedures]
    broken = tuple(problem for problem in sources.problems if problem.severity == "error")
    if not names:
        if broken:
            raise InvalidError(f"no procedure that reads fits {pattern}", problems=broken)
        raise NotFoundError(
            f"no procedure here fits {pattern}", code="name-unknown", hint="pawl check lists what is read"
        )
    catalog = read_world(workspace).catalog
    written: list[Path] = []
    problems = [problem for problem in broken if "*" in pattern and _may_fit(workspace, pattern, problem.path)]
    for name in names:
        path = workspace.conformance / f"{name}.yaml"
        taken = next((source.path for source in sources.suites.values() if source.value.about == name), None)
        if path.exists() or (taken is not None and "*" in pattern):
            message = f"{name} has a suite already: {taken or workspace.relative(path)}"
            problems.append(Problem(code="suite-exists", severity="note", message=message))
            continue
        try:
            procedure = sources.procedures[name].value
            suite = starter_suite(procedure, required(procedure, sources, catalog, workspace))
        except Faulty as error:
            problems += (
                Problem(code=fault.code, message=f"{name}: {fault.message}", hint=fault.hint) for fault in error.faults
            )
            continue
        written.append(_new(workspace.to_write(path), yaml_bytes(suite)))
    failed = any(problem.severity == "error" for problem in problems)
    if not written and not failed and "*" not in pattern:
        raise ConflictError(problems[0].message + "; nothing was written", code="file-exists")
    return Report(
        status="failed" if failed else "done" if written else "unchanged",
        exit_code=1 if failed else 0,
        problems=tuple(problems),
        data={"files": [workspace.relative(path) for path in written]},
    )


def _may_fit(workspace: Workspace, pattern: str, where: str | None) -> bool:
    """Whether a file that does not read would hold a procedure that fits: by its path, or by the name in it."""
    path = workspace.root / (where or "")
    if where is None or not path.is_relative_to(workspace.procedures):
        return False
    if glob_matches(pattern, path.relative_to(workspace.procedures).with_suffix("").as_posix()):
        return True
    try:
        document = load(workspace.read_source(path))
    except (PawlError, Unreadable):
        return False
    return glob_matches(pattern, str(document.get("name")))


def _parsed(name: str) -> Name:
    try:
        return parse_name(name)
    except ValueError as error:
        raise UsageError(str(error), code="name-bad") from None


def _must_create(workspace: Workspace, path: Path, data: bytes) -> Path:
    sweep_ended(workspace.to_write(path).parent)
    if path.exists() or path.is_symlink():
        raise ConflictError(
            f"{workspace.relative(path)} exists already; nothing was written",
            code="file-exists",
            hint="edit it in place",
        )
    return _new(path, data)


def _new(path: Path, data: bytes) -> Path:
    create(path, data)
    return path


def _lines(path: Path, text: str) -> Path | None:
    """Add the lines of ``text`` that a file lacks."""
    present = read_bounded(path, limit=MAX_SOURCE_BYTES).decode("utf-8", "surrogateescape") if path.exists() else ""
    lacking = [line for line in text.splitlines() if line not in present.splitlines()]
    if not lacking:
        return None
    start = present if not present or present.endswith("\n") else present + "\n"
    path.write_text(start + "\n".join(lacking) + "\n", encoding="utf-8", errors="surrogateescape")
    return path


def _written(workspace: Workspace, paths: Sequence[Path]) -> Report:
    return Report(status="done", data={"files": [workspace.relative(path) for path in paths]})
