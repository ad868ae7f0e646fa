"""Deterministic cases of a prompt, as a whole process; and what one more case costs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import FLOOR, Benchmark, Contest, Rival, Setting
from benchmarks.sides import Act, Side, calling, marginal, started
from benchmarks.workspaces import NAME, make

_SYSTEM = "You draft answers for a person to approve. Never promise that money has been sent."
_USER = "Write about {{ amount }} for order {{ order_id }}."
_PYTEST = """
import json, pathlib, pytest

CASES = json.loads(pathlib.Path(__file__).with_name("cases.json").read_text())
TEXT = json.loads(pathlib.Path(__file__).with_name("text.json").read_text())

@pytest.mark.parametrize("case", CASES)
def test_case(case):
    inputs = case["inputs"]
    assert isinstance(inputs["order_id"], str) and inputs["amount"] >= 0
    text = TEXT.replace("{{ amount }}", str(inputs["amount"])).replace("{{ order_id }}", inputs["order_id"])
    for assertion in case["assert"]:
        if assertion["type"] == "icontains":
            assert assertion["value"].lower() in text.lower()
        else:
            assert assertion["value"] in text
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """The same cases in every form: commands that start a process each and print how many passed."""

    product: Act
    floor: Act
    peers: dict[str, Act]


def _contests(setting: Setting) -> Iterator[Contest]:
    few, many = setting.pick(full=(100, 500), quick=(20, 120), tiny=(2, 4))
    small, large = _made(setting, few), _made(setting, many)
    yield Contest(
        name=f"{many} cases, whole process",
        product=calling(large.product),
        floor=calling(large.floor),
        agree=_as_many,
        rivals=[Rival(peer=peer, side=calling(act), agree=_as_many) for peer, act in large.peers.items()],
        goals={FLOOR: 3.3, "promptfoo": 1 / 30, "pytest": 0.3},
    )
    if setting.scale == "quick":
        return  # a difference of two short processes is mostly noise, and no bound could hold it

    def more(one: Act, other: Act) -> Side:
        return marginal(calling(one), calling(other), many - few)

    yield Contest(
        name=f"one more case, from {few} to {many}",
        product=more(small.product, large.product),
        floor=more(small.floor, large.floor),
        agree=_as_many,
        rivals=[
            Rival(peer=peer, side=more(small.peers[peer], act), agree=_as_many) for peer, act in large.peers.items()
        ],
        goals={"promptfoo": 1 / 250},
        calls=setting.pick(full=3, quick=1, tiny=1),
    )


def _made(setting: Setting, count: int) -> _Made:
    folder = setting.folder / str(count)
    workspace = make(folder / "workspace", procedures=1, suites=False)
    file = workspace.procedure_file(NAME)
    suite = workspace.conformance / "prompt.yaml"
    suite.parent.mkdir(parents=True, exist_ok=True)
    suite.write_text(_suite(count), encoding="utf-8")
    by_hand = str(Path(__file__).with_name("cases_by_hand.py"))
    found = {"pytest": _pytest(setting, folder, count), "promptfoo": _promptfoo(setting, folder, count)}
    return _Made(
        product=started(sys.executable, "-m", "pawl", "-C", str(workspace.root), "test"),
        floor=started(sys.executable, by_hand, str(file), str(suite)),
        peers={peer: act for peer, act in found.items() if act},
    )


def _cases(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"case-{number}",
            "inputs": {"order_id": f"A{number}", "amount": number},
            "assert": [
                {"type": "contains", "value": f"{number} for order A{number}"},
                {"type": "icontains", "value": "never promise"},
            ],
        }
        for number in range(count)
    ]


def _suite(count: int) -> str:
    lines = [f"suite: prompt\nabout: {NAME}\ncases:"]
    for case in _cases(count):
        lines.append(f"  - id: {case['id']}")
        lines += [f"    {key}: {json.dumps(case[key])}" for key in ("inputs", "assert")]
    return "\n".join(lines) + "\n"


def _pytest(setting: Setting, folder: Path, count: int) -> Act | None:
    environment = setting.peers.environment("pytest")
    if environment is None:
        return None
    place = folder / "pytest"
    place.mkdir(parents=True)
    (place / "cases.json").write_text(json.dumps(_cases(count)), encoding="utf-8")
    (place / "text.json").write_text(json.dumps(f"{_SYSTEM}\n{_USER}"), encoding="utf-8")
    (place / "test_cases.py").write_text(_PYTEST, encoding="utf-8")
    command = (str(environment / "bin" / "pytest"), "-q", "-p", "no:cacheprovider", "test_cases.py")
    return started(*command, env=setting.peers.env("pytest"), cwd=str(place))


def _promptfoo(setting: Setting, folder: Path, count: int) -> Act | None:
    environment = setting.peers.environment("promptfoo")
    if environment is None:
        return None
    config = folder / "promptfoo.json"
    tests = [{"vars": case["inputs"], "assert": case["assert"]} for case in _cases(count)]
    document = {"prompts": [f"{_SYSTEM}\n{_USER}"], "providers": ["echo"], "tests": tests}
    config.write_text(json.dumps(document), encoding="utf-8")
    words = ("eval", "-c", str(config), "--no-cache", "--no-write", "--no-table", "--no-progress-bar", "--no-share")
    program = str(environment / "node_modules" / ".bin" / "promptfoo")
    return started(program, *words, env=setting.peers.env("promptfoo"), cwd=str(folder))


def _passed(said: str) -> int:
    """Return the last count of what passed: suites are counted before cases."""
    found = re.findall(r"(\d+) passed", said)
    return int(found[-1]) if found else -1


def _as_many(made: str, wanted: str) -> bool:
    return _passed(made) == _passed(wanted) > 0


TEST = Benchmark(
    about="run 500 deterministic cases of a prompt: a whole process, and one case more",
    floor="a Python process that reads the same YAML with libyaml and does the same checks",
    prepare=_contests,
)
