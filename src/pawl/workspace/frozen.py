"""Frozen versions as they are on disk: nobody sees one that is not as it was published."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import Any

from pawl.canonical import canonical_bytes, sha256
from pawl.errors import IntegrityError, NotFoundError, PawlError
from pawl.ids import Digest, Ref
from pawl.io.file_marks import Mark, mark_of, same_mark
from pawl.io.files import read_bounded, replace
from pawl.problems import Problem
from pawl.procedures.procedure import Procedure
from pawl.registry.catalog import Published
from pawl.registry.channels_state import Pin
from pawl.values import dataclass
from pawl.workspace.places import MAX_SOURCE_BYTES, Places

MAX_DOCUMENT_BYTES = 16 * MAX_SOURCE_BYTES
"""Of a document in its canonical form, in which a character of a source can take six."""

_LEFT_OUT = "; or git sparse-checkout add registry/versions"
"""For a file that is gone: Git checks out none that a sparse checkout left out."""


@dataclass(frozen=True, slots=True)
class FrozenVersions(Places):
    """Published versions, each checked against its digests whenever it is read."""

    def frozen(self, version: Published | Pin) -> bytes:
        """Return the frozen bytes of a version, checked against the digest that was recorded."""
        path = self.frozen_file(version.ref)
        try:
            data = read_bounded(path, limit=MAX_SOURCE_BYTES, root=self.root)
        except NotFoundError:
            raise self._not_frozen(version, "its file is gone", _LEFT_OUT) from None
        found = sha256(data)
        if found != version.file:
            raise self._not_frozen(version, f"its file is {found}, published was {version.file}")
        return data

    def frozen_mark(self, ref: Ref, *, settled: bool = False) -> Mark | None:
        """Return the mark of a version's frozen file; with ``settled`` only one that no change can have escaped."""
        now = time.time_ns()
        try:
            status = os.lstat(self.frozen_file(ref))
        except OSError:
            return None
        return mark_of(status, now) if settled else same_mark(status)

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
            path = self.to_write(self.document_file(version.digest))
            replace(path, canonical, durable=False)
        return document

    def _cached(self, digest: Digest) -> Any:
        try:
            data = read_bounded(self.document_file(digest), limit=MAX_DOCUMENT_BYTES)
        except PawlError:
            return None
        return json.loads(data) if sha256(data) == digest else None

    def _not_frozen(self, version: Published | Pin, why: str, otherwise: str = "") -> IntegrityError:
        path = self.relative(self.frozen_file(version.ref))
        message = f"{version.ref} is not as it was published: {why}"
        hint = f"restore the file: git checkout -- {path}{otherwise}"
        return IntegrityError(
            message, problems=(Problem(code="frozen-changed", message=message, path=path, hint=hint),)
        )
