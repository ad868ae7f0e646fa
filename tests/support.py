"""A small shop to test with: a workspace, the files of the refund story, and the real command line in process."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema_rs

import kept
from pawl.cli.commands import COMMANDS
from pawl.cli.main import run
from pawl.operations.output_schemas import ANSWERS, output_schema

FIRST = ("support/refund@1.0.0", "support/refund-draft@1.0.0")
SECOND = ("support/refund@2.0.0", "support/check-eligibility@1.0.0")


def git(root: Path, *words: str) -> str:
    """Run git in a folder and return what it prints."""
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def story(name: str) -> str:
    """Return a file of the refund story."""
    return resources.files("pawl.demo").joinpath("files", name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@contextlib.contextmanager
def soon(seconds: float = 10.0) -> Iterator[None]:
    """Fail where the block takes more time of the processor: far above what it needs, far below what goes wrong.

    It is not the time of the clock, so that it says the same on a busy machine.
    """
    started = time.process_time()
    yield
    assert time.process_time() - started < seconds


def in_process(*words: str) -> Ended:
    """Run the command line in this process, as its entry point does."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run(words)
        except SystemExit as ended:
            code = ended.code
    return Ended(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


def in_subprocess(*words: str, **more: Any) -> Ended:
    """Run the command line as a process of its own."""
    command = [sys.executable, "-m", "pawl", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **more)
    return Ended(done.returncode, done.stdout, done.stderr)


@cache
def validator(command: str) -> jsonschema_rs.Draft202012Validator:
    """Return what an answer of a command is held against."""
    return jsonschema_rs.Draft202012Validator(output_schema(command))


def command_of(words: tuple[str, ...]) -> str:
    """Return the command's name as its JSON says it."""
    bare = [word for word in words if word in COMMANDS or word.isalpha()]
    pair = " ".join(bare[:2])
    return pair if pair in ANSWERS else bare[0]


class Shop:
    """A workspace with shorthands. Every answer is checked against the command's JSON Schema."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def pawl(self, *words: str, code: int = 0) -> dict[str, Any]:
        """Run a command with -o json; its exit code must be ``code``, in the JSON too."""
        ended = in_process("-C", str(self.root), *words, "-o", "json")
        answer: dict[str, Any] = json.loads(ended.out)
        assert (code, code) == (ended.code, answer["exit_code"]), ended.out + ended.err
        command = command_of(words)
        if command in ANSWERS:
            schema = output_schema(command)
            validator(command).validate(answer)
            assert sorted(set(answer) - set(schema["properties"])) == [], f"pawl {command} says more than its schema"
        return answer

    def codes(self, answer: dict[str, Any], severity: str = "error") -> list[str]:
        """Return the codes of an answer's problems of one severity."""
        return [problem["code"] for problem in answer["problems"] if problem["severity"] == severity]

    def write(self, path: str, text: str) -> Path:
        """Write a file of the workspace."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def edit(self, path: str, *words: tuple[str, str]) -> None:
        """Exchange words in a file; each must be there."""
        text = self.read(path)
        for old, new in words:
            assert old in text
            text = text.replace(old, new)
        self.write(path, text)

    def start(self) -> None:
        """Write version 1 with its suites and the first policy."""
        self.write("registry/registry.yaml", story("registry.yaml"))
        self.write("registry/policies/refunds.yaml", story("policy-1.yaml"))
        self.write("procedures/support/refund-draft.yaml", story("refund-draft.yaml"))
        self.write("procedures/support/refund.yaml", story("refund-1.yaml"))
        self.write("conformance/refund-draft.yaml", story("suite-refund-draft.yaml"))
        self.write("conformance/refund.yaml", story("suite-refund-1.yaml"))

    def start_in_git(self) -> None:
        """Make a repository of it, and check the first version in."""
        git(self.root, "init", "-q", "-b", "main", "--template=")
        git(self.root, "config", "user.name", "Ada")
        git(self.root, "config", "user.email", "ada@example.invalid")
        self.start()
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "start")

    def second(self) -> None:
        """Write version 2, which checks eligibility first, with its suites."""
        self.write("procedures/support/check-eligibility.yaml", story("check-eligibility.yaml"))
        self.write("procedures/support/refund.yaml", story("refund-2.yaml"))
        self.write("conformance/check-eligibility.yaml", story("suite-check-eligibility.yaml"))
        self.write("conformance/refund.yaml", story("suite-refund-2.yaml"))
        self.write("conformance/refund-without-check.yaml", story("suite-refund-1-kept.yaml"))

    def adopt(self, reason: str = "rules") -> dict[str, Any]:
        return self.pawl("policy", "adopt", "--reason", reason)

    def promote(self, *refs: str, to: str, code: int = 0) -> dict[str, Any]:
        return self.pawl("promote", *refs, "--to", to, "--reason", "a release", code=code)

    def everywhere(self, *refs: str) -> None:
        """Promote to staging, then to production."""
        self.promote(*refs, to="staging")
        self.promote(*refs, to="production")

    def rollback(self, *words: str, channel: str = "production", code: int = 0) -> dict[str, Any]:
        return self.pawl("rollback", *words, "--channel", channel, "--reason", "errors went up", code=code)

    def publish_first(self) -> None:
        """Adopt the first policy, and publish version 1."""
        self.reach(Shop._publish_first)

    def _publish_first(self) -> None:
        self.adopt()
        self.pawl("publish")

    def release_first(self, *, anew: bool = False) -> None:
        """Adopt, publish and release version 1 everywhere.

        With ``anew`` by its commands in any case: for whoever has something open in the workspace, or counts.
        """
        self.reach(Shop._release_first, anew=anew)

    def _release_first(self) -> None:
        self.to_staging()
        self.promote(*FIRST, to="production")

    def to_staging(self) -> None:
        """Adopt, publish and bring version 1 to staging."""
        self.adopt()
        self.pawl("publish")
        self.promote(*FIRST, to="staging")

    def release_second(self, *, anew: bool = False) -> None:
        """Publish and release version 2 everywhere; ``anew`` is that of ``release_first``."""
        self.reach(Shop._release_second, anew=anew)

    def _release_second(self) -> None:
        self.second()
        self.pawl("publish")
        self.everywhere(*SECOND)

    def reach(self, make: Callable[[Shop], object], *, anew: bool = False) -> None:
        """Carry a set-up out, or copy what came of it before; ``make`` is a named function that needs nothing else."""
        if anew:
            make(self)
        else:
            kept.reach(self.root, f"{make.__module__}.{make.__qualname__}", lambda: make(self))

    def version(self, name: str, channel: str = "production") -> str:
        """Return what a channel serves."""
        found: str = self.pawl("resolve", name, "--channel", channel)["version"]
        return found

    def files(self, *folders: str) -> dict[str, bytes]:
        """Return every file below some folders with its bytes."""
        found = {}
        for folder in folders or ("registry", "releases"):
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file():
                    found[str(path.relative_to(self.root))] = path.read_bytes()
        return found
