"""Git, as little of it as a release needs: who commits, what is committed, and a commit of exactly the named files.

A commit is made in an order that a kill at any point leaves either the old commit or the new one: files, folders and
the commit are written as objects, the branch moves if it still is where it was, and then the entries of those files in
the real index follow. If that last step cannot be done, the branch moves back. If it was cut off, the next commit of
the same files makes good for it. No lock of ours is held meanwhile, so none can be left behind.
"""

from __future__ import annotations

import contextlib
import os
import re
import weakref
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from pawl.errors import InvalidError, NotFoundError
from pawl.io.git.blobs import stored_by_bytes
from pawl.io.git.commit import Prepared, commit, tree_of
from pawl.io.git.loose import id_of
from pawl.io.git.objects import Objects, refuse_larger
from pawl.io.git.place import Place, locate
from pawl.io.git.process import run
from pawl.io.git.remote import Upstream, upstream
from pawl.io.git.settings import Asking
from pawl.io.git.staged import Staged
from pawl.io.git.tree import TREES

_MOST_ARGUMENTS = 500
_NUL = b"\x00"
REGULAR = frozenset({"100644", "100755"})
"""The modes of regular files."""
_NO_FILES = TREES | {b"160000"}
_DIFF = (
    *("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative"),
    "--ignore-submodules=dirty",
)


def find(folder: Path) -> Repository | None:
    """Return the repository whose work tree contains ``folder``, or None outside of one.

    Raises ``InvalidError`` if there is a repository that Git refuses to use, so that it is never taken for none.
    """
    place = locate(folder)
    return Repository(place) if place else None


