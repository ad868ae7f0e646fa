"""Runners: whatever an implementation does, one observation comes back in time, and nothing of it stays behind."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from pawl.conformance.outcomes import NotReturned, Returned
from pawl.conformance.runners import run_python

IMPLEMENTATION = """
import os, subprocess, sys, time
from pathlib import Path

def echo(**arguments):
    return {"got": arguments}

async def later(value):
    return value

def noisy():
    print('{"value": "forged"}')
    sys.stderr.write("noise")
    os.write(1, b'{"value": 1}\\n')
    return "true"

def raises():
    raise ValueError("the first line\\nthe second line")

def raises_odd():
    class Odd(BaseException):
        def __str__(self):
            raise RuntimeError("no text")
    raise Odd

def leaves():
    sys.exit(0)

def hangs():
    time.sleep(60)

def spins():
    while True:
        pass

def crashes():
    os.abort()

def quits():
    os._exit(3)

def big():
    return "x" * (1024 * 1024)

def hungry():
    return len(bytearray(64 * 1024 ** 3))

def environment():
    return dict(os.environ)

def surroundings():
    here = Path.cwd()
    (here / "left.txt").write_text("x")
    return [str(here), sys.stdin.read(), str(Path.home())]

def forks(pid_file):
    child = subprocess.Popen(["sleep", "60"])
    Path(pid_file).write_text(str(child.pid))
    return "done"

def floods():
    for number in range(3, 32):
        try:
            os.write(number, b"x" * 100)
        except OSError:
            pass
    return "done"

def no_json():
    return object()

def not_a_number():
    return float("nan")

def deep():
    value = []
    for _ in range(80):
        value = [value]
    return value

def half_a_character():
    return "\\ud83d"

def huge_number():
    return 2 ** 60

class Shop:
    @staticmethod
    def look(order_id):
        return order_id

COUNT = 0

def counts():
    global COUNT
    COUNT += 1
    return COUNT
"""

ERRORS = {
    "raises": "it raised ValueError at shop.py:",
    "raises_odd": "it raised Odd at shop.py:",
    "leaves": "it raised SystemExit",
    "hangs": "no answer within 0.5 seconds",
    "spins": "no answer within 0.5 seconds",
    "crashes": "ended by SIGABRT",
    "quits": "exit code 3",
    "big": "at most 1048576 are taken",
    "hungry": "MemoryError",
    "floods": "no JSON value",
    "no_json": "no JSON value",
    "not_a_number": "no JSON value",
    "deep": "nested deeper than 64 levels",
    "half_a_character": "no JSON value",
    "huge_number": "no canonical JSON form",
    "missing": "has no attribute 'missing'",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(IMPLEMENTATION, encoding="utf-8")
    return tmp_path


def returned(root: Path, function: str, **arguments: Any) -> Any:
    observation = run_python(f"shop:{function}", arguments, root=root)
    assert isinstance(observation, Returned), observation
    return observation.value


def test_the_arguments_are_keyword_arguments_and_the_result_is_json(root: Path) -> None:
    assert returned(root, "echo", order_id="A1", amount=2.5) == {"got": {"order_id": "A1", "amount": 2.5}}
    assert returned(root, "later", value=[None, "é"]) == [None, "é"]
    assert returned(root, "Shop.look", order_id="A1") == "A1"


def test_what_it_prints_is_no_part_of_the_answer(root: Path) -> None:
    assert returned(root, "noisy") == "true"


@pytest.mark.parametrize("function", sorted(ERRORS))
def test_whatever_goes_wrong_becomes_a_sentence(root: Path, function: str) -> None:
    observation = run_python(f"shop:{function}", {}, root=root, timeout=0.5 if function in {"hangs", "spins"} else 10)

    assert isinstance(observation, NotReturned)
    assert observation.outcome == "errored"
    assert ERRORS[function] in observation.reason
    assert "\n" not in observation.reason


@pytest.mark.parametrize("binding", ["shop", "shop.echo", "../shop:echo", "shop:echo()", "shop:", "-c:x", "shop: echo"])
def test_what_is_no_binding_is_errored(root: Path, binding: str) -> None:
    observation = run_python(binding, {}, root=root)

    assert isinstance(observation, NotReturned)
    assert "is no Python binding" in observation.reason


def test_a_module_that_is_not_there_is_errored(root: Path) -> None:
    observation = run_python("nowhere.to_be_found:echo", {}, root=root)

    assert isinstance(observation, NotReturned)
    assert "ModuleNotFoundError" in observation.reason


def test_the_environment_holds_nothing_of_ours(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_AUTHOR_EMAIL", "API_TOKEN", "PYTHONSTARTUP", "VIRTUAL_ENV", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "ours")
    found = returned(root, "environment")

    assert {
        "PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE",
        "PYTHONNOUSERSITE", "PYTHONPATH",
    } == set(found)  # fmt: skip
    assert found["PYTHONPATH"] == str(root.resolve())


def test_it_works_in_an_empty_folder_that_goes_away(root: Path) -> None:
    here, read, home = returned(root, "surroundings")

    assert (read, home) == ("", here)
    assert Path(here) != root
    assert not Path(here).exists()
    assert [path.name for path in root.iterdir()] == ["shop.py"]


def test_nothing_it_started_outlives_it(root: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    assert returned(root, "forks", pid_file=str(pid_file)) == "done"

    deadline = time.monotonic() + 60
    while _lives(int(pid_file.read_text(encoding="utf-8"))):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_one_call_leaves_nothing_to_the_next(root: Path) -> None:
    assert [returned(root, "counts"), returned(root, "counts")] == [1, 1]


def test_python_path_comes_before_the_root(root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "shop.py").write_text("def echo():\n    return 'src'\n", encoding="utf-8")

    assert run_python("shop:echo", {}, root=root, python_path=("src",)) == Returned(value="src")


@pytest.mark.parametrize("entry", ["..", "/", "src/../..", "outside"])
def test_python_path_stays_inside_the_workspace(root: Path, entry: str) -> None:
    (root / "outside").symlink_to("/usr")
    observation = run_python("shop:echo", {}, root=root, python_path=(entry,))

    assert isinstance(observation, NotReturned)
    assert "leads out of the workspace" in observation.reason


def test_arguments_that_are_no_object_are_errored(root: Path) -> None:
    assert isinstance(run_python("shop:echo", [1], root=root), NotReturned)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
