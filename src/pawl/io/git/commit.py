"""A commit of exactly the named files: in few processes where nothing is unusual, in more where something is.

The usual way asks Git for what only Git knows: the bytes of each file as its attributes and filters store them, and who
commits. The folders on the way to those files and the commit are then written as objects, so the work does not grow
with the number of files in the repository. The other way builds the tree in an index of its own, as ``git add`` would:
for files with a carriage return, whose storing depends on what is stored now; for repositories that several people
share, whose objects have special permissions; and where a folder is in the place of a file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from pawl.errors import ConflictError, InvalidError, NotFoundError, PawlError
from pawl.io.git.index import UPDATE, follow, refuse_unfinished, wait_for_index
from pawl.io.git.objects import Objects
from pawl.io.git.place import Place
from pawl.io.git.process import ANY_END, Running, run, start, why
from pawl.io.git.settings import Settings, read, start_reading
from pawl.io.git.trees import Changes, OddTreeError, Writer, written
from pawl.io.steps import step

_NUL = b"\x00"
_MOST_ARGUMENTS = 100_000


class Prepared:
    """What a commit will need and that can begin before its files are there: it only reads, and waits to be told."""

    def __init__(self, place: Place, message: str) -> None:
        self.message = message
        self.asked = start_reading(place.root)
        try:
            self.mover = start(place.root, "update-ref", "-z", "--stdin", "-m", _note(message), answers=ANY_END)
        except InvalidError:
            self.asked.close()
            raise

    def close(self) -> None:
        """End both processes; harmless when they have ended."""
        self.asked.close()
        self.mover.close()


def commit(
    place: Place, objects: Objects, ref: str | None, names: Sequence[bytes], message: str, ready: Prepared | None = None
) -> str:
    """Commit these files on top of HEAD, which is the branch ``ref`` (None: detached), and return the commit.

    If nothing differs from HEAD, HEAD is returned. Raises ``ConflictError`` if the branch moved, the index is held, or
    a merge is unfinished.
    """
    with ExitStack() as stack:
        if ready is not None:
            stack.callback(ready.close)
        refuse_unfinished(place)
        wait_for_index(place)
        if ready is None or ready.message != message:
            ready = Prepared(place, message)
            stack.callback(ready.close)
        files = _Files(place, names)
        hashing = stack.enter_context(files.start_hashing()) if files.plain else None
        old, old_tree = _state(objects)
        settings = read(ready.asked)
        tree = _tree(place, objects, settings, files, hashing, (old, old_tree))
        if tree == old_tree and old is not None:
            follow(place, names)
            return old
        new = _written_commit(place, settings, tree, old, message)
        _move(ready.mover, ref, new, old)
    try:
        follow(place, names)
    except PawlError:
        _move_back(place, ref, new, old)
        raise
    return new


class _Files:
    """The files to commit as they are in the work tree."""

    def __init__(self, place: Place, names: Sequence[bytes]) -> None:
        self._place = place
        self._names = list(dict.fromkeys(names))
        self._there = [name for name in self._names if os.path.lexists(self._path(name))]

    @property
    def plain(self) -> bool:
        """Whether Git stores each file by its bytes and attributes alone, and their names fit on a command line."""
        if sum(map(len, self._there)) > _MOST_ARGUMENTS:
            return False
        return bool(self._there) and not any(b"\r" in self._path(name).read_bytes() for name in self._there)

    def start_hashing(self) -> Running:
        """Start to store the files' bytes, through the filters that their attributes name."""
        step("git.hash-object")
        return start(self._place.root, "hash-object", "-w", "--", *self._there)

    def changes(self, hashing: Running, *, modes: bool) -> Changes:
        """Return what becomes of each file; ``modes`` says whether the file system knows what is executable."""
        blobs = hashing.result().stdout.decode("ascii").split()
        if len(blobs) != len(self._there) or any(len(blob) not in {40, 64} for blob in blobs):
            raise InvalidError("Git did not store every file", code="git-failed")
        found: dict[tuple[bytes, ...], tuple[bytes | None, str] | None] = {}
        for name in self._names:
            found[tuple(name.split(b"/"))] = None
        for name, blob in zip(self._there, blobs, strict=True):
            executable = self._path(name).stat().st_mode & 0o100
            found[tuple(name.split(b"/"))] = ((b"100755" if executable else b"100644") if modes else None, blob)
        return found

    @property
    def names(self) -> list[bytes]:
        return self._names

    def _path(self, name: bytes) -> Path:
        return self._place.root / os.fsdecode(name)


def _state(objects: Objects) -> tuple[str | None, str | None]:
    """Return HEAD's commit and its tree; None before the first one."""
    head = objects.read(b"HEAD")
    if head is None:
        return None, None
    words = head.data.split(b"\n", 1)[0].split()
    if head.kind != "commit" or len(words) != 2 or words[0] != b"tree":
        raise InvalidError("HEAD of this repository is no commit", code="git-failed")
    return head.id, words[1].decode("ascii")


