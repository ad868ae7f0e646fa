"""Git, as little of it as a release needs: who commits, what is committed, and a commit of exactly the named files.

A commit is made of plumbing, in an order that a kill at any point leaves either the old commit or the new one: the tree
is built in an index of its own, the commit is written, the branch moves if it still is where it was, and then the
entries of those files in the real index follow. If that last step cannot be done, the branch moves back. If it was cut
off, the next commit of the same files makes good for it. No lock of ours is held meanwhile, so none can be left behind.
"""

from __future__ import annotations

import os
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from pawl.errors import ConflictError, InvalidError, NotFoundError
from pawl.io.git_process import Objects, complaint, refuse_larger, run, start
from pawl.io.steps import step

INDEX_LOCK_SECONDS = 2.0
"""How long another Git process may hold the index before we give up: editors look at the state all the time."""

_UNFINISHED = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}
_MOST_ARGUMENTS = 500
_NUL = b"\x00"
REGULAR = frozenset({"100644", "100755"})
"""The modes of regular files."""
_DIFF = (
    *("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative"),
    "--ignore-submodules=dirty",
)


def find(folder: Path) -> Repository | None:
    """Return the repository whose work tree contains ``folder``, or None outside of one.

    Raises ``InvalidError`` if there is a repository that Git refuses to use, so that it is never taken for none.
    """
    here = folder.resolve()
    if not any((parent / ".git").exists() for parent in (here, *here.parents)):
        return None
    while not here.is_dir():
        here = here.parent
    done = run(here, "rev-parse", "--show-toplevel", "--absolute-git-dir", answers=(0, 128))
    if done.returncode:
        if b"not a git repository (or any" in done.stderr or b"must be run in a work tree" in done.stderr:
            return None
        raise InvalidError(f"Git refused: {complaint(done.stderr)}", code="git-failed")
    lines = done.stdout.splitlines()
    if len(lines) != 2:
        raise InvalidError("the path of the repository has a line break in it", code="git-failed")
    root, git_dir = (Path(os.fsdecode(line)) for line in lines)
    return Repository(root, git_dir)


