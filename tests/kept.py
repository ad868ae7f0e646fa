"""Set-ups that many tests share: carried out for the first of them, and copied for all others.

A set-up is known by its name and by everything that it could see: the workspace's files, Git's references and settings,
the environment, the clock that was set. Where any of these is another, it is carried out. What is copied comes into a
workspace as a pull would bring it: files are added, replaced and removed, and caches are left to find that out.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from pawl.cli import command as cli_command

_SEEN_BEFORE = 1
"""How often a set-up is carried out before it is kept: what is asked for once is not worth a copy."""
_CACHES = ("index.db", "sources.db", "lock")
"""What .pawl/ has that says nothing of its own."""
_OBJECTS = ".git/objects/"
_OF_GIT_ALONE = (_OBJECTS, ".git/logs/", ".git/index", ".git/COMMIT_EDITMSG", ".git/ORIG_HEAD")
"""What Git's references say already, or what says something about this folder only."""

_OF_THE_RUNNER = ("PYTEST_", "HOME")
"""What says in the environment which process of the test runner this is: homes differ in their place alone."""


class Kept:
    """Outcomes of set-ups, below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._times: dict[str, int] = {}

    def reach(self, root: Path, name: str, make: Callable[[], object]) -> None:
        """Bring the workspace at ``root`` to where ``make`` would bring it."""
        if not _is_plain(root):
            make()
            return
        key = _key(root, name)
        kept = self._folder / key
        if kept.exists():
            _bring(kept, root)
            return
        make()
        self._times[key] = self._times.get(key, 0) + 1
        if self._times[key] > _SEEN_BEFORE:
            self._keep(root, kept)

    def _keep(self, root: Path, kept: Path) -> None:
        aside = kept.with_suffix(f".{os.getpid()}")
        for path in _files(root):
            (aside / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / path, aside / path)
        if (aside / ".git").exists():  # one pack is brought sooner than a hundred objects
            subprocess.run(["git", "-C", str(aside), "repack", "-adqn"], check=True, capture_output=True)
        with contextlib.suppress(OSError):  # another process of the runner was sooner
            aside.rename(kept)


OUTCOMES: list[Kept] = []
"""Those of this process of the test runner; none outside of it, where every set-up is carried out."""


def reach(root: Path, name: str, make: Callable[[], object]) -> None:
    """Bring the workspace at ``root`` to where ``make`` would bring it, by a copy where that is kept already."""
    if OUTCOMES:
        OUTCOMES[0].reach(root, name, make)
    else:
        make()


def _is_plain(root: Path) -> bool:
    """Whether all that counts is in files below the workspace: without links, and no worktree of something else."""
    return not (root / ".git").is_file() and not any((root / path).is_symlink() for path in _files(root))


def _files(root: Path) -> Iterator[str]:
    """Every file below a workspace by its path there; not the caches, which are bound to their place."""
    for folder, _, names in os.walk(root):
        within = folder[len(str(root)) + 1 :]
        for name in names:
            if within != ".pawl" or not name.startswith(_CACHES):
                yield f"{within}/{name}" if within else name


def _key(root: Path, name: str) -> str:
    environment = sorted(item for item in os.environ.items() if not item[0].startswith(_OF_THE_RUNNER))
    environment += [(path.name, path.read_text("utf-8")) for path in _settings_at_home()]
    hashed = hashlib.sha256(repr((name, environment, getattr(vars(cli_command)["datetime"], "AT", None))).encode())
    for path in sorted(_files(root)):
        if not path.startswith(_OF_GIT_ALONE):
            data = (root / path).read_bytes()
            hashed.update(f"\n{path} {len(data)}\n".encode("utf-8", "surrogateescape") + data)
    return hashed.hexdigest()


def _settings_at_home() -> list[Path]:
    return sorted(path for path in Path(os.environ.get("HOME", os.devnull)).glob(".*") if path.is_file())


def _bring(kept: Path, root: Path) -> None:
    wanted = set(_files(kept))
    for path in sorted(wanted):
        source, target = kept / path, root / path
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
        elif path.startswith(_OBJECTS) or source.read_bytes() == target.read_bytes():
            continue
        else:
            target.unlink()
        if path.startswith(_OBJECTS):
            target.hardlink_to(source)  # nobody writes into an object, and there are many
        else:
            shutil.copy2(source, target)
    for path in _files(root):
        if path not in wanted and not path.startswith((".pawl/", _OBJECTS)):
            (root / path).unlink()
