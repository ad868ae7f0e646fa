"""A workspace on disk: the only place that knows the folder names.

Reads files and journals and hands out values; everything that was stored by pawl is checked against its digest before
anybody sees it. Writing is done by ``releases.applying`` with the paths from here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pawl.canonical import canonical_bytes, sha256
from pawl.errors import IntegrityError, InvalidError, NotFoundError, PawlError, UsageError
from pawl.ids import REGISTRY_JOURNAL, Channel, Digest, Name, Ref, Serial, parse_channel, parse_ref
from pawl.io.files import inside, read_bounded, replace
from pawl.problems import Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.catalog import Catalog, Published, fold_registry
from pawl.registry.channels import ChannelState, Pin, empty_channel, fold_channel, read_projection
from pawl.registry.journal import MAX_RECORD_BYTES, Record, chain, damaged, unseal
from pawl.registry.signatures import claims, only_verified, signature_of, signed_of

MARKER = "registry/registry.yaml"
MAX_SOURCE_BYTES = 256 * 1024
MAX_DOCUMENT_BYTES = 16 * MAX_SOURCE_BYTES
"""Of a document in its canonical form, in which a character of a source can take six."""
_DIGITS = 6
_KEPT = ("procedures", "conformance", "registry", "releases", ".pawl", ".git")

_HARMLESS = frozenset({".gitkeep", ".gitignore", ".gitattributes", ".DS_Store"})
"""Hidden files that nobody takes for a source."""


@dataclass(frozen=True, slots=True)
class Workspace:
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
        ignore = self.private / ".gitignore"
        if self.private.is_symlink() or (self.private.exists() and not self.private.is_dir()):
            message = f"{self.private} is no folder of its own, and the lock and the ledger belong into one"
            raise InvalidError(message, code="path-outside", hint="move it away; pawl makes the folder")
        if not ignore.exists():
            self.private.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError), ignore.open("x", encoding="utf-8") as file:  # not through a link
                file.write("*\n")
        return self.private

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
        return self.private / "runs.db"

    def procedure_file(self, name: Name) -> Path:
        return self.procedures / f"{name}.yaml"

    def frozen_file(self, ref: Ref) -> Path:
        return self.versions / ref.name / f"{ref.version}.yaml"

    def projection_file(self, channel: Channel) -> Path:
        return self.projections / f"{channel}.json"

    def record_file(self, journal: str, serial: int) -> Path:
        return self.releases / journal / f"{serial:0{_DIGITS}d}.json"

    def relative(self, path: Path) -> str:
        """Return a path as people write it: from the root, with forward slashes."""
        root, text = f"{self.root}/", str(path)
        # asked for every file of a workspace, and pathlib takes its time
        return text[len(root) :] if text.startswith(root) else path.relative_to(self.root).as_posix()

    def sources(self, folder: Path) -> Iterator[Path]:
        """Yield every file and symbolic link below a source folder in a stable order; hidden ones are passed over.

        A folder that is named like a file is yielded too, so that whoever reads it says what it is.
        """
        for here, folders, files in os.walk(folder):
            folders.sort()
            no_folders = {name for name in folders if name.endswith(".yaml") or Path(here, name).is_symlink()}
            folders[:] = [name for name in folders if not name.startswith(".") and name not in no_folders]
            for name in sorted((*files, *no_folders)):
                if not name.startswith("."):
                    yield Path(here, name)

    def hidden(self, folder: Path) -> Iterator[Path]:
        """Yield what ``sources`` passes over below a folder for its name: hidden files, and hidden folders as one."""
        for here, folders, files in os.walk(folder):
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

    # Journals and what they say

    def journal(self, journal: str) -> tuple[Record, ...]:
        """Return a whole journal, checked; empty where there is none."""
        return chain(journal, ((serial, self._record_data(journal, serial)) for serial in self._serials(journal)))

    def newest(self, journal: str) -> Record | None:
        """Return the newest record alone, checked by its own digest."""
        serials = self._serials(journal)
        return unseal(self._record_data(journal, serials[-1]), journal=journal, serial=serials[-1]) if serials else None

    def catalog(self) -> Catalog:
        return fold_registry(self.journal(REGISTRY_JOURNAL))

    def channel(self, channel: Channel) -> ChannelState:
        """Return a channel with its whole past, folded from its journal."""
        return fold_channel(channel, self.journal(channel))

    def served(self, channel: Channel) -> ChannelState:
        """Return what a channel serves now: from the projection where the newest record vouches for it.

        A missing projection is made up from the journal. One that was edited is an ``IntegrityError``; one that a
        killed command left behind its journal is passed over.
        """
        newest = self.newest(channel)
        path = self.projection_file(channel)
        if newest is None:
            if path.exists():
                raise damaged(channel, 1, "the channel has a projection and no journal")
            return empty_channel(channel)
        if not path.exists():
            return self.channel(channel)
        data = read_bounded(path, limit=MAX_RECORD_BYTES, root=self.root)
        if _is_behind(data, newest):
            return self.channel(channel)
        return read_projection(data, channel, newest)

    # Signatures

    def signers(self) -> str | None:
        """Return registry/allowed_signers as it is in the work tree, or ``None`` where there is none."""
        try:
            return self.read_source(self.signers_file).decode("utf-8")
        except NotFoundError:
            return None
        except UnicodeDecodeError as error:
            where = self.relative(self.signers_file)
            message = f"{where} is no UTF-8"
            problem = Problem(code="not-utf8", message=message, path=where)
            raise InvalidError(message, problems=(problem,)) from error

    def attested(
        self,
        state: ChannelState,
        adopted: str | None,
        at: str,
        *,
        approvals: bool = True,
        known: dict[Any, bool] | None = None,
    ) -> ChannelState:
        """Return a channel for judging: verified is in it only what a signature vouches for at ``at``.

        A key vouches that the adopted signers and those of the work tree both allow: to add one takes an adoption, to
        take one out does not. What cannot be looked at vouches for nothing. ``approvals`` says whether they matter.
        ``known`` keeps the answers, for whoever asks about the same records many times.
        """
        claimed = claims(state, at, approvals=approvals)
        if not claimed:
            return state
        answers = {} if known is None else known
        for serial in claimed:
            key = (state.channel, serial, adopted, at)
            if key not in answers:
                answers[key] = self._vouched(state.channel, serial, adopted, at)
        held = {serial for serial in claimed if answers[state.channel, serial, adopted, at]}
        return only_verified(state, held, approvals=approvals)

    def vouches(self, who: str | None, data: bytes, signature: str | None, adopted: str | None, at: str) -> bool:
        """Whether a signature of ``data`` is by a key that both lists of signers allow ``who`` at ``at``."""
        from pawl.io.signatures import is_by  # noqa: PLC0415 - few channels have anything signed

        if adopted is None or signature is None or not who:
            return False
        try:
            present = self.signers()
            if present is None:
                return False
            lists = dict.fromkeys((adopted, present))
            return all(is_by(signers.encode(), who, data, signature, at) for signers in lists)
        except (PawlError, ValueError):
            return False

    def _vouched(self, channel: Channel, serial: Serial, adopted: str | None, at: str) -> bool:
        try:
            record = unseal(self._record_data(channel, serial), journal=channel, serial=serial)
            data = signed_of(record)
        except (PawlError, ValueError):
            return False
        return self.vouches(record.actor.email, data, signature_of(record), adopted, at)

    def _serials(self, journal: str) -> list[int]:
        folder = self.releases / journal
        try:
            names = [entry.name for entry in os.scandir(folder) if not entry.name.startswith(".")]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise damaged(journal, 1, f"releases/{journal} cannot be listed: {error.strerror}") from error
        serials = sorted(int(name[:-5]) for name in names if _is_record_name(name))
        strange = sorted(name for name in names if not _is_record_name(name))
        if strange:
            raise damaged(journal, len(serials) + 1, f"{strange[0]} is no record of it")
        return serials

    def _record_data(self, journal: str, serial: int) -> bytes:
        try:
            return read_bounded(self.record_file(journal, serial), limit=MAX_RECORD_BYTES, root=self.root)
        except PawlError as error:
            raise damaged(journal, serial, error.message) from error

    # Frozen versions

    def frozen(self, version: Published | Pin) -> bytes:
        """Return the frozen bytes of a version, checked against the digest that was recorded."""
        path = self.frozen_file(version.ref)
        try:
            data = read_bounded(path, limit=MAX_SOURCE_BYTES, root=self.root)
        except NotFoundError:
            raise self._not_frozen(version, "its file is gone") from None
        found = sha256(data)
        if found != version.file:
            raise self._not_frozen(version, f"its file is {found}, published was {version.file}")
        return data

    def procedure(self, version: Published | Pin) -> Procedure:
        """Return a published version, its frozen bytes and its document checked against their digests."""
        data = self.frozen(version)
        document = self._cached(version.digest) or self._parsed(version, data)
        return Procedure(
            kind=version.kind,
            name=version.name,
            version=version.version,
            document=document,
            digest=version.digest,
        )

    def _parsed(self, version: Published | Pin, data: bytes) -> Any:
        from pawl.io.strict_yaml import Unreadable, load  # noqa: PLC0415 - readers of cached documents need no YAML

        try:
            document = load(data)
        except Unreadable as error:
            raise self._not_frozen(version, "its file no longer reads") from error
        canonical = canonical_bytes(document)
        if sha256(canonical) != version.digest:
            raise self._not_frozen(version, "its document is not the one that was published")
        with suppress(OSError, PawlError):
            self.make_private()
            self._cache_file(version.digest).parent.mkdir(parents=True, exist_ok=True)
            replace(self._cache_file(version.digest), canonical, durable=False)
        return document

    def _cached(self, digest: Digest) -> Any:
        try:
            data = read_bounded(self._cache_file(digest), limit=MAX_DOCUMENT_BYTES)
        except PawlError:
            return None
        return json.loads(data) if sha256(data) == digest else None

    def _cache_file(self, digest: Digest) -> Path:
        return self.private / "documents" / f"{digest.removeprefix('sha256:')}.json"

    def _not_frozen(self, version: Published | Pin, why: str) -> IntegrityError:
        path = self.relative(self.frozen_file(version.ref))
        message = f"{version.ref} is not as it was published: {why}"
        hint = f"restore the file: git checkout -- {path}"
        return IntegrityError(
            message, problems=(Problem(code="frozen-changed", message=message, path=path, hint=hint),)
        )


def find_workspace(start: Path) -> Workspace:
    """Return the workspace that holds ``start``, or raise ``NotFoundError``."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / MARKER).is_file():
            return Workspace(folder)
    raise NotFoundError(
        f"no workspace here: neither {start} nor a folder above it has a {MARKER}",
        code="no-workspace",
        hint="make one with: pawl init",
    )


def check_output(path: Path) -> Path:
    """Return a path that an answer may be written to; ``UsageError`` for one among a workspace's own files."""
    try:
        workspace = find_workspace(path.absolute().parent)
    except NotFoundError:
        return path
    if workspace.holds(path):
        message = f"{path} is among the workspace's own files, which no output replaces"
        raise UsageError(message, code="output-inside", hint="write it somewhere else")
    return path


def _is_record_name(name: str) -> bool:
    stem, dot, ending = name.partition(".")
    return dot + ending == ".json" and stem.isascii() and stem.isdigit() and f"{int(stem):0{_DIGITS}d}" == stem


def _is_behind(data: bytes, newest: Record) -> bool:
    """Whether a projection is that of an earlier record: a command was killed between the record and the projection."""
    try:
        fields = json.loads(data)
        return isinstance(fields["serial"], int) and fields["serial"] < newest.serial
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
