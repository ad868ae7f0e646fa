"""Where everything is in a workspace: the only place that knows the folder names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pawl.errors import InvalidError
from pawl.ids import Channel, Digest, Name, Ref, parse_channel, parse_ref
from pawl.io.files import inside, make_folders, read_bounded
from pawl.values import dataclass

MARKER = "registry/registry.yaml"
MAX_SOURCE_BYTES = 256 * 1024
_DIGITS = 6
_KEPT = ("procedures", "conformance", "registry", "releases", ".pawl", ".git")

_HARMLESS = frozenset({".gitkeep", ".gitignore", ".gitattributes", ".DS_Store"})
"""Hidden files that nobody takes for a source."""


@dataclass(frozen=True, slots=True)
class Places:
    """A folder with a registry/registry.yaml; all other names are derived from it."""

    root: Path

    @property
    def settings_file(self) -> Path:
        return self.root / MARKER

    @property
    def procedures(self) -> Path:
        return self.root / "procedures"

    @property
    def conformance(self) -> Path:
        return self.root / "conformance"

    @property
    def policies(self) -> Path:
        return self.root / "registry" / "policies"

    @property
    def signers_file(self) -> Path:
        """Whose SSH keys are whose, in OpenSSH's form of ALLOWED SIGNERS."""
        return self.root / "registry" / "allowed_signers"

    @property
    def versions(self) -> Path:
        return self.root / "registry" / "versions"

    @property
    def projections(self) -> Path:
        return self.root / "registry" / "channels"

    @property
    def releases(self) -> Path:
        return self.root / "releases"

    @property
    def evidence(self) -> Path:
        return self.releases / "evidence"

    @property
    def private(self) -> Path:
        """Caches, the lock and the default ledger: git-ignored."""
        return self.root / ".pawl"

    def make_private(self) -> Path:
        """Make the private folder, which hides itself from Git like other caches do."""
        private = self.private
        with suppress(FileNotFoundError, NotADirectoryError):
            if not stat.S_ISDIR(os.lstat(private).st_mode):
                message = f"{private} is no folder of its own, and the lock and the ledger belong into one"
                raise InvalidError(message, code="path-outside", hint="move it away; pawl makes the folder")
        ignore = private / ".gitignore"
        if not os.path.exists(ignore):  # noqa: PTH110 - asked by every command, and pathlib takes its time
            make_folders(private)
            with suppress(FileExistsError), ignore.open("x", encoding="utf-8") as file:  # not through a link
                file.write("*\n")
        return private

    def to_write(self, path: Path) -> Path:
        """Return a path that is about to be written; ``InvalidError`` where a link on the way leads outside."""
        return inside(self.root, self.relative(path))

    def holds(self, path: Path) -> bool:
        """Whether a path is among what pawl or Git keeps, or among the sources: nothing else is written there."""
        try:
            first = path.resolve().relative_to(self.root.resolve()).parts[:1]
        except (OSError, RuntimeError, ValueError):
            return False
        return first in {(name,) for name in _KEPT}

    @property
    def lock_file(self) -> Path:
        return self.private / "lock"

    @property
    def ledger_file(self) -> Path:
        """The default ledger; ``InvalidError`` for a link, through which somebody else's file would be written."""
        path = self.private / "runs.db"
        if path.is_symlink():
            message = f"{path} is a link, and runs are recorded in a file of the workspace's own"
            raise InvalidError(message, code="path-outside", hint="move it away; pawl makes the file")
        return path

    def document_file(self, digest: Digest) -> Path:
        """Where the canonical form of a document is kept, so that its YAML is read once."""
        return Path(f"{self.root}/.pawl/documents/{digest.removeprefix('sha256:')}.json")

    def procedure_file(self, name: Name) -> Path:
        return self.procedures / f"{name}.yaml"

    def frozen_file(self, ref: Ref) -> Path:
        return Path(f"{self.root}/registry/versions/{ref.name}/{ref.version}.yaml")

    def projection_file(self, channel: Channel) -> Path:
        return Path(f"{self.root}/registry/channels/{channel}.json")

    def record_file(self, journal: str, serial: int) -> Path:
        return Path(self.record_path(journal, serial))

    def journal_folder(self, journal: str) -> str:
        """Return the folder of a journal as text: it is asked for at every look, and pathlib takes its time."""
        return f"{self.root}/releases/{journal}"

    def record_path(self, journal: str, serial: int) -> str:
        """Return ``record_file`` as text."""
        return f"{self.root}/releases/{journal}/{serial:0{_DIGITS}d}.json"

    def relative(self, path: Path) -> str:
        """Return a path as people write it: from the root, with forward slashes."""
        root, text = f"{self.root}/", str(path)
        # asked for every file of a workspace, and pathlib takes its time
        return text[len(root) :] if text.startswith(root) else path.relative_to(self.root).as_posix()

    def sources(self, folder: Path) -> Iterator[Path]:
        """Yield every file and symbolic link below a source folder in a stable order; hidden ones are passed over.

        A folder that is named like a file is yielded too, so that whoever reads it says what it is.
        """
        for here, folders, files in os.walk(folder, onerror=_refuse_unlisted):
            folders.sort()
            no_folders = {name for name in folders if name.endswith(".yaml") or Path(here, name).is_symlink()}
            folders[:] = [name for name in folders if not name.startswith(".") and name not in no_folders]
            for name in sorted((*files, *no_folders)):
                if not name.startswith("."):
                    yield Path(here, name)

    def hidden(self, folder: Path) -> Iterator[Path]:
        """Yield what ``sources`` passes over below a folder for its name: hidden files, and hidden folders as one."""
        for here, folders, files in os.walk(folder, onerror=_refuse_unlisted):
            hidden = {name for name in (*folders, *files) if name.startswith(".")}
            folders[:] = sorted(set(folders) - hidden)
            yield from (Path(here, name) for name in sorted(hidden - _HARMLESS))

    def read_source(self, path: Path) -> bytes:
        """Return the bytes of a file that people wrote; links that lead outside are refused."""
        return read_bounded(path, limit=MAX_SOURCE_BYTES, root=self.root)

    def channels(self) -> tuple[Channel, ...]:
        """Return every channel that has a journal."""
        found = []
        if self.releases.is_dir():
            for entry in sorted(os.scandir(self.releases), key=lambda item: item.name):
                with suppress(ValueError):
                    if entry.is_dir():
                        found.append(parse_channel(entry.name))
        return tuple(found)

    def projected(self) -> tuple[Channel, ...]:
        """Return every channel that has a projection; none where they cannot be listed."""
        found = []
        with suppress(OSError):
            for name in sorted(os.listdir(self.projections)):  # noqa: PTH208 - asked by most commands, names alone
                with suppress(ValueError):
                    if name.endswith(".json"):
                        found.append(parse_channel(name.removesuffix(".json")))
        return tuple(found)

    def frozen_refs(self) -> Iterator[tuple[Ref | None, Path]]:
        """Yield every file under registry/versions/ with the version that it is a copy of, if its place says one."""
        for path in self.sources(self.versions):
            yield self.frozen_ref(self.relative(path)), path

    def frozen_ref(self, where: str) -> Ref | None:
        """Return the version whose frozen copy belongs at a path from the root, or None."""
        name, _, file = where.removeprefix("registry/versions/").rpartition("/")
        try:
            return parse_ref(f"{name}@{file.removesuffix('.yaml')}")
        except ValueError:
            return None


def is_record_name(name: str) -> bool:
    """Whether a file in a journal's folder is named like a record."""
    stem, dot, ending = name.partition(".")
    return dot + ending == ".json" and stem.isascii() and stem.isdigit() and f"{int(stem):0{_DIGITS}d}" == stem


def _refuse_unlisted(error: OSError) -> None:
    """A folder that is not there holds nothing; one that cannot be listed may hold anything, and is not passed over."""
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        raise InvalidError(f"cannot read {error.filename}: {error.strerror}", code="cannot-read") from error
