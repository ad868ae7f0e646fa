"""What Git is set to, read in one call: its configuration, and who commits as Git itself puts it together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pawl.errors import InvalidError
from pawl.io.git.process import Running, complaint, start

_FALSE = frozenset({"false", "no", "off", "0", ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Configuration by lower-case key, and the lines of author and committer as they stand in a commit."""

    config: Mapping[str, str]
    author: bytes
    committer: bytes

    def on(self, key: str, *, default: bool) -> bool:
        """Whether a setting is true; what is no truth value counts as true."""
        return self.config[key].casefold() not in _FALSE if key in self.config else default

    @property
    def known(self) -> bool:
        """Whether Git was told who commits, name and address, of author and committer."""
        return all(self._told(role, part) for role in ("author", "committer") for part in ("name", "email"))

    def _told(self, role: str, part: str) -> bool:
        """A name that Git guesses from the machine is nobody's."""
        line = self.author if role == "author" else self.committer
        if part == "name" and line.startswith((b"<", b" <")):
            return False
        said = os.environ.get(f"GIT_{role.upper()}_{part.upper()}")
        return bool(said or self.config.get(f"{role}.{part}") or self.config.get(f"user.{part}"))


def start_reading(folder: Path) -> Running:
    """Start the process that tells; ``read`` takes its answer."""
    return start(folder, "var", "-l", answers=(0, 1, 128))


def read(running: Running) -> Settings:
    """Return the settings; raises ``InvalidError`` where Git cannot read its own."""
    with running:
        done = running.result()
    if done.returncode:
        raise InvalidError(f"Git refused: {complaint(done.stderr)}", code="git-failed")
    config: dict[str, str] = {}
    said: dict[bytes, bytes] = {}
    for line in done.stdout.split(b"\n"):
        key, is_set, value = line.partition(b"=")
        if b"." in key:
            config[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace") if is_set else "true"
        else:
            said[key] = value
    if not {b"GIT_AUTHOR_IDENT", b"GIT_COMMITTER_IDENT"} <= said.keys():
        raise InvalidError("Git did not say who commits", code="git-failed")
    return Settings(config=config, author=said[b"GIT_AUTHOR_IDENT"], committer=said[b"GIT_COMMITTER_IDENT"])
