"""What Git is set to, read in one call: its configuration, and who commits as Git itself puts it together."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pawl.errors import InvalidError
from pawl.io.git.process import Running, complaint, start

_DATE = re.compile(r" [0-9]+(?= [+-][0-9]{4}$)")
_FALSE = frozenset({"false", "no", "off", "0", ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Configuration by lower-case key, and what Git says besides by its own names, such as who commits."""

    config: Mapping[str, str]
    said: Mapping[str, str]

    def on(self, key: str, *, default: bool) -> bool:
        """Whether a setting is true; what is no truth value counts as true."""
        return self.config[key].casefold() not in _FALSE if key in self.config else default

    @property
    def algorithm(self) -> str:
        """The digest that names objects, as hashlib calls it."""
        return self.config.get("extensions.objectformat", "sha1").casefold()

    @property
    def digest_size(self) -> int:
        """The bytes of an object's id."""
        return 32 if self.algorithm == "sha256" else 20

    @property
    def author(self) -> tuple[str, str] | None:
        """Name and address of who is the author of a commit; None if Git was not told."""
        name, opened, rest = self._line("author").rpartition(" <")
        if not opened or not all(self._told("author", part) for part in ("name", "email")):
            return None
        shown = os.fsencode(name).decode("utf-8", "replace")
        return shown, os.fsencode(rest.partition(">")[0]).decode("utf-8", "replace")

    @property
    def known(self) -> bool:
        """Whether Git was told who commits, name and address, of author and committer."""
        return all(self._told(role, part) for role in ("author", "committer") for part in ("name", "email"))

    def line(self, role: str, now: int) -> bytes:
        """Return author or committer as it stands in a commit made at ``now``, in seconds; a date that the environment
        sets stays."""
        line = self._line(role)
        if not os.environ.get(f"GIT_{role.upper()}_DATE"):
            line = _DATE.sub(f" {now}", line)
        return os.fsencode(line)

    def _line(self, role: str) -> str:
        return self.said[f"GIT_{role.upper()}_IDENT"]

    def _told(self, role: str, part: str) -> bool:
        """A name that Git guesses from the machine is nobody's."""
        if part == "name" and self._line(role).startswith(("<", " <")):
            return False
        said = os.environ.get(f"GIT_{role.upper()}_{part.upper()}") or (part == "email" and os.environ.get("EMAIL"))
        return bool(said or self.config.get(f"{role}.{part}") or self.config.get(f"user.{part}"))


class Asking:
    """What Git is set to, asked once by a process that may begin before the answer is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: Running | None = None
        self._settings: Settings | None = None

    def start(self) -> None:
        """Start the process unless it was started; raises ``InvalidError`` where there is no Git."""
        if self._settings is None and self._running is None:
            self._running = self._started()

    def settings(self) -> Settings:
        """Return the settings; raises ``InvalidError`` where Git cannot read its own, and asks again the next time."""
        if self._settings is None:
            running, self._running = self._running or self._started(), None
            with running:
                self._settings = _read(running.result())
        return self._settings

    def close(self) -> None:
        """End the process if nobody waited for its answer."""
        if self._running is not None:
            self._running.close()
            self._running = None

    def _started(self) -> Running:
        return start(self._folder, "var", "-l", answers=(0, 1, 128))


def _read(done: subprocess.CompletedProcess[bytes]) -> Settings:
    if done.returncode:
        raise InvalidError(f"Git refused: {complaint(done.stderr)}", code="git-failed")
    config: dict[str, str] = {}
    said: dict[str, str] = {}
    for line in done.stdout.split(b"\n"):
        key, is_set, value = line.partition(b"=")
        if b"." in key:
            config[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace") if is_set else "true"
        else:
            said[os.fsdecode(key)] = os.fsdecode(value)
    if not {"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} <= said.keys():
        raise InvalidError("Git did not say who commits", code="git-failed")
    return Settings(config=config, said=said)
