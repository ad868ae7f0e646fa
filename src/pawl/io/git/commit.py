"""A commit of exactly the named files: in few processes where nothing is unusual, in more where something is.

The usual way asks Git for what only Git knows: what it is set to and who commits, the move of the branch, the index.
The files, the folders on the way to them and the commit are written as objects, so the work does not grow with the
number of files in the repository. The other way builds the tree in an index of its own, as ``git add`` would: for files
whose storing depends on what an index holds; for repositories that several people share, whose objects have special
permissions; and where a folder is in the place of a file.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from pawl.errors import ConflictError, InvalidError, NotFoundError, PawlError
from pawl.io.git.blobs import stored
from pawl.io.git.index import UPDATE, follow, refuse_unfinished, wait_for_index
from pawl.io.git.loose import Object
from pawl.io.git.objects import Objects
from pawl.io.git.place import Place
from pawl.io.git.process import ANY_END, Running, run, start, why
from pawl.io.git.settings import Asking, Settings
from pawl.io.git.trees import OddTreeError, Writer, written
from pawl.io.steps import step

_NUL = b"\x00"
_LOCK_FILE = re.compile(rb"Unable to create '(.+\.lock)': File exists")
"""What Git says of a file with which it locks HEAD or a branch, and which is there already."""


class Prepared:
    """The move of the branch, begun before the commit is there: it only waits to be told."""

    def __init__(self, place: Place, message: str) -> None:
        self.message = message
        self.mover = start(place.root, "update-ref", "-z", "--stdin", "-m", _note(message), answers=ANY_END)

    def close(self) -> None:
        """End the process; harmless when it has ended."""
        self.mover.close()


def commit(
    place: Place,
    objects: Objects,
    asking: Asking,
    ref: str | None,
    names: Sequence[bytes],
    message: str,
    ready: Prepared | None = None,
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
        asking.start()
        if ready is None or ready.message != message:
            ready = Prepared(place, message)
            stack.callback(ready.close)
        old, old_tree = _state(objects)
        settings = asking.settings()
        tree = _tree(place, objects, settings, names, (old, old_tree))
        if tree == old_tree and old is not None:
            follow(place, settings, names)
            return old
        new = _written_commit(place, settings, tree, old, message)
        _move(ready.mover, ref, new, old)
    try:
        follow(place, settings, names)
    except PawlError:
        _move_back(place, ref, new, old)
        raise
    return new


def _state(objects: Objects) -> tuple[str | None, str | None]:
    """Return HEAD's commit and its tree; None before the first one."""
    head = objects.head()
    return (head.id, tree_of(head)) if head is not None else (None, None)


def tree_of(commit: Object) -> str:
    """Return the tree of a commit; raises ``InvalidError`` if it is none."""
    words = commit.data.split(b"\n", 1)[0].split()
    if commit.kind != "commit" or len(words) != 2 or words[0] != b"tree":
        raise InvalidError("HEAD of this repository is no commit", code="git-failed")
    return words[1].decode("ascii")


def _tree(
    place: Place,
    objects: Objects,
    settings: Settings,
    names: Sequence[bytes],
    state: tuple[str | None, str | None],
) -> str:
    old, old_tree = state
    names = list(dict.fromkeys(names))
    writer = _writer(place, settings)
    if _usual(settings):
        changes = stored(place, objects, settings, writer, names)
        if changes:
            step("git.write-tree")
            with suppress(OddTreeError):
                tree = written(objects, writer, old_tree, changes)
                if tree is not None:
                    return tree
    return _tree_by_index(place, names, old)


def _usual(settings: Settings) -> bool:
    config = settings.config
    shared = config.get("core.sharedrepository", "umask").casefold() not in {"umask", "false", "0", "no", "off"}
    return not shared and "extensions.compatobjectformat" not in config


def _writer(place: Place, settings: Settings) -> Writer:
    durable = any(key.startswith("core.fsync") for key in settings.config)  # who cares gets no less than Git's own
    return Writer(place.common / "objects", algorithm=settings.algorithm, durable=durable)


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
        now = int(time.time())  # Git was asked at the beginning, and a suite or a lock may have taken long since
        people = [role.encode("ascii") + b" " + settings.line(role, now) for role in ("author", "committer")]
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
    if held := _LOCK_FILE.search(done.stderr):
        lock = os.fsdecode(held[1])
        message = f"another Git process holds the branch: {lock} exists; nothing was committed"
        hint = f"wait for it to end; if none runs, remove {lock}"
        raise ConflictError(message, code="git-branch-locked", hint=hint)
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
