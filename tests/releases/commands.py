"""Every command that writes, the workspace it is given, and what a workspace says afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pawl.ids import REGISTRY_JOURNAL
from pawl.workspace import Workspace
from people import become, with_people
from support import FIRST, SECOND, Shop, git

EVERY = "PAWL_CRASHES" in os.environ
"""Set it, and every command is killed and hindered in every way at every point: hours instead of minutes."""
STEP = 1 if EVERY else 4
"""Otherwise one in so many points, from the first on to the last, always the same ones."""
ON_STAGING = ("--channel", "staging", "--reason", "why")
WAIVE = ("--action", "promote", "--owner", "payments", "--for", "P7D")
TOOLS = {"tools": [{"name": "Lookup", "description": "Finds an order.", "inputSchema": {"type": "object"}}]}
FURTHER = ("deprecate", FIRST[1], "--reason", "a further command")
HALTED = ("halt", "support/refund-draft", *ON_STAGING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line, the workspace it starts from, and how it ends there."""

    base: str
    words: tuple[str, ...]
    code: int = 0
    repeats: bool = False
    """Whether the same words leave one more record each time."""
    code_again: int | None = None
    """How the same words end when it has happened, where that is otherwise."""
    who: str = "Ada"
    in_git: bool = False
    """Whether it takes who it is for from Git."""
    further: tuple[str, ...] = FURTHER
    """Another writing command, which is to work on whatever this one left."""

    @property
    def writes_one_file(self) -> bool:
        """Whether a file in its place is all that it does, with no record that it happened."""
        return self.words[0] in {"snapshot", "import", "new", "bump"}

    @property
    def in_ledger(self) -> bool:
        return self.words[0] == "run"


COMMANDS: Mapping[str, Command] = {
    "adopt": Command(base="started", words=("policy", "adopt", "--reason", "rules"), further=("publish",)),
    "publish": Command(
        base="adopted",
        words=("publish",),
        further=("freeze", "staging", "--for", "P7D", "--reason", "a further command"),
    ),
    "promote": Command(base="published", words=("promote", *FIRST, "--to", "staging", "--reason", "why")),
    "promote-stored": Command(base="staged", words=("promote", *FIRST, "--to", "production", "--reason", "why")),
    "promote-refused": Command(
        base="published", words=("promote", *FIRST, "--to", "production", "--reason", "why"), code=3, repeats=True
    ),
    "rollback": Command(base="ahead", words=("rollback", "support/refund", "--to", "1.0.0", *ON_STAGING)),
    "remove": Command(base="staged", words=("remove", "support/refund", *ON_STAGING)),
    "halt": Command(base="staged", words=("halt", "support/refund", *ON_STAGING)),
    "resume": Command(base="stopped", words=("resume", "support/refund", *ON_STAGING), further=HALTED),
    "reject": Command(base="staged", words=("reject", FIRST[0], *ON_STAGING)),
    "unreject": Command(base="stopped", words=("unreject", FIRST[0], *ON_STAGING), further=HALTED),
    "freeze": Command(base="staged", words=("freeze", "staging", "--for", "P7D", "--reason", "why"), repeats=True),
    "unfreeze": Command(base="stopped", words=("unfreeze", "staging", "--reason", "why"), further=HALTED),
    "approve": Command(
        base="asked",
        words=("approve", *FIRST, "--channel", "production", "--reason", "why"),
        who="Ben",
        in_git=True,
        repeats=True,
    ),
    "waive": Command(
        base="asked",
        words=("waive", "APP-1", FIRST[0], *WAIVE, "--channel", "production", "--reason", "why"),
        repeats=True,
    ),
    "deprecate": Command(
        base="staged", words=("deprecate", FIRST[0], "--reason", "why"), further=("halt", "support/refund", *ON_STAGING)
    ),
    "yank": Command(base="staged", words=("yank", FIRST[0], "--reason", "why")),
    "revoke": Command(base="staged", words=("revoke", FIRST[0], "--reason", "why")),
    "restore": Command(base="stopped", words=("restore", FIRST[1], "--reason", "why"), further=HALTED),
    "drill": Command(base="ahead", words=("drill", "staging", "support/refund"), repeats=True),
    "snapshot": Command(base="staged", words=("snapshot", "staging", "--out", "{root}/served.json")),
    "import": Command(base="staged", words=("import", "mcp", "{root}/tools.json", "--prefix", "orders")),
    "new": Command(base="staged", words=("new", "prompt", "support/thanks"), code_again=5),
    "bump": Command(base="edited", words=("bump", "support/refund-draft")),
    "run-start": Command(base="staged", words=("run", "start", "--channel", "staging", "--agent", "a"), repeats=True),
    "run-use": Command(base="running", words=("run", "use", "{run}", "support/refund-draft"), repeats=True),
    "run-end": Command(base="running", words=("run", "end", "{run}", "--outcome", "drafted")),
}


def _adopted(shop: Shop) -> None:
    shop.adopt()


def _published(shop: Shop) -> None:
    shop.pawl("publish")


def _staged(shop: Shop) -> None:
    shop.promote(*FIRST, to="staging")


def _ahead(shop: Shop) -> None:
    shop.second()
    shop.pawl("publish")
    shop.promote(*SECOND, to="staging")


def _stopped(shop: Shop) -> None:
    shop.pawl("halt", "support/refund", *ON_STAGING)
    shop.pawl("reject", FIRST[0], *ON_STAGING)
    shop.pawl("freeze", "staging", "--for", "P7D", "--reason", "why")
    shop.pawl("deprecate", FIRST[1], "--reason", "why")


