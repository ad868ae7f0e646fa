"""Running Git: one place for the command line, the environment and the reading of failures.

Git runs as a child process with an environment of its own: what a calling hook sets to aim Git at another repository
(GIT_DIR, GIT_INDEX_FILE, ...) is taken out, which no option of Git can do; who commits and how SSH connects stays. No
hooks run. Arguments are bytes or fixed text; text from users is never in the place of an option.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from pawl.errors import InvalidError

TIMEOUT_SECONDS = 300
"""Signing may wait for a person; nothing else takes that long."""

ANY_END = range(-64, 256)
"""Every exit code and every signal, for steps whose outcome the caller looks at."""

_OPTIONS = (
    "--literal-pathspecs",
    "--no-pager",
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "core.safecrlf=false"),  # what is written here has LF; how it is checked out is the user's choice
    *("-c", "user.useConfigOnly=true"),  # a name guessed from the host is nobody's
)
_KEPT_PREFIXES = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_SSH",
    "GIT_SSL_",
    "GIT_HTTP_",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_TRACE",
)
_KEPT = frozenset(
    {
        "GIT_ALLOW_PROTOCOL",
        "GIT_ASKPASS",
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
        "GIT_PROXY_SSL_CERT",
        "GIT_TERMINAL_PROMPT",
    }
)


def environment(inherited: Mapping[str, str], **more: str) -> dict[str, str]:
    """Return the environment for Git: ``inherited`` without what redirects it, messages in English, ``more`` on top."""
    kept = {
        name: value
        for name, value in inherited.items()
        if not name.startswith("GIT_") or name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }
    return {**kept, "LC_ALL": "C", "LANGUAGE": "C", "GIT_OPTIONAL_LOCKS": "0", **more}


def command(*arguments: str | bytes) -> list[str | bytes]:
    """Return the command line for Git with the fixed options."""
    return ["git", *_OPTIONS, *arguments]


class _Process(subprocess.Popen[bytes]):
    """A process whose end is waited for without looking every now and then, where the system can tell."""

    def wait(self, timeout: float | None = None) -> int:
        if timeout is not None and self.returncode is None and hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):  # an old kernel, or no descriptor is left: then by looking
                descriptor = os.pidfd_open(self.pid)
                try:
                    polling = select.poll()
                    polling.register(descriptor, select.POLLIN)
                    ended = polling.poll(max(0, timeout) * 1000)
                finally:
                    os.close(descriptor)
                timeout = None if ended else 0
        return super().wait(timeout)


class Running:
    """A Git process that has been started; ``with`` ends it if nobody waited for its answer."""

    def __init__(self, process: subprocess.Popen[bytes], answers: Sequence[int], *, alone: bool = False) -> None:
        self._process = process
        self._answers = answers
        self._alone = alone

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process if it has not ended, with what it started where it is ``alone``; harmless when it has."""
        if self._process.returncode is None:
            if self._alone:
                with contextlib.suppress(ProcessLookupError, PermissionError):  # all of them have ended just now
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):  # not read to its end: a child of Git's may still hold the other end
                    pipe.close()
        self._process.wait()

    def result(self, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Give ``stdin`` and return the answer; an exit code that was not foreseen is an ``InvalidError``."""
        done = self.result_within(TIMEOUT_SECONDS, stdin)
        if done is None:
            raise InvalidError(f"Git did not end within {TIMEOUT_SECONDS} seconds", code="git-failed")
        return done

    def result_within(self, seconds: float, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes] | None:
        """Return the same, or None if there is no answer within ``seconds``."""
        try:
            stdout, stderr = self._process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        code = self._process.returncode
        done = subprocess.CompletedProcess(self._process.args, code, stdout, stderr)
        if code not in self._answers:
            hint = "run the command again" if code < 0 else None
            raise InvalidError(f"Git refused: {why(done)}", code="git-failed", hint=hint)
        return done


def start(
    folder: Path, *arguments: str | bytes, answers: Sequence[int] = (0,), alone: bool = False, **more: str
) -> Running:
    """Start Git in ``folder``; ``answers`` are the exit codes that are foreseen, ``more`` joins its environment.

    ``alone`` gives it a session of its own, without a terminal, that ends with it.
    """
    try:
        process = _Process(
            command(*arguments),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(os.environ, **more),
            start_new_session=alone,
        )
    except (OSError, ValueError) as error:
        raise InvalidError(f"Git cannot be run: {error}", code="git-missing") from error
    return Running(process, answers, alone=alone)


def run(
    folder: Path, *arguments: str | bytes, stdin: bytes = b"", answers: Sequence[int] = (0,), **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run Git in ``folder`` and return its answer; see ``start``."""
    with start(folder, *arguments, answers=answers, alone=False, **more) as running:
        return running.result(stdin)


def complaint(stderr: bytes) -> str:
    """Return what Git said on one line, without its ``fatal:``."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    said = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    return (
        "; ".join(line.removeprefix("fatal:").removeprefix("error:").strip() for line in said)[:400]
        or "no reason given"
    )


def why(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return on one line why Git failed: what it said, or which of its commands was ended by which signal."""
    if done.returncode >= 0:
        return complaint(done.stderr)
    words = iter(done.args[1 + len(_OPTIONS) :])
    name: str | bytes = ""
    for name in words:
        if name == "-c":
            next(words, None)
        elif not os.fsdecode(name).startswith("-"):
            break
    return f"git {os.fsdecode(name)} was ended by signal {-done.returncode} and said nothing more"
