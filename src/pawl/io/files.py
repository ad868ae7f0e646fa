"""Files: bounded reading, durable writing, and a lock that dies with its process.

A file is written whole or not at all: into a temporary file of the same folder, synced, then linked (``create``) or
renamed (``replace``) into place, and the folder is synced. A killed process leaves temporary files behind, which
``sweep`` removes. Only pawl's errors leave these functions.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pawl.errors import ConflictError, InvalidError, NotFoundError, PawlError
from pawl.io.steps import step

if TYPE_CHECKING:
    from threading import Thread

TEMPORARY_PREFIX = ".pawl-tmp-"
"""Names of files that are being written; readers of a folder pass them over."""

_POLL_SECONDS = 0.02
_LOCK_HINT = "it is to be a file that you may write, on a disk with room; where it is something else, move it away"
_AT_ONCE = 4
_ID_LENGTH = 20


def read_bounded(path: Path | str, *, limit: int, root: Path | None = None) -> bytes:
    """Return the bytes of a regular file of at most ``limit`` bytes.

    With ``root``, a symbolic link that leads out of it is refused. Raises ``NotFoundError`` or ``InvalidError``.
    """
    if root is not None:
        _refuse_outside(root, path)
    try:
        # not blocking, so that a pipe in the place of a file does not hang the reader
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            status = os.fstat(handle)
            data = _read(handle, status.st_size, limit) if stat.S_ISREG(status.st_mode) else None
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        raise _named("read", path, error) from error
    if data is None:
        raise InvalidError(f"{path} is not a regular file", code="not-a-file")
    if len(data) > limit:
        raise InvalidError(f"{path} is larger than {limit} bytes, which is the most that is read", code="too-large")
    return data


def _read(handle: int, size: int, limit: int) -> bytes:
    """Return what an open file of about ``size`` bytes holds, of more than ``limit`` bytes at least one more."""
    data = os.read(handle, min(size, limit) + 1)
    while len(data) <= limit and (more := os.read(handle, limit + 1 - len(data))):
        data += more
    return data


def inside(root: Path, relative: str) -> Path:
    """Return ``root / relative`` if it stays inside ``root``, symbolic links followed; else raise ``InvalidError``."""
    pure = PurePosixPath(relative)
    if not relative or "\x00" in relative or pure.is_absolute() or ".." in pure.parts or not pure.parts:
        message = f"{relative[:200]!r} is no path below {root}: relative, without .. and not empty"
        raise InvalidError(message, code="path-outside")
    path = root.joinpath(*pure.parts)
    _refuse_outside(root, path)
    return path


def make_folders(folder: Path) -> None:
    """Make a folder and those above it, durably: else a power cut takes it away with what was synced into it."""
    _sync([(above, above) for above in _made_folders(folder)])


class Writing:
    """Files that are written durably with few waits: what is to be on disk at one moment is synced at once.

    Files are staged beside their places, and put there one by one. ``sync`` waits for everything since the last one:
    bytes, names, new folders. ``with`` removes what was staged and not put into its place.
    """

    def __init__(self) -> None:
        self._staged: dict[Path, Path] = {}
        self._unsynced: dict[Path, Path] = {}
        """A file or folder to sync -> what it is called in an error."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for temporary in self._staged.values():
            with suppress(OSError):  # a name that stays is swept up by the next command
                temporary.unlink(missing_ok=True)

    def stage(self, path: Path, data: bytes, *, new: bool = False) -> None:
        """Write a file beside its place. It gets the permissions of what is there, where links and folders are refused;
        what is there is not looked at for a ``new`` one."""
        with _reported("write", path):
            self._unsynced.update((above, path) for above in _made_folders(path.parent))
            mode = None if new else _mode_of(path)
            temporary = self._staged[path] = _write_temporary(path, data, mode)
            self._unsynced[temporary] = path

    def replace(self, path: Path) -> None:
        """Put a staged file into its place, whatever file is there."""
        with _reported("write", path):
            step("files.rename")
            self._staged[path].replace(path)
            del self._staged[path]
            self._unsynced[path.parent] = path

    def create(self, path: Path) -> None:
        """Put a staged file into its place; raise ``ConflictError`` if ``path`` exists, whatever it is."""
        with _reported("write", path):
            try:
                step("files.link")
                path.hardlink_to(self._staged[path])
            except FileExistsError:
                raise ConflictError(f"{path} exists already", code="file-exists") from None
            finally:
                step("files.unlink-temporary")
                self._staged.pop(path).unlink(missing_ok=True)
            self._unsynced[path.parent] = path

    def sync(self) -> None:
        """Wait until all that was done since the last time is on disk."""
        unsynced, self._unsynced = self._unsynced, {}
        _sync(list(unsynced.items()))


