"""Where the implementation of a tool is, and the digest of its source: found by reading files, never by importing them.

The digest covers the module, the packages it lies in, and every module of the workspace that these import, followed
through their import statements. What is installed counts by the bound module alone, and what is imported by a computed
name, or read as data, is not seen.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from pawl.canonical import digest_of
from pawl.errors import InvalidError
from pawl.ids import Digest

_DOTTED = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_BINDING = re.compile(rf"({_DOTTED}):({_DOTTED})\Z")
_MAX_PARSED = 1024 * 1024
"""Bytes of source up to which imports are followed."""


def parse_binding(binding: str) -> tuple[str, str]:
    """Return module and function of ``pkg.mod:func``; ``InvalidError`` for anything else."""
    found = _BINDING.match(binding)
    if found is None:
        raise InvalidError(f"{binding!r} is no Python binding: write pkg.mod:func", code="binding-invalid")
    return found[1], found[2]


def search_path(root: Path, python_path: tuple[str, ...]) -> tuple[Path, ...]:
    """Return where implementations are imported from: the entries of ``python_path``, then the root.

    ``InvalidError`` for an entry that leads out of the workspace, by ``..``, as an absolute path or through a link.
    """
    home = root.resolve()
    folders = []
    for entry in python_path:
        folder = (home / entry).resolve()
        if not folder.is_relative_to(home):
            raise InvalidError(f"python_path entry {entry!r} leads out of the workspace", code="path-outside")
        folders.append(folder)
    return (*folders, home)


def implementation_digest(binding: str, root: Path, python_path: tuple[str, ...] = ()) -> Digest | None:
    """Return the digest of an implementation's source, or None where it is not found or cannot be read."""
    try:
        module, _ = parse_binding(binding)
        folders = search_path(root, python_path)
        files = _sources(module, folders)
        if not files:
            installed = _find(module, tuple(Path(entry) for entry in sys.path if entry))
            files = {module: installed} if installed else {}
        if not files:
            return None
        return digest_of({"binding": binding, "files": {name: _file_digest(path) for name, path in files.items()}})
    except (InvalidError, OSError):
        return None


def _sources(module: str, folders: tuple[Path, ...]) -> dict[str, Path]:
    """Return the workspace's files behind a module by module name, empty where it is not in the workspace."""
    found: dict[str, Path] = {}
    if _find(module, folders) is None:
        return found
    waiting, seen = [module], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        parent = name.rpartition(".")[0]
        if parent:
            waiting.append(parent)
        path = _find(name, folders)
        if path is not None:
            found[name] = path
            waiting.extend(_imports(path, name))
    return found


def _imports(path: Path, module: str) -> Iterator[str]:
    if path.suffix != ".py" or path.stat().st_size > _MAX_PARSED:
        return
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # its bytes count all the same; running it will say what is wrong
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            if base:
                yield base
            yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names if alias.name != "*")


def _base(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - (node.level - 1)]
    return ".".join((*above, *([node.module] if node.module else [])))


def _find(module: str, folders: tuple[Path, ...]) -> Path | None:
    """Return the file that importing a module would run, by the order in which Python looks."""
    *packages, last = module.split(".")
    for package in packages:
        folders = _package(package, folders)
    for folder in folders:
        candidates = [folder / last / "__init__.py", *(folder / f"{last}{end}" for end in (*EXTENSION_SUFFIXES, ".py"))]
        for candidate in candidates:
            if candidate.is_file():
                return candidate
    return None


def _package(name: str, folders: tuple[Path, ...]) -> tuple[Path, ...]:
    loose = []
    for folder in folders:
        if (folder / name / "__init__.py").is_file():
            return (folder / name,)
        if (folder / f"{name}.py").is_file():
            return ()
        if (folder / name).is_dir():
            loose.append(folder / name)
    return tuple(loose)


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
