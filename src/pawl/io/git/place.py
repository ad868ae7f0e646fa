"""Where the repository of a folder is: seen from the files in the usual case, asked of Git in every other.

The usual case is a ``.git`` folder, or a ``.git`` file that names one, which belongs to who runs this, whose config is
plain lines that move no work tree, and nothing on the way up that Git could take for a bare repository. All else is for
Git to say, so that what it refuses is an error here and never "no repository".
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pawl.errors import InvalidError
from pawl.io.git.process import complaint, run

_PLAIN_LINE = re.compile(
    rb'\s*([#;].*|\[[A-Za-z0-9.-]+(\s+"[^"\\]*")?\]|[A-Za-z][A-Za-z0-9-]*(\s*=\s*[^"\\#;]*)?)?\s*(?<!\\)'
)
_MOVES = re.compile(rb"(?i)worktree|include|\bbare(?![ \t]*=[ \t]*false[ \t]*\r?$)", re.MULTILINE)
_ASKED_BY = ("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_MOST_CONFIG = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The root of a work tree, the folder of its HEAD and index, and the folder of its objects and branches."""

    root: Path
    git_dir: Path
    common: Path


def locate(folder: Path) -> Place | None:
    """Return the place whose work tree contains ``folder``, or None outside of one.

    Raises ``InvalidError`` if there is a repository that Git refuses to use.
    """
    here = folder.resolve()
    while not here.is_dir():
        here = here.parent
    for top in (here, *here.parents):
        if (top / ".git").exists():
            seen = _seen(top) if not any(os.environ.get(name) for name in _ASKED_BY) else None
            return seen if seen and _same_device(here, top) and _installed() else _asked(here)
        if top.name == ".git" or (top / "HEAD").exists():
            return _asked(here)
    return None


def _seen(top: Path) -> Place | None:
    """Return the place at a folder with a ``.git``, or None if it is not the usual case."""
    dot = top / ".git"
    try:
        git_dir = dot if dot.is_dir() else _named_by(dot)
        common = _common(git_dir)
        if not (git_dir / "HEAD").is_file() or not all((common / name).is_dir() for name in ("objects", "refs")):
            return None
        if (git_dir / "config.worktree").exists() or any(not _owned(path) for path in (top, dot, git_dir, common)):
            return None
        with (common / "config").open("rb") as file:
            config = file.read(_MOST_CONFIG)
    except (OSError, ValueError):
        return None
    if _MOVES.search(config) or not all(_PLAIN_LINE.fullmatch(line) for line in config.split(b"\n")):
        return None
    return Place(root=top, git_dir=git_dir, common=common)


def _named_by(dot: Path) -> Path:
    text = os.fsdecode(dot.read_bytes())
    if not text.startswith("gitdir: "):
        raise ValueError(text)
    return Path(os.path.realpath(dot.parent / text.removeprefix("gitdir: ").rstrip("\n")))


def _common(git_dir: Path) -> Path:
    file = git_dir / "commondir"
    if not file.is_file():
        return git_dir
    return Path(os.path.realpath(git_dir / os.fsdecode(file.read_bytes()).rstrip("\n")))


def _owned(path: Path) -> bool:
    return not hasattr(os, "geteuid") or path.lstat().st_uid == os.geteuid()


def _same_device(here: Path, top: Path) -> bool:
    try:
        return here.stat().st_dev == top.stat().st_dev
    except OSError:
        return False


def _installed() -> bool:
    return any(os.access(os.path.join(folder, "git"), os.X_OK) for folder in os.get_exec_path())  # noqa: PTH118 - quick


def _asked(here: Path) -> Place | None:
    asked = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    done = run(here, *asked, answers=(0, 128))
    if done.returncode:
        if b"not a git repository (or any" in done.stderr or b"must be run in a work tree" in done.stderr:
            return None
        raise InvalidError(f"Git refused: {complaint(done.stderr)}", code="git-failed")
    lines = done.stdout.splitlines()
    if len(lines) != 3:
        raise InvalidError("the path of the repository has a line break in it", code="git-failed")
    root, git_dir, common = (Path(os.fsdecode(line)) for line in lines)
    return Place(root=root, git_dir=git_dir, common=common)
