"""The house: deciding rooms are pure, imports only point down, importing pawl stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

import pytest

import pawl
from budgets import sweep
from pawl.io.memory import forget
from support import Shop

Node = TypeVar("Node", bound=ast.AST)
SOURCE = Path(pawl.__file__).parent
EDGES = {
    "conformance.implementations",
    "conformance.python_child",
    "conformance.run",
    "conformance.runners",
    "releases.applying",
    "releases.committing",
}
"""Modules of deciding rooms that touch the outside, each named."""
RANKS: tuple[tuple[str, ...], ...] = (
    ("values",),
    ("problems",),
    ("errors", "ids"),
    ("canonical",),
    ("io", "procedures"),
    ("lint",),
    ("changes", "registry"),
    ("formats",),
    ("conformance",),
    ("policy",),
    ("releases",),
    ("workspace",),
    ("releases.applying", "releases.committing", "runs"),
    ("operations",),
    ("demo",),
    ("cli",),
)
"""From the bottom up; a module imports from its own room and from lower rows, never from the room beside it."""
PURE = (
    "canonical",
    "changes",
    "conformance",
    "errors",
    "formats",
    "ids",
    "lint",
    "policy",
    "problems",
    "procedures",
    "registry",
    "releases",
)
OUTSIDE = {
    "click",
    "git",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "time",
}
CLOCKS = {"now", "utcnow", "today", "getenv", "getcwd", "environ", "perf_counter", "monotonic"}
FILES = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "iterdir", "rglob"}
"""What objects of pathlib could be asked, had a decider got hold of one."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        if name not in {"", "__main__", "_version"}:
            yield name, path


MODULES = list(modules())


def rank(name: str) -> int:
    for index, row in enumerate(RANKS):
        if name in row:
            return index
    first = name.partition(".")[0]
    return next(index for index, row in enumerate(RANKS) if first in row)


def room(name: str) -> str:
    return name.partition(".")[0]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> dict[type[ast.AST], list[ast.AST]]:
    """Return all nodes of a module by their kind."""
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in ast.walk(tree(path)):
        found.setdefault(type(node), []).append(node)
    return found


def of(path: Path, kind: type[Node]) -> list[Node]:
    return cast("list[Node]", nodes(path).get(kind, []))


@cache
def imports(path: Path) -> list[tuple[str, list[str]]]:
    """Return each imported module with the names taken from it, those inside functions too."""
    whole: list[tuple[str, list[str]]] = [(alias.name, []) for node in of(path, ast.Import) for alias in node.names]
    return [*whole, *((node.module or "", [alias.name for alias in node.names]) for node in of(path, ast.ImportFrom))]


def is_pure(name: str) -> bool:
    return name.partition(".")[0] in PURE and name not in EDGES


def test_deciding_rooms_touch_nothing_outside() -> None:
    faults = []
    for name, path in MODULES:
        if is_pure(name):
            faults += [f"{name} imports {what}" for what, _ in imports(path) if what.partition(".")[0] in OUTSIDE]
            for called in (node.func for node in of(path, ast.Call)):
                if isinstance(called, ast.Name) and called.id in {"open", "print", "input", "exec", "eval"}:
                    faults.append(f"{name} calls {called.id}")
                if isinstance(called, ast.Attribute) and called.attr in CLOCKS | FILES:
                    faults.append(f"{name} calls {called.attr}")
    assert faults == []


def test_imports_only_point_down() -> None:
    faults = []
    for name, path in MODULES:
        for module, taken in imports(path):
            if module.startswith("pawl.") and module != "pawl._version":
                faults += [f"{name}: {fault}" for fault in faults_of_import(name, module.removeprefix("pawl."), taken)]
    assert faults == []


def faults_of_import(name: str, target: str, taken: list[str]) -> Iterator[str]:
    own = rank(name)
    if not (rank(target) < own or (room(target) == room(name) and rank(target) == own)):
        yield f"imports {target}"
    if any(word.startswith("_") for word in taken):
        yield f"takes private names of {target}"
    folder = SOURCE / Path(*target.split("."))
    inner = [word for word in taken if (folder / f"{word}.py").exists() or (folder / word / "__init__.py").exists()]
    if not (folder.with_suffix(".py").exists() or inner == taken or set(taken) <= surface(target)):
        yield f"takes from {target} what it does not offer"


def surface(package: str) -> set[str]:
    """Return the names that a package offers itself, by the ``__all__`` of its ``__init__``."""
    for node in tree(SOURCE / Path(*package.split(".")) / "__init__.py").body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
            return set(ast.literal_eval(node.value))
    return set()


def test_no_import_goes_round() -> None:
    edges = {
        name: {module.removeprefix("pawl.") for module, _ in imports(path) if module.startswith("pawl.")}
        for name, path in MODULES
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path, name))
        if name not in done:
            for target in edges.get(name, ()):
                visit(target, (*path, name))
            done.add(name)

    for name in edges:
        visit(name, ())


def test_nothing_private_of_another_module_is_reached() -> None:
    """Not through the module either: ``from pawl.io import git`` and then ``git._run``."""
    faults = []
    for name, path in MODULES:
        taken = {word for module, words in imports(path) if module.startswith("pawl") for word in words}
        faults += [
            f"{name} reaches {node.attr}"
            for node in of(path, ast.Attribute)
            if node.attr.startswith("_") and not node.attr.startswith("__")
            if isinstance(node.value, ast.Name) and node.value.id in taken
        ]
    assert faults == []


