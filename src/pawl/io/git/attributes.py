"""Whether Git stores files byte for byte, seen without asking it.

A file without a carriage return is stored as it is unless an attribute names a filter, an encoding or ``ident`` for it.
So all that may set attributes here is looked through for those words: the files of attributes in the folders on the way
to a file, the repository's own, the user's and the machine's. Where one of them holds such a word, for whichever file,
or cannot be read, Git is asked to store the file. Attributes that the index has and the work tree lacks hold as well;
they are seen only by a Git that works on an index.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from pawl.io.git.objects import Objects
from pawl.io.git.place import Place
from pawl.io.git.settings import Settings
from pawl.io.git.staged import Staged

_CHANGES = re.compile(rb"filter|encoding|ident")
_FILE = b".gitattributes"
_MOST_BYTES = 1_000_000


def hidden_in_index(place: Place, objects: Objects, settings: Settings, names: Iterable[bytes]) -> bool:
    """Whether the index has, or may have, a file of attributes on the way to one of these files that is not here."""
    lacking = [folder for folder, path in _on_the_way(place, names).items() if not os.path.lexists(path)]
    staged = Staged(place, settings.digest_size)
    if staged.whole:
        return staged.may_have_attributes(lacking)
    return any(b"\n" in folder or objects.read(b":0:" + folder + _FILE) is not None for folder in lacking)


def stored_as_they_are(place: Place, settings: Settings, names: Iterable[bytes]) -> bool:
    """Whether files of these names, that have no carriage return, are stored byte for byte."""
    chosen = settings.config.get("core.attributesfile", "")
    if chosen.startswith("%") or "attr.tree" in settings.config:
        return False
    here = list(_on_the_way(place, names).values())
    if any(path.is_symlink() for path in here):  # Git does not follow these
        return False
    own = (place.common / "info" / "attributes", place.git_dir / "info" / "attributes")
    users = [place.root / Path(chosen).expanduser()] if chosen else []
    return all(map(_changes_nothing, [*here, *own, *users, *_defaults(settings)]))


def _on_the_way(place: Place, names: Iterable[bytes]) -> dict[bytes, Path]:
    """Return the file of attributes of each folder on the way; a folder has a slash at its end, and b"" is the root."""
    found = {b"": place.root / ".gitattributes"}
    for name in names:
        folder = name.rpartition(b"/")[0]
        while folder and folder + b"/" not in found:
            found[folder + b"/"] = place.root / os.fsdecode(folder + b"/" + _FILE)
            folder = folder.rpartition(b"/")[0]
    return found


def _defaults(settings: Settings) -> Iterator[Path]:
    """Yield where the user's attributes and the machine's are, as Git is usually built."""
    for key in ("GIT_ATTR_SYSTEM", "GIT_ATTR_GLOBAL"):  # newer versions of Git say where
        if key in settings.said:
            yield Path(settings.said[key])
    yield Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()) / "git" / "attributes"
    yield Path("/etc/gitattributes")
    program = shutil.which("git")
    if program is not None:
        for prefix in {Path(program).parent.parent, Path(os.path.realpath(program)).parent.parent}:
            yield prefix / "etc" / "gitattributes"


def _changes_nothing(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            return False
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return len(text) < _MOST_BYTES and _CHANGES.search(text) is None