class Repository:
    """One work tree of a Git repository; paths are absolute or relative to ``root``."""

    def __init__(self, place: Place) -> None:
        self.root = place.root
        self._place = place
        self._objects = Objects(place)
        self._asking = Asking(place.root)
        self._ready: Prepared | None = None
        for kept in (self._objects, self._asking):
            weakref.finalize(self, kept.close)

    def identity(self) -> tuple[str, str] | None:
        """Return name and address of Git's user, or None if Git was not told; raises ``InvalidError`` if Git fails."""
        return self._asking.settings().author

    def branch(self) -> str | None:
        """Return the short name of the branch, also of one without commits; None on a detached HEAD."""
        ref = self._ref()
        return ref.removeprefix("refs/heads/") if ref else None

    def head(self) -> str | None:
        """Return the commit that HEAD names, or None before the first one."""
        return self.resolve("HEAD")

    def resolve(self, rev: str) -> str | None:
        """Return the commit that ``rev`` names, or None; ``rev`` is never taken for an option."""
        if not rev or rev.startswith("-") or not rev.isprintable():
            return None
        done = run(self.root, "rev-parse", "--quiet", "--verify", f"{rev}^{{commit}}", answers=(0, 1, 128))
        return done.stdout.decode("ascii").strip() if not done.returncode else None

    def commit(self, paths: Sequence[Path], message: str) -> str:
        """Commit exactly these files (added, changed or deleted) on top of HEAD and return the commit.

        Entries of other files in the index, and the work tree, stay as they are. If nothing differs from HEAD, HEAD is
        returned. Raises ``ConflictError`` if the branch moved, the index is held, or a merge is unfinished.
        """
        names = [self._committable(path) for path in paths]
        ready, self._ready = self._ready, None
        return commit(self._place, self._objects, self._asking, self._ref(), names, message, ready)

    def prepare(self, message: str) -> None:
        """Begin what a commit with this message will need, while its files are still being written."""
        with contextlib.suppress(InvalidError):  # the commit itself will say what is wrong
            self._asking.start()
            self._ready = Prepared(self._place, message)
            weakref.finalize(self, self._ready.close)

    def unsettled(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """Return those files of which HEAD, the index and the work tree do not hold the same bytes, and those of which
        that cannot be seen."""
        head = self._objects.head()
        tree = tree_of(head) if head is not None else None
        if tree is None:
            return tuple(paths)
        staged = Staged(self._place, len(tree) // 2)
        return tuple(path for path in paths if not self._is_settled(path, tree, staged))

    def unlike_head(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """Return those files whose bytes HEAD does not hold, ignored and deleted ones too, sorted. Git is asked only
        where more than the bytes counts."""
        found = tuple(sorted(self.unsettled(paths)))
        names = [os.fsencode(str(self._relative(path))) for path in found]
        decided = not found or stored_by_bytes(self._place, self._objects, self._asking.settings(), names)
        return found if decided else self.uncommitted(found)

    def _is_settled(self, path: Path, tree: str, staged: Staged) -> bool:
        name = os.fsencode(str(self._relative(path)))
        if b"\n" in name:
            return False
        committed = self._objects.entry(tree, name)
        if committed is None:
            return False
        found = staged.blob(name)
        if found is None:  # there is none, or it is not seen from here; what others stage later is not seen
            answer = self._objects.read(b":0:" + name)
            found = answer.id if answer else None
        try:
            return found == committed[1] == id_of("blob", (self.root / path).read_bytes(), like=tree)
        except OSError:
            return False

    def holds(self, name: str) -> bool:
        """Whether the last commit has a file of this name, given from the root."""
        head = self._objects.head()
        tree = tree_of(head) if head is not None else None
        found = self._objects.entry(tree, os.fsencode(name)) if tree else None
        return found is not None and found[0] not in _NO_FILES

    def uncommitted(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """Return the files at or below ``paths`` that differ from HEAD, ignored and deleted ones too, sorted."""
        names = [self._relative(path) for path in paths]
        found: set[Path] = set()
        options = ("--porcelain=v1", "-z", "--untracked-files=all", "--ignored=traditional", "--no-renames")
        for first in range(0, len(names), _MOST_ARGUMENTS):
            chunk = (os.fsencode(str(name)) for name in names[first : first + _MOST_ARGUMENTS])
            done = run(self.root, "status", *options, "--", *chunk)
            found.update(self.root / os.fsdecode(entry[3:]) for entry in done.stdout.split(_NUL) if entry)
        return tuple(sorted(found))

    def read_at(self, rev: str, path: Path | str, *, limit: int | None = None) -> bytes | None:
        """Return the bytes of a file as of ``rev``, or None if there was none.

        Raises ``NotFoundError`` if ``rev`` names no commit and ``InvalidError`` beyond ``limit`` bytes.
        """
        return self.blob_at(self._commit_of(rev), str(self._relative(Path(path))), limit=limit)

    def blob_at(self, commit: str, name: str, *, limit: int | None = None) -> bytes | None:
        """Return the same of a name as ``files_at`` gives it; what the work tree holds there now plays no part."""
        expression = commit.encode("ascii") + b":" + os.fsencode(name)
        if b"\n" in expression:
            done = run(self.root, "cat-file", "blob", expression, answers=(0, 1, 128))
            refuse_larger(len(done.stdout), expression, limit)
            return done.stdout if not done.returncode else None
        return self._objects.blob(expression, limit=limit)

    def files_at(self, rev: str, folder: Path | str = "") -> tuple[str, ...]:
        """Return the regular files below ``folder`` as of ``rev``, relative to the root, sorted."""
        entries = self.entries_at(rev, folder)
        return tuple(sorted(file for file, (mode, _) in entries.items() if mode in REGULAR))

    def entries_at(self, rev: str, folder: Path | str = "") -> dict[str, tuple[str, str]]:
        """Return every file, link and submodule below ``folder`` as of ``rev`` with its mode and its object's id."""
        name = os.fsencode(str(self._relative(Path(folder))))
        below = () if name == b"." else (b"--", name + b"/")
        done = run(self.root, "ls-tree", "-r", "-z", "--full-tree", self._commit_of(rev), *below)
        found: dict[str, tuple[str, str]] = {}
        for entry in done.stdout.split(_NUL):
            head, tab, file = entry.partition(b"\t")
            if tab:
                mode, _, object_id = head.decode("ascii").split()
                found[os.fsdecode(file)] = (mode, object_id)
        return found

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the newest commit that two commits have in common, or None."""
        done = run(self.root, "merge-base", self._commit_of(one), self._commit_of(other), answers=(0, 1))
        return done.stdout.decode("ascii").split("\n", 1)[0] if not done.returncode else None

    def is_shallow(self) -> bool:
        """Whether history was cut when this repository was cloned."""
        return run(self.root, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    def changed_since(
        self, rev: str, folder: Path, whole: Sequence[Path], known: Sequence[Path] = ()
    ) -> tuple[str, ...]:
        """Return the files below ``folder`` that differ between ``rev`` and the work tree, as ``files_at`` does.

        New ones that Git does not know yet count; ignored ones do so below the folders ``whole``, and none do below
        the folders ``known``.
        """
        name = os.fsencode(str(self._relative(folder)))
        inner = [os.fsencode(str(self._relative(path))) for path in whole]
        passed = [b"--exclude=" + _pattern(self._relative(path)) for path in (*whole, *known)]
        found = [
            run(self.root, *_DIFF, self._commit_of(rev), "--", name),
            run(self.root, "ls-files", "--others", "--exclude-standard", *passed, "-z", "--", name),
            *([run(self.root, "ls-files", "--others", "-z", "--", *inner)] if inner else ()),
        ]
        return tuple(sorted({os.fsdecode(file) for done in found for file in done.stdout.split(_NUL) if file}))

    def holds_like(self, folder: Path, name: str) -> bool:
        """Whether the last commit has something named ``name`` in ``folder``, in capitals or not."""
        self._relative(folder)
        done = run(folder, "ls-tree", "-z", "--name-only", "HEAD", answers=(0, 128))
        return name.casefold() in {os.fsdecode(entry).casefold() for entry in done.stdout.split(_NUL)}

    def upstream(self) -> Upstream | None:
        """Return what the branch follows on a remote; None if it follows nothing, or HEAD is detached."""
        branch = self.branch()
        return upstream(self._place, self._asking.settings(), branch) if branch else None

    def close(self) -> None:
        """End the processes that are kept; reading again starts another."""
        if self._ready is not None:
            self._ready.close()
            self._ready = None
        self._objects.close()
        self._asking.close()

    def _ref(self) -> str | None:
        try:
            text = (self._place.git_dir / "HEAD").read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            text = ""
        if text.startswith("ref: refs/heads/") and text != "ref: refs/heads/.invalid":
            return text.removeprefix("ref: ")
        # detached, or a store of references that says so in that file
        done = run(self.root, "symbolic-ref", "--quiet", "HEAD", answers=(0, 1))
        return os.fsdecode(done.stdout.strip()) if not done.returncode else None

    def _commit_of(self, rev: str) -> str:
        if len(rev) in {40, 64} and all(character in "0123456789abcdef" for character in rev):
            return rev
        commit = self.resolve(rev)
        if commit is None:
            raise NotFoundError(f"{rev[:200]!r} names no commit in this repository", code="unknown-revision")
        return commit

    def _relative(self, path: Path) -> PurePosixPath:
        full = self.root / path
        try:
            # the folder's links are followed, so that a linked workspace works; the last part is the file itself
            inner = full.parent.resolve().joinpath(full.name).relative_to(self.root) if full != self.root else Path()
        except (ValueError, OSError, RuntimeError) as error:
            raise InvalidError(f"{path} is outside the repository {self.root}", code="path-outside") from error
        if ".." in inner.parts or "\x00" in str(inner):
            raise InvalidError(f"{path} is outside the repository {self.root}", code="path-outside")
        return PurePosixPath(inner)

    def _committable(self, path: Path) -> bytes:
        name = self._relative(path)
        full = self.root / name
        if any(part.lower() == ".git" for part in name.parts):
            raise InvalidError(f"{name} is a file of Git itself", code="path-outside")
        for parent in list(name.parents)[:-1]:
            if os.path.lexists(self.root / parent / ".git"):
                message = f"{name} belongs to another repository, at {parent}, and cannot be committed here"
                raise InvalidError(message, code="nested-repository")
        if full.is_symlink() or full.is_dir() or (full.exists() and not full.is_file()):
            raise InvalidError(f"{name} is not a regular file", code="not-a-file")
        return os.fsencode(str(name))


def _pattern(folder: PurePosixPath) -> bytes:
    """Return the pattern of a folder for Git's ``--exclude``: it is not gone into."""
    return b"/" + re.sub(rb"([\\*?\[\] ])", rb"\\\1", os.fsencode(str(folder))) + b"/"
