"""Another time zone, locale, hash seed or terminal: the same bytes in every answer, record and snapshot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import Shop

TESTS = Path(__file__).parents[1]

LIFE = """
import hashlib, sys
from pathlib import Path
import pytest
sys.path.insert(0, sys.argv[1])
from people import set_clock
from support import Shop, in_process
patch = pytest.MonkeyPatch()
set_clock(patch, "2026-03-29T01:30:00Z")
root = Path("shop")
root.mkdir()
shop = Shop(root)
shop.start()
shop.edit("procedures/support/refund.yaml", ("owner: ", "# Müsli, İstanbul, \\u4f60\\u597d\\nowner: "))
shop.release_first()
shop.release_second()
shop.rollback("support/refund")
shop.pawl("freeze", "production", "--until", "2026-04-01", "--reason", "\\u0130 \\u0131 \\u00e9")
for words in ("status", "list", "verify", "check", "audit", "history production", "policy show",
              "targets support/refund --channel production", "snapshot production --out agents.json --expires PT1H"):
    for form in ("text", "json"):
        ended = in_process("-C", "shop", *words.split(), "-o", form)
        told = f"$ {words} {form} {ended.code}\\n{ended.out}{ended.err}"
        sys.stdout.buffer.write(told.encode("utf-8", "backslashreplace"))
for file, data in sorted({**shop.files(), "agents.json": Path("agents.json").read_bytes()}.items()):
    sys.stdout.buffer.write(f"{hashlib.sha256(data).hexdigest()} {file}\\n".encode())
