"""Making way for a file in the work tree: what somebody wrote there is never lost.

Bytes that are published under some version of the name can always be had back, and so can committed bytes. Anything
else is replaced only on request, and a copy of it is kept first where no commit holds it.
"""

from __future__ import annotations

from contextlib import suppress

from pawl.canonical import digest_of, sha256
from pawl.errors import ConflictError, InvalidError, NotFoundError, PawlError
from pawl.ids import Name
from pawl.io.files import create
from pawl.io.strict_yaml import Unreadable, load
from pawl.operations.world import World
from pawl.workspace import Workspace


def in_the_way(workspace: Workspace, name: Name) -> bytes | None:
    """Return the bytes of a procedure's file, or ``None`` where there is none; nothing is read through a link."""
    path = workspace.procedure_file(name)
    if path.is_symlink():
        message = f"{workspace.relative(path)} is a link, and no file is written through one"
        raise InvalidError(message, code="not-a-file", hint="put a file of its own in its place")
    try:
        return workspace.read_source(path)
    except NotFoundError:
        return None


def make_way(workspace: Workspace, world: World, name: Name, here: bytes, *, take_place: bool) -> str | None:
    """Let go of ``here``, the bytes of a procedure's file, or raise; return where a copy was kept, if it had to be."""
    versions = world.catalog.versions_of(name)
    if sha256(here) in {item.file for item in versions}:
        return None
    committed = _committed(workspace, name)
    if committed and _digest(here) in {item.digest for item in versions}:
        return None
    where = workspace.relative(workspace.procedure_file(name))
    if not take_place:
        what = "holds what no published version of it does" if committed else "has changes that nothing else keeps"
        raise InvalidError(
            f"{where} {what}, and it is not replaced",
            code="work-tree-differs",
            hint="publish, commit or move it first; --replace keeps a copy under .pawl/replaced/",
        )
    return None if committed else _keep(workspace, name, here)


def _committed(workspace: Workspace, name: Name) -> bool:
    """Whether Git's last commit holds the file as it is."""
    from pawl.io import git  # noqa: PLC0415 - slow, and only asked where bytes are not published

    try:
        repository = git.find(workspace.root)
        if repository is None or repository.head() is None:
            return False
        return not repository.uncommitted([workspace.procedure_file(name)])
    except PawlError:  # a Git that does not answer vouches for nothing
        return False


def _digest(data: bytes) -> str | None:
    try:
        return digest_of(load(data))
    except (Unreadable, ValueError):
        return None


def _keep(workspace: Workspace, name: Name, data: bytes) -> str:
    copy = workspace.make_private() / "replaced" / f"{name}.{sha256(data).removeprefix('sha256:')[:16]}.yaml"
    with suppress(ConflictError):  # kept before
        create(workspace.to_write(copy), data)
    return workspace.relative(copy)