def create(path: Path, data: bytes) -> None:
    """Write a new file durably; raise ``ConflictError`` if ``path`` exists, whatever it is."""
    with Writing() as writing:
        writing.stage(path, data, new=True)
        writing.sync()
        writing.create(path)
        writing.sync()


def replace(path: Path, data: bytes, *, durable: bool = True, named: bool = True) -> None:
    """Write a file durably in place of what is there; its permissions stay. Links and folders are refused.

    Without ``durable`` it is whole or not there all the same, but nothing waits for the disk: that is for caches.
    Without ``named`` its bytes are on disk and its name is not waited for: a power cut may bring back what was there.
    """
    with Writing() as writing:
        writing.stage(path, data)
        if durable:
            writing.sync()
        writing.replace(path)
        if durable and named:
            writing.sync()


def remove(path: Path) -> None:
    """Remove a file durably; nothing happens if it is not there."""
    with _reported("remove", path):
        step("files.remove")
        try:
            path.unlink()
        except FileNotFoundError:
            return
        _sync([(path.parent, path)])


def sweep(folder: Path) -> None:
    """Remove what killed writers left in ``folder``; call it under the lock that the writers take."""
    with _reported("clean", folder):
        try:
            names = os.listdir(folder)  # noqa: PTH208 - of thousands, names alone
        except FileNotFoundError:
            return
        if TEMPORARY_PREFIX not in "/".join(names):  # told of thousands at once
            return
        for name in names:
            if name.startswith(TEMPORARY_PREFIX):
                (folder / name).unlink(missing_ok=True)


def sweep_ended(folder: Path) -> None:
    """Remove what processes that have ended left in ``folder``, as far as that can be done.

    It is for folders whose writers take no lock: what a running process is writing stays.
    """
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.name.startswith(TEMPORARY_PREFIX) and not _runs(entry.name):
                entry.unlink(missing_ok=True)


def _runs(temporary: str) -> bool:
    """Whether the process that a temporary file is named after runs, or may run."""
    process = temporary.removeprefix(TEMPORARY_PREFIX).partition("-")[0]
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError, OverflowError):
        return True
    return True


class Lock:
    """An exclusive lock on a file, for ``with``; the system frees it when its process ends, however it ends.

    The file itself stays: removing it would let two processes hold two locks of one name.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._handle: int | None = None

    def __enter__(self) -> Self:
        import fcntl  # noqa: PLC0415 - only writers lock, and it exists on POSIX alone

        with _reported("lock", self._path):
            make_folders(self._path.parent)
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            try:
                deadline = time.monotonic() + self._timeout
                while True:
                    try:
                        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    except BlockingIOError:
                        if time.monotonic() >= deadline:
                            raise self._held(handle) from None
                    time.sleep(_POLL_SECONDS)
                # as long as any process's id: a file that is made shorter is made to wait for the disk by some systems
                os.pwrite(handle, f"{os.getpid():<{_ID_LENGTH}}\n".encode(), 0)
            except BaseException:
                os.close(handle)
                raise
        self._handle = handle
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _held(self, handle: int) -> ConflictError:
        holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
        by = f" by process {holder}" if holder.isdigit() else ""
        message = f"another command is writing here: {self._path} is held{by}"
        return ConflictError(message, code="locked", hint="wait for it to end, then run the command again")


@contextmanager
def _reported(verb: str, path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise _named(verb, path, error) from error


def _named(verb: str, path: Path | str, error: OSError | ValueError) -> PawlError:
    """Return pawl's error for what the system says of a file."""
    if isinstance(error, FileNotFoundError):
        return NotFoundError(f"{path} does not exist", code="file-not-found")
    if isinstance(error, NotADirectoryError):
        message = f"{path} does not exist: a file stands where a folder is named"
        return NotFoundError(message, code="file-not-found")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    hint = _LOCK_HINT if verb == "lock" else None
    return InvalidError(f"cannot {verb} {path}: {reason}", code=f"cannot-{verb}", hint=hint)


