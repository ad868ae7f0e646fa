"""What is answered without the group of commands is answered as the command would."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pawl import __version__
from pawl.cli import quick
from support import Shop, in_process

NAME = "support/refund-draft"
PLAIN = [
    (NAME, "--channel", "production"),
    ("--channel", "production", NAME),
    (NAME, "--channel", "production", "-o", "json"),
    (NAME, "-o", "text", "--channel", "production"),
    (NAME, "--output", "json", "--channel", "production"),
]
LEFT = [
    (NAME,),
    ("--channel", "production"),
    (NAME, "--channel"),
    (NAME, "--channel", ""),
    (NAME, "--channel", "beta"),
    (NAME, "--channel", "Production"),
    ("support/nothing", "--channel", "production"),
    ("../x", "--channel", "production"),
    (NAME, "--channel=production"),
    (NAME, "--channel", "production", "--document"),
    (NAME, "--channel", "production", "-o", "junit"),
    (NAME, "--channel", "production", "--channel", "production"),
    (NAME, NAME, "--channel", "production"),
    (NAME, "--channel", "production", "-h"),
]


def asked(shop: Shop, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, *, quickly: bool) -> tuple[int, str]:
    with monkeypatch.context() as patch:
        if not quickly:
            patch.setattr(quick, "resolved", lambda _words: False)
        ended = in_process("-C", str(shop.root), "resolve", *words)
    return ended.code, ended.out


@pytest.mark.parametrize("words", [*PLAIN, *LEFT], ids=" ".join)
def test_the_answer_is_that_of_the_command(
    released: Shop, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(released, words, monkeypatch, quickly=True) == asked(released, words, monkeypatch, quickly=False)


@pytest.mark.parametrize(
    "words", [PLAIN[0], PLAIN[2], *(pytest.param(words, marks=pytest.mark.slow) for words in (PLAIN[1], *PLAIN[3:]))]
)
def test_plain_questions_are_answered_without_click(released: Shop, words: tuple[str, ...]) -> None:
    code = (
        "import sys\nfrom pawl.cli.main import run\ntry:\n    run(sys.argv[1:])\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "-C", str(released.root), "resolve", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert NAME in done.stdout
    assert {"click", "pydantic", "pawl.policy.evaluator", "pawl.policy.kinds.known"} & set(done.stderr.split()) == set()


def test_what_is_withheld_or_warned_of_is_said_in_full(released: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    words = (NAME, "--channel", "production", "-o", "json")
    released.pawl("deprecate", f"{NAME}@1.0.0", "--reason", "older")
    warned = asked(released, words, monkeypatch, quickly=True)
    assert warned == asked(released, words, monkeypatch, quickly=False)
    assert [row["code"] for row in json.loads(warned[1])["problems"]] == ["served-with-warning"]
    released.pawl("revoke", f"{NAME}@1.0.0", "--reason", "leaks")
    code, out = asked(released, words, monkeypatch, quickly=True)
    assert (code, json.loads(out)["exit_code"]) == (7, 7)
    assert (code, out) == asked(released, words, monkeypatch, quickly=False)


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_the_version_is_said_without_click(word: str) -> None:
    code = (
        "import sys\nfrom pawl.cli.main import run\ntry:\n    run(sys.argv[1:])\n"
        "finally:\n    assert 'click' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code, word], capture_output=True, text=True, check=True)
    assert done.stdout == f"pawl {__version__}\n"