"""

ZONES = ("Pacific/Kiritimati", "America/St_Johns", "Mars/Olympus", "", "UTC0")
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "turkish-on-kiritimati": {"TZ": ZONES[0], "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "1"},
    "plain-c-without-utf-8": {
        "TZ": ZONES[2],
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
        "PYTHONHASHSEED": "42",
        "TERM": "dumb",
        "COLUMNS": "0",
    },
}
MORE: dict[str, dict[str, str]] = {
    "st-johns-narrow": {"TZ": ZONES[1], "COLUMNS": "7", "LINES": "1", "FORCE_COLOR": "1", "PYTHONHASHSEED": "7"},
    "no-zone-utf-8-mode": {"TZ": ZONES[3], "LC_ALL": "POSIX", "PYTHONUTF8": "1", "NO_COLOR": "1"},
    "german-latin-1": {"TZ": ZONES[4], "LC_ALL": "de_DE.ISO-8859-1", "PYTHONIOENCODING": "latin-1:strict", "TERM": ""},
    "no-locale-that-exists": {"LC_ALL": "xx_XX.nothing", "PYTHONIOENCODING": "utf-16", "COLUMNS": "wide"},
}


def environment(**other: str) -> dict[str, str]:
    unset = {"TZ", "LC_ALL", "LANG", "COLUMNS", "NO_COLOR", "FORCE_COLOR"}
    return {**{name: value for name, value in os.environ.items() if name not in unset}, **other}


def lived(folder: Path, **other: str) -> bytes:
    """Return every answer and the digest of every file of a life of the story that ran in an environment."""
    folder.mkdir()
    script = folder / "life.py"
    script.write_text(LIFE, encoding="utf-8")
    command = [sys.executable, str(script), str(TESTS)]
    done = subprocess.run(command, cwd=folder, env=environment(**other), capture_output=True, timeout=120, check=False)
    assert (0, b"") == (done.returncode, done.stderr), done.stderr.decode("utf-8", "replace")
    return done.stdout


OTHERS = [name for name in (*ENVIRONMENTS, *MORE) if name != "turkish-on-kiritimati"]
SOME = ["turkish-on-kiritimati", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return lived(tmp_path_factory.mktemp("usual") / "life", LC_ALL="C.UTF-8", TZ="UTC", PYTHONHASHSEED="0")


@pytest.mark.parametrize("name", SOME)
def test_answers_records_and_snapshots_are_the_same_bytes(usual: bytes, tmp_path: Path, name: str) -> None:
    assert b"support/refund" in usual
    assert (
        usual.decode().splitlines() == lived(tmp_path / "life", **{**ENVIRONMENTS, **MORE}[name]).decode().splitlines()
    )


def asked(shop: Shop, *words: str, **other: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "pawl", "-C", str(shop.root), *words]
    return subprocess.run(command, capture_output=True, env=environment(**other), timeout=300, check=False)


def test_a_process_says_the_same_bytes_in_each_of_them(live: Shop) -> None:
    live.pawl("halt", "support/refund", "--channel", "production", "--reason", "\u0130 \u00e9 \U0001f600")
    words = ("history", "production", "-o", "json")
    wanted = asked(live, *words, PYTHONUTF8="1")
    assert "\u0130 \u00e9 \U0001f600" in wanted.stdout.decode("utf-8")
    for name, other in ENVIRONMENTS.items():
        found = asked(live, *words, **other)
        assert (0, b"", wanted.stdout) == (found.returncode, found.stderr, found.stdout), name


def test_an_argument_that_the_locale_cannot_say_is_a_wrong_use(live: Shop) -> None:
    words = ("halt", "support/refund", "--channel", "production", "--reason", "\u0130", "-o", "json")
    found = asked(live, *words, **ENVIRONMENTS["plain-c-without-utf-8"])
    assert (2, b"") == (found.returncode, found.stderr)
    assert 2 == len(live.pawl("history", "production")["records"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ENVIRONMENTS, *MORE])
@pytest.mark.parametrize("words", [("status",), ("--help",), ("nosuch",), ("status", "-o", "nosuch")])
def test_nothing_ends_with_a_traceback_in_any_of_them(live: Shop, name: str, words: tuple[str, ...]) -> None:
    found = asked(live, *words, **{**ENVIRONMENTS, **MORE}[name])
    assert b"Traceback" not in found.stderr
    assert found.returncode == (0 if words in {("status",), ("--help",)} else 2)


# Streams that are closed or full

CLOSED = {"out": ">&-", "err": "2>&-", "in": "<&-", "all": ">&- 2>&- <&-"}
SAYS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("resolve", "support/refund", "--channel", "production", "-o", "json"), 0),
    (("nosuch", "-o", "json"), 2),
    (("nosuch",), 2),
)


@pytest.mark.parametrize("words", [pair[0] for pair in SAYS], ids=["answer", "wrong-use-json", "wrong-use"])
@pytest.mark.parametrize(
    "closed", ["all", *(pytest.param(name, marks=pytest.mark.slow) for name in ("out", "err", "in"))]
)
def test_the_exit_code_is_right_where_nobody_listens(live: Shop, closed: str, words: tuple[str, ...]) -> None:
    code = dict(SAYS)[words]
    line = f'exec "$0" -m pawl -C "$1" {" ".join(words)} {CLOSED[closed]}'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable, str(live.root)], capture_output=True, timeout=300, check=False
    )
    assert code == done.returncode
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("words", [pair[0] for pair in SAYS], ids=["answer", "wrong-use-json", "wrong-use"])
def test_the_exit_code_is_right_where_no_word_fits(live: Shop, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "pawl", "-C", str(live.root), *words]
        stderr: Any = full if "json" not in words else subprocess.PIPE
        done = subprocess.run(command, stdout=full, stderr=stderr, timeout=300, check=False)
    assert dict(SAYS)[words] == done.returncode
    assert b"Traceback" not in (done.stderr or b"")


def test_a_writing_command_without_streams_has_written(live: Shop) -> None:
    line = 'exec "$0" -m pawl -C "$1" halt support/refund --channel production --reason stop >&- 2>&- <&-'
    done = subprocess.run(["sh", "-c", line, sys.executable, str(live.root)], timeout=300, check=False)
    assert 0 == done.returncode
    assert "halt" == live.pawl("history", "production")["records"][-1]["action"]
    live.pawl("verify")


def test_a_json_answer_is_one_object_even_of_a_wrong_use(live: Shop) -> None:
    found = asked(live, "status", "--nosuch", "-o", "json", **ENVIRONMENTS["plain-c-without-utf-8"])
    assert (2, 2) == (found.returncode, json.loads(found.stdout)["exit_code"])
