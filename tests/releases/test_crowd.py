"""Eight processes at one workspace: one winner for each serial, the others are told, and readers see whole states."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pawl.errors import PawlError
from pawl.ids import REGISTRY_JOURNAL
from pawl.runs.views import open_channel
from pawl.workspace import Workspace
from releases import crowds
from releases.commands import Bases
from releases.crowds import CONTEXT, FORESEEN, STAGING, WHY
from support import FIRST, git, in_process

WORDS = (*crowds.WORDS, ("deprecate", FIRST[1], *WHY), ("restore", FIRST[1], *WHY))


def _writer(root: Path, seed: int, turns: int, told: Any) -> None:
    chosen = random.Random(seed)  # noqa: S311 - a seeded choice, nothing secret
    rows = []
    for turn in range(turns):
        words: tuple[str, ...] = chosen.choice(WORDS)
        if words == ("publish",):
            name = f"crowd/of-{seed}-{turn}"
            file = root / "procedures" / f"{name}.yaml"
            file.parent.mkdir(exist_ok=True)
            file.write_text(
                f"kind: prompt\nname: {name}\nversion: 1.0.0\nowner: us\nspec:\n"
                "  messages:\n    - {role: user, content: hello}\n",
                encoding="utf-8",
            )
            words = ("publish", name)
        ended = in_process("-C", str(root), *words, "-o", "json")
        answer = json.loads(ended.out)
        rows.append((words[0], ended.code, answer["status"], answer.get("serial"), ended.out[:500]))
    told.put(rows)


def _reader(root: Path, turns: int, told: Any) -> None:
    """Ask what is served; the channel's serial before and after says which states may be the answer."""
    found = []
    for _ in range(turns):
        try:
            view = open_channel(Workspace(root), STAGING)
            state = view.state
            found.append((int(state.head.serial), {str(name): str(pin.version) for name, pin in state.pins.items()}))
        except PawlError as error:
            found.append((0, {"error": error.message}))
    told.put(found)


def crowd(root: Path, *, writers: int, readers: int, turns: int, reads: int) -> tuple[list[Any], list[Any]]:
    told, read = CONTEXT.Queue(), CONTEXT.Queue()
    people = [CONTEXT.Process(target=_writer, args=(root, seed, turns, told)) for seed in range(writers)]
    agents = [CONTEXT.Process(target=_reader, args=(root, reads, read)) for _ in range(readers)]
    for process in (*people, *agents):
        process.start()
    rows = [row for _ in people for row in told.get(timeout=300)]
    answers = [answer for _ in agents for answer in read.get(timeout=300)]
    for process in (*people, *agents):
        process.join(300)
        assert process.exitcode == 0
    return rows, answers


def judged(root: Path, rows: list[Any], answers: list[Any]) -> Counter[Any]:
    for _, code, status, _, out in rows:
        assert code in FORESEEN, out
        assert (code == 0) == (status in {"done", "unchanged"}), out
    workspace = Workspace(root)
    records = workspace.journal(STAGING)
    assert [record.serial for record in records] == list(range(1, len(records) + 1))
    moves = ("promote", "rollback", "halt", "resume", "unreject")
    won = [serial for word, _, status, serial, _ in rows if word in moves and status in {"done", "refused"}]
    assert Counter(won).most_common(1)[0][1] == 1, "two commands have one serial"
    assert len(won) == len(records) - 2, "every record is somebody's, and everybody's record is there"
    published = [row for row in rows if row[0] in {"publish", "deprecate", "restore"} and row[2] == "done"]
    assert len(published) == len(workspace.journal(REGISTRY_JOURNAL)) - 3
    states = {serial: pins_at(root, serial) for serial in range(1, len(records) + 1)}
    for serial, pins in answers:
        assert pins == states.get(serial), serial
    assert json.loads(in_process("-C", str(root), "verify", "-o", "json").out)["problems"] == []
    assert git(root, "status", "--porcelain", "registry", "releases") == ""
    return Counter(code for _, code, *_ in rows)


def pins_at(root: Path, serial: int) -> dict[str, str]:
    """Return what was pinned after a record, by the moves in the records alone."""
    pins: dict[str, str] = {}
    for record in Workspace(root).journal(STAGING)[:serial]:
        verdict = record.body.get("verdict") or {"allowed": True}
        for move in record.body.get("moves", ()) if verdict["allowed"] else ():
            pins.pop(move["name"], None)
            if move["to"]:
                pins[move["name"]] = move["to"]["version"]
    return pins


def test_a_small_crowd(bases: Bases) -> None:
    root = bases.copy("ahead", in_git=True).root
    judged(root, *crowd(root, writers=3, readers=1, turns=4, reads=50))


@pytest.mark.slow
def test_eight_processes_and_ten_thousand_reads(bases: Bases) -> None:
    root = bases.copy("ahead", in_git=True).root
    codes = judged(root, *crowd(root, writers=6, readers=2, turns=12, reads=5_000))
    print(f"exit codes: {dict(codes)}")  # noqa: T201 - shown by pytest -rP
    assert codes[0] > 10