def _tree(
    place: Place,
    objects: Objects,
    settings: Settings,
    files: _Files,
    hashing: Running | None,
    state: tuple[str | None, str | None],
) -> str:
    old, old_tree = state
    if hashing is not None and _usual(settings):
        try:
            changes = files.changes(hashing, modes=settings.on("core.filemode", default=True))
            step("git.write-tree")
            tree = written(objects, _writer(place, settings), old_tree, changes)
        except OddTreeError:
            pass
        else:
            if tree is not None:
                return tree
    return _tree_by_index(place, files.names, old)


def _usual(settings: Settings) -> bool:
    config = settings.config
    shared = config.get("core.sharedrepository", "umask").casefold() not in {"umask", "false", "0", "no", "off"}
    return not shared and "extensions.compatobjectformat" not in config


def _writer(place: Place, settings: Settings) -> Writer:
    algorithm = settings.config.get("extensions.objectformat", "sha1").casefold()
    durable = any(key.startswith("core.fsync") for key in settings.config)  # who cares gets no less than Git's own
    return Writer(place.common / "objects", algorithm=algorithm, durable=durable)


def _tree_by_index(place: Place, names: Sequence[bytes], old: str | None) -> str:
    with tempfile.TemporaryDirectory(prefix="pawl-git-") as folder:
        index = str(Path(folder) / "index")
        plain = ("-c", "core.splitIndex=false")
        if old is not None:
            step("git.read-tree")
            run(place.root, *plain, "read-tree", old, GIT_INDEX_FILE=index)
        step("git.update-tree")
        run(place.root, *plain, *UPDATE, stdin=_NUL.join([*names, b""]), GIT_INDEX_FILE=index)
        if old is None and not Path(index).exists():
            raise NotFoundError("none of the files to commit exists", code="file-not-found")
        step("git.write-tree")
        return run(place.root, "write-tree", "--missing-ok", GIT_INDEX_FILE=index).stdout.decode("ascii").strip()


def _written_commit(place: Place, settings: Settings, tree: str, old: str | None, message: str) -> str:
    text = message.rstrip().encode("utf-8", "replace").replace(_NUL, b"") + b"\n"
    step("git.commit-tree")
    signed = settings.on("commit.gpgsign", default=False)
    encoding = settings.config.get("i18n.commitencoding", "utf-8").casefold()
    if not settings.known:
        hint = 'run: git config user.name "..." and git config user.email ...'
        raise InvalidError("Git does not know who commits here", code="git-no-identity", hint=hint)
    if not signed and _usual(settings) and encoding in {"utf-8", "utf8"}:
        parent = [b"parent " + old.encode("ascii")] if old else []
        people = [b"author " + settings.author, b"committer " + settings.committer]
        lines = [b"tree " + tree.encode("ascii"), *parent, *people, b"", text]
        return _writer(place, settings).write("commit", b"\n".join(lines))
    options = [*(("-p", old) if old else ()), *(("-S",) if signed else ())]
    done = run(place.root, "commit-tree", tree, *options, "-F", "-", stdin=text, answers=(0, 1, 128))
    if done.returncode:
        raise InvalidError(f"Git could not write the commit: {why(done)}", code="git-failed")
    new = done.stdout.decode("ascii").strip()
    if len(new) != len(tree):
        raise InvalidError("Git did not say which commit it wrote", code="git-failed")
    return new


def _note(message: str) -> bytes:
    subject = message.strip().partition("\n")[0]
    return f"commit: {subject}".replace("\x00", "").encode("utf-8", "replace")


def _move(mover: Running, ref: str | None, new: str, old: str | None) -> None:
    step("git.update-ref")
    where = os.fsencode(ref) if ref else b"HEAD"
    detached = () if ref else (b"option no-deref",)
    expected = (old or "0" * len(new)).encode("ascii")
    update = [b"update " + where, new.encode("ascii"), expected]
    done = mover.result(_NUL.join([b"start", *detached, *update, b"prepare", b"commit", b""]))
    if done.returncode or not done.stdout.endswith(b"commit: ok\n"):
        message = f"the branch moved meanwhile, nothing was committed: {why(done)}"
        raise ConflictError(message, code="git-branch-moved", hint="run the command again on the new state")


def _move_back(place: Place, ref: str | None, new: str, old: str | None) -> None:
    where = (ref,) if ref else ("--no-deref", "HEAD")
    step("git.move-back")
    # if somebody has built on the commit already, it stays
    if old is None:
        run(place.root, "update-ref", "-d", *where, new, answers=ANY_END)
    else:
        run(place.root, "update-ref", "-m", "commit: taken back", *where, old, new, answers=ANY_END)
