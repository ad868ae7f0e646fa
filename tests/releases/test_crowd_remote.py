"""Clones of one shared bare remote that all push: one winner for each serial, and the others lose nothing and keep all.

The first turn is a race that cannot be missed: whoever is about to push waits until all that are left are about to.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pawl.ids import REGISTRY_JOURNAL
from pawl.io import steps
from pawl.operations.pushing import TRIES
from pawl.workspace import Workspace
from releases import crowds
from releases.commands import Bases
from releases.crowds import CONTEXT, FORESEEN, ON, STAGING
from support import FIRST, Shop, git, in_process

WORDS = (*crowds.WORDS, ("reject", FIRST[1], *ON))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A command of one clone, how it ended, and whether its side was as before."""

    clone: int
    turn: int
    words: tuple[str, ...]
    code: int
    answer: dict[str, Any]
    tip: str
    as_before: bool

    @property
    def journal(self) -> str:
        return REGISTRY_JOURNAL if self.words[0] == "publish" else STAGING

    @property
    def pushed(self) -> str | None:
        row = self.answer.get("pushed")
        return row["commit"] if row else None


def tip(root: Path) -> str:
    return git(root, "rev-parse", "refs/heads/main").strip()


def state(root: Path) -> tuple[Any, ...]:
    """Everything of one side that a loser has to find as it was."""
    status = git(root, "status", "--porcelain", "--untracked-files=all")
    return tip(root), git(root, "ls-files", "-s"), status, Shop(root).files("registry", "releases", "procedures")


def _new_procedure(root: Path, clone: int, turn: int) -> str:
    name = f"crowd/of-{clone}-{turn}"
    body = "owner: us\nspec:\n  messages:\n    - {role: user, content: hello}\n"
    Shop(root).write(f"procedures/{name}.yaml", f"kind: prompt\nname: {name}\nversion: 1.0.0\n{body}")
    return name


def _pusher(root: Path, clone: int, turns: int, rounds: Sequence[Any], raced: Any, told: Any) -> None:
    chosen = random.Random(clone)  # noqa: S311 - a seeded choice, nothing secret
    waiting = list(rounds)

    def hook(step: str) -> None:
        if step == "git.push" and waiting:
            waiting.pop(0).wait(120)

    steps.hook = hook
    rows = []
    for turn in range(turns):
        words: tuple[str, ...] = ("publish",) if turn % 3 == 0 else chosen.choice(WORDS)
        if words == ("publish",):
            words = ("publish", _new_procedure(root, clone, turn))
        before = state(root)
        ended = in_process("-C", str(root), *words, "--push", "-o", "json")
        rows.append(
            Turn(
                clone=clone,
                turn=turn,
                words=words,
                code=ended.code,
                answer=json.loads(ended.out),
                tip=tip(root),
                as_before=state(root) == before,
            )
        )
        if turn == 0:  # whoever won goes no further before everybody has lost as often as they can
            waiting.clear()
            raced.wait(120)
    told.put(rows)


def clones_of(remote: Path, folder: Path, count: int) -> list[Path]:
    roots = [folder / f"clone-{number}" for number in range(count)]
    for root in roots:
        subprocess.run(["git", "clone", "-q", str(remote), str(root)], check=True)
    return roots


def crowd(roots: Sequence[Path], turns: int) -> list[Turn]:
    """Let every clone take its turns at the same time, in a process of its own."""
    told: Any = CONTEXT.Queue()
    rounds = [CONTEXT.Barrier(len(roots) - lost) for lost in range(TRIES)]
    raced = CONTEXT.Barrier(len(roots))
    people = [
        CONTEXT.Process(target=_pusher, args=(root, number, turns, rounds, raced, told))
        for number, root in enumerate(roots)
    ]
    for process in people:
        process.start()
    rows = [row for _ in people for row in told.get(timeout=600)]
    for process in people:
        process.join(300)
        assert process.exitcode == 0
    return rows


def remote_of(bases: Bases, folder: Path) -> Path:
    """Return a bare remote in which two versions were published and released on staging."""
    root = bases.copy("ahead", in_git=True).root
    bare = folder / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(bare)], check=True)
    git(root, "remote", "add", "origin", str(bare))
    git(root, "push", "-q", "-u", "origin", "main")
    return bare


def check_turns(rows: Sequence[Turn]) -> None:
    """Each answer alone: foreseen, and what it says is what it left."""
    for row in rows:
        told = (row.words, row.code, row.answer)
        assert row.code in FORESEEN, told
        assert (row.code == 0) == (row.answer["status"] in {"done", "unchanged"}), told
        if row.code == 5:
            assert [problem["code"] for problem in row.answer["problems"]] == ["push-lost-race"], told
            assert row.as_before, told
        if row.answer["status"] in {"done", "refused"} and row.code != 5:
            assert row.pushed == row.tip, told
        else:
            assert row.pushed is None, told