def test_no_module_is_imported_as_a_whole_by_a_dotted_name() -> None:
    """``import pawl.x`` would slip past the ranks above."""
    for name, path in MODULES:
        whole = [module for module, taken in imports(path) if module.startswith("pawl.") and not taken]
        assert whole == [], name


def test_errors_that_leave_pawl_are_pawls() -> None:
    """No module catches everything except the one catch point and the edges around foreign code."""
    bare = {name for name, path in MODULES for node in of(path, ast.ExceptHandler) if node.type is None}
    assert bare == set()


def test_click_stays_in_the_command_line() -> None:
    users = {name for name, path in MODULES if any(module.partition(".")[0] == "click" for module, _ in imports(path))}
    assert {name for name in users if not name.startswith("cli.")} == set()


def test_rooms_are_not_crowded() -> None:
    faults = []
    for name, path in MODULES:
        if path.read_text(encoding="utf-8").count("\n") > 450:
            faults.append(f"{name} wants splitting by meaning")
        if not ast.get_docstring(tree(path)):
            faults.append(f"{name} states no rules")
        long = [node.name for node in of(path, ast.FunctionDef) if (node.end_lineno or 0) - node.lineno > 60]
        faults += [f"{name}.{function} is long" for function in long]
    assert faults == []


HEAVY = (
    "click",
    "git",
    "jinja2",
    "jsonschema",
    "pydantic",
    "rich",
    "ruamel",
    "cel_expr_python",
    "packaging",
    "rfc8785",
)


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_importing_pawl_is_light() -> None:
    assert loaded("import pawl; pawl.open; pawl.Run; pawl.PawlError") & set(HEAVY) == set()


def test_serving_a_prompt_from_a_snapshot_is_light(released: Shop) -> None:
    root = released.root
    released.pawl("snapshot", "production", "--out", str(root / "p.json"))
    code = (
        f"import pawl\nwith pawl.open('production', snapshot={str(root / 'p.json')!r}).run(agent='a') as run:\n"
        "    run.prompt('support/refund-draft', order_id='A1', amount=20)\n    run.end('ok')"
    )
    assert loaded(code) & set(HEAVY) == set()


SLOW = {"dataclasses", "datetime", "inspect", "jsonschema_rs", "pathlib", "sqlite3", "tempfile", "threading", "typing"}
"""Of the standard library, and the engine of schemas: each takes longer to import than a snapshot to read."""


def test_the_first_prompt_from_a_snapshot_needs_little_of_the_standard_library(released: Shop) -> None:
    path = str(released.root / "p.json")
    released.pawl("snapshot", "production", "--out", path)
    code = (
        f"import pawl\nhandle = pawl.open('production', snapshot={path!r})\nhandle.resolve('support/refund-draft')\n"
        "with handle.run(agent='a') as run:\n"
        "    run.prompt('support/refund-draft', order_id='A1', amount=20)\n    run.end('ok')"
    )
    before = loaded("")
    assert (loaded(code) - before) & SLOW == set()


def test_checking_a_call_and_walking_a_workflow_from_a_snapshot_is_light(released: Shop) -> None:
    """Expressions need their engine; nothing else heavy comes with them."""
    released.release_second()
    path = str(released.root / "p.json")
    released.pawl("snapshot", "production", "--out", path)
    code = (
        f"import pawl\nwith pawl.open('production', snapshot={path!r}).run(agent='a') as run:\n"
        "    run.tool('support/check-eligibility').call({'order_id': 'A1'})\n"
        "    assert run.workflow('support/refund').next({'order_id': 'A1', 'amount': 2}).step == 'eligibility'\n"
        "    run.end('ok')"
    )
    assert loaded(code) & set(HEAVY) <= {"cel_expr_python"}


WARM = ("test", "check", "check --base HEAD", "promote support/refund-draft@1.0.0")


@pytest.mark.parametrize("line", sweep(WARM, "check --base HEAD", "promote support/refund-draft@1.0.0"))
def test_commands_read_what_did_not_change_without_its_readers(shop: Shop, line: str) -> None:
    """Of registry.yaml, policies, procedures, suites and frozen copies it is remembered what they read as."""
    shop.publish_first()
    to = ("--to", "staging", "--reason", "a try") if line.startswith("promote") else ()
    words = ["-C", str(shop.root), *line.split(), *to]
    code = (
        "import contextlib, io, time\nfrom pawl.io import file_marks\nfile_marks.SETTLED_NS = 12_000_000\n"
        "time.sleep(0.03)\nfrom pawl.cli.main import run\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        f"    run({words!r})"
    )
    forget(shop.root / ".pawl" / "sources.db")
    cold = loaded(code)
    warm = loaded(code)
    assert cold & {"pydantic", "ruamel"} == {"pydantic", "ruamel"}
    assert warm & {"pydantic", "jsonschema", "ruamel"} == set()


def test_the_public_surface_is_sorted_and_there() -> None:
    assert sorted(pawl.__all__, key=str) == pawl.__all__
    assert [name for name in pawl.__all__ if not hasattr(pawl, name)] == []