def _refuse_outside(root: Path, path: Path | str) -> None:
    if _plainly_below(str(root), str(path)):
        return
    try:
        real = Path(path).resolve()
        # what is still a link after all were followed is a loop, which later Pythons give back as it is
        within = real.is_relative_to(root.resolve()) and not any(part.is_symlink() for part in (real, *real.parents))
    except OSError as error:
        if error.errno in {errno.EIO, errno.EACCES, errno.ENOMEM}:  # where it leads could not be seen
            raise InvalidError(f"cannot read {path}: {error.strerror}", code="cannot-read") from error
        within = False
    except (RuntimeError, ValueError):  # the same loop to earlier ones
        within = False
    if not within:
        raise InvalidError(f"{path} leads out of {root}", code="path-outside")


def _plainly_below(root: str, path: str) -> bool:
    """Whether a path is below a root by its name alone, with no link on the way: most are, and this is quickly seen."""
    if not path.startswith(f"{root}/"):
        return False
    here, parts = root, path[len(root) + 1 :].split("/")
    if ".." in parts:
        return False
    for part in parts:
        here = f"{here}/{part}"
        try:
            if stat.S_ISLNK(os.lstat(here).st_mode):
                return False
        except FileNotFoundError:  # nothing is below it either
            return True
        except (OSError, ValueError):
            return False
    return True


def _made_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it, and return the folders whose names are not synced yet."""
    if folder.is_dir():
        return []
    above = _made_folders(folder.parent)
    step("files.mkdir")
    folder.mkdir(exist_ok=True)
    return [*above, folder.parent]


def _mode_of(path: Path) -> int | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise InvalidError(f"{path} is not a regular file and is not replaced", code="not-a-file")
    return stat.S_IMODE(status.st_mode)


def _write_temporary(path: Path, data: bytes, mode: int | None) -> Path:
    """Write a file beside ``path``, with ``mode`` where it is to have one of its own; nothing waits for the disk."""
    temporary = path.parent / f"{TEMPORARY_PREFIX}{os.getpid()}-{os.urandom(6).hex()}"
    step("files.open")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(temporary, flags, 0o666 if mode is None else mode)
    try:
        with os.fdopen(handle, "wb") as file:
            step("files.write")
            file.write(data)
        if mode is not None:
            temporary.chmod(mode)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _sync(paths: Sequence[tuple[Path, Path]]) -> None:
    """Sync files and folders, each with what it is called in an error: a disk takes about as long for one as for some
    that are asked for at once."""
    for path, named in paths:
        with _reported("write", named):
            step("files.fsync-folder" if path.is_dir() else "files.fsync")
    waiting, errors = list(paths), []

    def work() -> None:
        while waiting:
            with suppress(IndexError):  # another thread took the last one
                path, named = waiting.pop()
                try:
                    _sync_one(path, named)
                except PawlError as error:
                    errors.append(error)

    helpers = _threads(work, min(len(paths), _AT_ONCE) - 1)
    work()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]


def _threads(work: Callable[[], None], count: int) -> list[Thread]:
    if count < 1:
        return []
    from threading import Thread  # noqa: PLC0415 - readers sync nothing

    threads = [Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def _sync_one(path: Path, named: Path) -> None:
    with _reported("write", named):
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in {errno.EINVAL, errno.ENOTSUP} or not path.is_dir():
                raise  # there are file systems that cannot sync a folder
        finally:
            os.close(handle)