def _asked(shop: Shop) -> None:
    with_people(shop)
    shop.adopt("approvals")


def _edited(shop: Shop) -> None:
    shop.edit("procedures/support/refund-draft.yaml", ("owner: payments", "owner: shop"))


def _running(shop: Shop) -> None:
    shop.pawl("run", "start", "--channel", "staging", "--agent", "a")


BASES: Mapping[str, tuple[str | None, Callable[[Shop], None] | None]] = {
    "started": (None, None),
    "adopted": ("started", _adopted),
    "published": ("adopted", _published),
    "staged": ("published", _staged),
    "ahead": ("staged", _ahead),
    "stopped": ("staged", _stopped),
    "asked": ("staged", _asked),
    "edited": ("staged", _edited),
    "running": ("staged", _running),
}
"""Workspaces by name: what each is made from, and how."""


class Bases:
    """Makes each workspace once, and gives copies of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def made(self, name: str) -> Path:
        root = self._folder / name
        if root.exists():
            return root
        before, make = BASES[name]
        if before is not None:
            shutil.copytree(self.made(before), root)
        else:
            root.mkdir(parents=True)
            git(root, "init", "-q", "-b", "main", "--template=")
            for key, value in (("user.name", "Ada"), ("user.email", "ada@example.invalid"), ("gc.auto", "0")):
                git(root, "config", key, value)
            Shop(root).start()
            (root / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
            git(root, "add", "-A")
            git(root, "commit", "-q", "-m", "start")
        with pytest.MonkeyPatch.context() as patched:
            become(patched, "Ada")
            if make is not None:
                make(Shop(root))
        git(root, "add", "procedures", "conformance", "registry/registry.yaml", "registry/policies")
        git(root, "commit", "-q", "--allow-empty", "-m", name)
        git(root, "gc", "-q")
        assert Shop(root).pawl("verify")["problems"] == []
        return root

    def copy(self, name: str, *, in_git: bool) -> Shop:
        self._count += 1
        target = self._folder / "copies" / f"{name}-{self._count}"
        shutil.copytree(self.made(name), target, ignore=None if in_git else shutil.ignore_patterns(".git"))
        return Shop(target)

    def dropped(self, shop: Shop) -> None:
        shutil.rmtree(shop.root)


def outcomes(bases: Bases, command: Command) -> tuple[State, State]:
    """Return what the workspace says before the command and after it."""
    shop = bases.copy(command.base, in_git=command.in_git)
    before = state(shop.root)
    shop.pawl(*words_for(shop, command.words), code=command.code)
    after = state(shop.root)
    assert before != after
    bases.dropped(shop)
    return before, after


def needs_no_repair(shop: Shop, where: str) -> None:
    """A workspace after a command that followed a mishap: whole, tidy and committed."""
    assert shop.pawl("verify")["problems"] == [], where
    temporary = {path.parent.name for path in shop.root.rglob(".pawl-tmp-*")}
    assert temporary <= {"documents"}, where  # of the cache, which may be deleted at any time
    if (shop.root / ".git").exists():
        assert git(shop.root, "status", "--porcelain", "registry", "releases") == "", where


def words_for(shop: Shop, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command line with this workspace's paths and run."""
    if "{run}" in words:
        (run,) = shop.pawl("runs", "list")["runs"]
        words = tuple(run["run_id"] if word == "{run}" else word for word in words)
    return tuple(word.replace("{root}", str(shop.root)) for word in words)


State = Mapping[str, Any]


def state(root: Path) -> State:
    """Return what a workspace says, without times and digests: journals, pins, files of people, runs."""
    workspace = Workspace(root)
    said: dict[str, Any] = {
        journal: [_essence(record.body) for record in workspace.journal(journal)]
        for journal in (REGISTRY_JOURNAL, *workspace.channels())
    }
    for channel in workspace.channels():
        fold = workspace.channel(channel)
        said[f"pins of {channel}"] = {name: str(pin.version) for name, pin in fold.pins.items()}
        said[f"stops of {channel}"] = [*fold.halts, *fold.rejections, *map(str, fold.freezes)]
    catalog = workspace.catalog()
    said["frozen"] = sorted(str(ref) for ref in catalog.published)
    for folder in ("procedures", "conformance"):
        for path in sorted((root / folder).rglob("*.yaml")):
            said[str(path.relative_to(root))] = path.read_text(encoding="utf-8")
    out = root / "served.json"
    said["snapshot"] = sorted(json.loads(out.read_bytes())) if out.exists() else None
    said["runs"] = _runs(root / ".pawl" / "runs.db")
    return {what: value for what, value in said.items() if value}


_KEPT = ("action", "name", "names", "version", "policy", "reason", "published", "level")


def _essence(body: Mapping[str, Any]) -> Any:
    kept = {key: body[key] for key in _KEPT if key in body}
    kept["moves"] = [(move["name"], move["to"] and move["to"]["version"]) for move in body.get("moves", ())]
    return re.sub(r"sha256:[0-9a-f]+", "digest", json.dumps(kept, sort_keys=True))


def _runs(path: Path) -> list[tuple[Any, ...]]:
    if not path.exists():
        return []
    ledger = sqlite3.connect(path)
    try:
        if not ledger.execute("SELECT 1 FROM sqlite_schema WHERE name = 'runs'").fetchone():
            return []
        query = (
            "SELECT agent, outcome, ended_at IS NULL, (SELECT count(*) FROM uses WHERE uses.run_id = runs.run_id)"
            " FROM runs ORDER BY rowid"
        )
        return ledger.execute(query).fetchall()
    finally:
        ledger.close()