class Repository:
    """One work tree of a Git repository; paths are absolute or relative to ``root``."""

    def __init__(self, root: Path, git_dir: Path) -> None:
        self.root = root
        self._git_dir = git_dir
        self._objects: Objects | None = None

    def identity(self) -> tuple[str, str] | None:
        """Return name and address of Git's user, or None if Git was not told."""
        done = run(self.root, "var", "GIT_AUTHOR_IDENT", answers=(0, 1, 128))
        name, opened, rest = done.stdout.decode("utf-8", "replace").rpartition(" <")
        address, closed, _ = rest.partition(">")
        return (name, address) if not done.returncode and opened and closed and name else None

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
        self._refuse_unfinished()
        self._wait_for_index()
        ref = self._ref()
        old, old_tree, signed = self._state()
        tree = self._tree(names, old)
        if tree == old_tree and old is not None:
            self._follow(names)
            return old
        new = self._commit_tree(tree, old, message, signed=signed)
        self._move(ref, new, old, message)
        try:
            self._follow(names)
        except ConflictError:
            self._move_back(ref, new, old)
            raise
        return new

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
        if self._objects is None or self._objects.closed:
            self._objects = Objects(self.root)
            weakref.finalize(self, self._objects.close)
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

    def changed_since(self, rev: str, folder: Path, whole: Sequence[Path]) -> tuple[str, ...]:
        """Return the files below ``folder`` that differ between ``rev`` and the work tree, as ``files_at`` does.

        New ones that Git does not know yet count; ignored ones do so below the folders ``whole``.
        """
        name = os.fsencode(str(self._relative(folder)))
        inner = [os.fsencode(str(self._relative(path))) for path in whole]
        found = [
            run(self.root, *_DIFF, self._commit_of(rev), "--", name),
            run(self.root, "ls-files", "--others", "--exclude-standard", "-z", "--", name),
            *([run(self.root, "ls-files", "--others", "-z", "--", *inner)] if inner else ()),
        ]
        return tuple(sorted({os.fsdecode(file) for done in found for file in done.stdout.split(_NUL) if file}))

    def holds_like(self, folder: Path, name: str) -> bool:
        """Whether the last commit has something named ``name`` in ``folder``, in capitals or not."""
        self._relative(folder)
        done = run(folder, "ls-tree", "-z", "--name-only", "HEAD", answers=(0, 128))
        return name.casefold() in {os.fsdecode(entry).casefold() for entry in done.stdout.split(_NUL)}

    def close(self) -> None:
        """End the process that is kept for reading; reading again starts another."""
        if self._objects is not None:
            self._objects.close()

    def _ref(self) -> str | None:
        try:
            text = (self._git_dir / "HEAD").read_text(encoding="utf-8").strip()
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

    def _refuse_unfinished(self) -> None:
        for file, action in _UNFINISHED.items():
            if (self._git_dir / file).exists():
                message = f"a {action} is unfinished in this work tree, nothing is committed into it"
                raise ConflictError(message, code="git-unfinished", hint=f"finish or abort the {action} first")

    def _wait_for_index(self) -> None:
        deadline = time.monotonic() + INDEX_LOCK_SECONDS
        while (self._git_dir / "index.lock").exists():
            if time.monotonic() >= deadline:
                raise self._index_held()
            time.sleep(0.05)

    def _index_held(self) -> ConflictError:
        message = f"another Git process holds the index of {self.root}; nothing was committed"
        hint = f"wait for it to end; if none runs, remove {self._git_dir / 'index.lock'}"
        return ConflictError(message, code="git-index-locked", hint=hint)

    def _state(self) -> tuple[str | None, str | None, bool]:
        """Return HEAD's commit and tree, and whether commits are to be signed."""
        with start(self.root, "config", "--type=bool", "--get", "commit.gpgSign", answers=(0, 1)) as config:
            asked = b"HEAD\nHEAD^{tree}\n"
            named = run(self.root, "cat-file", "--batch-check=%(objectname)", stdin=asked).stdout
            signed = config.result().stdout.strip() == b"true"
        head, tree = named.decode("ascii").splitlines()
        return (None, None, signed) if head.endswith(" missing") else (head, tree, signed)

    def _tree(self, names: Sequence[bytes], old: str | None) -> str:
        with tempfile.TemporaryDirectory(prefix="pawl-git-") as folder:
            index = str(Path(folder) / "index")
            if old is not None:
                step("git.read-tree")
                run(self.root, "-c", "core.splitIndex=false", "read-tree", old, GIT_INDEX_FILE=index)
            step("git.update-tree")
            run(
                self.root, "-c", "core.splitIndex=false", *_UPDATE, stdin=_NUL.join([*names, b""]), GIT_INDEX_FILE=index
            )
            if old is None and not Path(index).exists():
                raise NotFoundError("none of the files to commit exists", code="file-not-found")
            step("git.write-tree")
            return run(self.root, "write-tree", "--missing-ok", GIT_INDEX_FILE=index).stdout.decode("ascii").strip()

    def _commit_tree(self, tree: str, old: str | None, message: str, *, signed: bool) -> str:
        text = message.rstrip().encode("utf-8", "replace").replace(_NUL, b"") + b"\n"
        options = [*(("-p", old) if old else ()), *(("-S",) if signed else ())]
        step("git.commit-tree")
        done = run(self.root, "commit-tree", tree, *options, "-F", "-", stdin=text, answers=(0, 1, 128))
        if done.returncode:
            raise self._uncommittable(done.stderr)
        return done.stdout.decode("ascii").strip()

    def _uncommittable(self, stderr: bytes) -> InvalidError:
        said = complaint(stderr)
        if b"ident" in stderr or b"tell me who you are" in stderr:
            hint = 'run: git config user.name "..." and git config user.email ...'
            return InvalidError("Git does not know who commits here", code="git-no-identity", hint=hint)
        return InvalidError(f"Git could not write the commit: {said}", code="git-failed")

    def _move(self, ref: str | None, new: str, old: str | None, message: str) -> None:
        subject = message.strip().partition("\n")[0]
        where = (ref,) if ref else ("--no-deref", "HEAD")
        step("git.update-ref")
        note = f"commit: {subject}".replace("\x00", "").encode("utf-8", "replace")
        done = run(self.root, "update-ref", "-m", note, *where, new, old or "0" * len(new), answers=(0, 1, 128))
        if done.returncode:
            message = f"the branch moved meanwhile, nothing was committed: {complaint(done.stderr)}"
            raise ConflictError(message, code="git-branch-moved", hint="run the command again on the new state")

    def _move_back(self, ref: str | None, new: str, old: str | None) -> None:
        where = (ref,) if ref else ("--no-deref", "HEAD")
        step("git.move-back")
        # if somebody has built on the commit already, it stays
        if old is None:
            run(self.root, "update-ref", "-d", *where, new, answers=(0, 1, 128))
        else:
            run(self.root, "update-ref", "-m", "commit: taken back", *where, old, new, answers=(0, 1, 128))

    def _follow(self, names: Sequence[bytes]) -> None:
        deadline = time.monotonic() + INDEX_LOCK_SECONDS
        while True:
            step("git.update-index")
            done = run(self.root, *_UPDATE, stdin=_NUL.join([*names, b""]), answers=(0, 1, 128))
            if not done.returncode:
                return
            if b"index.lock" not in done.stderr or time.monotonic() >= deadline:
                raise self._index_held() from InvalidError(complaint(done.stderr))
            time.sleep(0.05)


_UPDATE = ("update-index", "--add", "--remove", "-z", "--stdin")