def check_race(rows: Sequence[Turn], count: int) -> None:
    """The first turn: one winner in each round, and who lost as often as one tries is told so."""
    first = [row for row in rows if row.turn == 0]
    tries = sorted(row.answer["pushed"]["tries"] for row in first if row.pushed)
    assert tries == list(range(1, TRIES + 1))
    assert [row.code for row in first].count(5) == count - TRIES


def check_remote(remote: Path, start: str, rows: Sequence[Turn], fresh: Path) -> None:
    """The remote's history is the pushed commits, each once; its journals hold what was told, and nothing else."""
    subprocess.run(["git", "clone", "-q", str(remote), str(fresh)], check=True)
    commits = git(remote, "rev-list", f"{start}..main").split()
    assert git(remote, "rev-list", "--merges", "main") == ""
    told = Counter((row.pushed, row.words) for row in rows if row.pushed)
    assert [twice for twice, count in told.items() if count > 1] == []
    assert sorted(commits) == sorted(commit for commit, _ in told if commit)
    assert Shop(fresh).pawl("verify")["problems"] == []
    for journal in (STAGING, REGISTRY_JOURNAL):
        serials = [record.serial for record in Workspace(fresh).journal(journal)]
        assert serials == list(range(1, len(serials) + 1))
        own = [row for row in rows if row.pushed and row.journal == journal]
        began = len(git(remote, "ls-tree", "--name-only", start, f"releases/{journal}/").split())
        assert len(serials) == began + len(own)
        if journal == STAGING:
            assert sorted(row.answer["serial"] for row in own) == serials[began:]


def check_clones(roots: Sequence[Path], fresh: Path) -> None:
    """Every clone follows without a merge, and says then what a fresh one says, whatever it remembers of before."""
    status = told(Shop(fresh))
    for root in roots:
        git(root, "pull", "-q", "--ff-only")
        assert tip(root) == tip(fresh)
        assert git(root, "status", "--porcelain", "registry", "releases") == ""
        assert Shop(root).pawl("verify")["problems"] == []
        assert Shop(root).files() == Shop(fresh).files()
        assert told(Shop(root)) == status


def told(shop: Shop) -> Any:
    """Return what status says of the channels, without the ages of results, which go on while it is asked."""
    return json.loads(re.sub(r'"age_seconds": \d+', '"age_seconds": 0', json.dumps(shop.pawl("status")["channels"])))


def judged(bases: Bases, folder: Path, *, clones: int, turns: int) -> Counter[Any]:
    remote = remote_of(bases, folder)
    start = git(remote, "rev-parse", "main").strip()
    roots = clones_of(remote, folder, clones)
    rows = crowd(roots, turns)
    assert len(rows) == clones * turns
    check_turns(rows)
    check_race(rows, clones)
    check_remote(remote, start, rows, folder / "fresh")
    check_clones(roots, folder / "fresh")
    return Counter((row.code, row.answer["status"], bool(row.pushed)) for row in rows)


def test_four_clones_push_at_the_same_moment(bases: Bases, tmp_path: Path) -> None:
    judged(bases, tmp_path, clones=4, turns=1)


@pytest.mark.slow
def test_eight_clones_of_one_remote(bases: Bases, tmp_path: Path) -> None:
    ends = judged(bases, tmp_path, clones=8, turns=12)
    print(f"exit code, status, pushed: {dict(ends)}")  # noqa: T201 - shown by pytest -rP
    assert sum(count for (*_, pushed), count in ends.items() if pushed) > 12, ends


TAKEN = """\
#!/bin/sh
git update-ref "$1" "$3" "$2"
rm "$0"
"""
"""A hook of the remote after which a push finds its own commit there: somebody made the very same and was first."""


def test_a_commit_that_is_there_by_somebody_else_is_not_ours(bases: Bases, tmp_path: Path) -> None:
    remote = remote_of(bases, tmp_path)
    (root,) = clones_of(remote, tmp_path, 1)
    hook = remote / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(TAKEN, encoding="utf-8")
    hook.chmod(0o755)
    answer = Shop(root).pawl("halt", "support/refund", *ON, "--push")
    assert not hook.exists()
    assert (answer["status"], answer["pushed"]) == ("unchanged", None)
    assert tip(root) == tip(remote)
    assert Shop(root).pawl("verify")["problems"] == []
