"""What users of other systems said about output for CI, as far as other modules here do not have it."""

from __future__ import annotations

import contextlib
import io
import json
import re

import pytest

from pawl.cli.commands import COMMANDS
from pawl.cli.main import run
from support import FIRST, Ended, Shop, in_process, in_subprocess

APPROVALS = """  - id: APP-1
    class: readiness
    level: absolute
    approvals: {count: 1}
    message: Somebody else says yes.
"""


def test_hashicorp_setup_terraform_328_a_process_asks_for_approval_by_8(plain_shop: Shop) -> None:
    path = "registry/policies/refunds.yaml"
    plain_shop.write(path, plain_shop.read(path) + APPROVALS)
    plain_shop.publish_first()
    words = ("promote", *FIRST, "--to", "staging", "--reason", "r", "-o", "json")
    ended = in_subprocess("-C", str(plain_shop.root), *words)
    assert (ended.code, json.loads(ended.out)["exit_code"]) == (8, 8)


class Terminal(io.StringIO):
    """An output that says that a person looks at it."""

    def isatty(self) -> bool:
        return True


def on_a_terminal(*words: str) -> Ended:
    out, err = Terminal(), Terminal()
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run(words)
        except SystemExit as ended:
            code = ended.code
    return Ended(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


RICH = (
    ("promote", *FIRST, "--to", "production", "--reason", "r"),
    ("promote", "support/refund@9.0.0", "--to", "staging", "--reason", "r"),
    ("rollback", "support/refund", "--channel", "production", "--reason", "r", "--dry-run"),
    ("targets", "support/refund", "--channel", "production"),
    ("history", "production"),
    ("show", FIRST[0]),
    ("resolve", "support/refund", "--channel", "production"),
    ("policy", "show"),
    ("policy", "plan"),
    ("runs", "list"),
    ("check", "--explain", "duplicate-key"),
    ("diff", "support/refund"),
)


def test_hashicorp_setup_terraform_328_a_terminal_changes_colours_only(
    live: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command with no words, and those that need some with them; only demo, which needs no workspace, is left."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(live.root)
    live.edit("procedures/support/refund.yaml", ("max_steps: 6", "max_steps: 7"))
    painted = 0
    for words in (*((name,) for name in COMMANDS if name != "demo"), *RICH):
        piped, seen = in_process("-C", str(live.root), *words), on_a_terminal("-C", str(live.root), *words)
        out, err = (re.sub(r"\x1b\[\d*m", "", text) for text in (seen.out, seen.err))
        assert Ended(seen.code, out, err) == piped, words
        assert "\x1b" not in piped.out + piped.err
        painted += "\x1b" in seen.out + seen.err
        as_json = in_process("-C", str(live.root), *words, "-o", "json")
        assert as_json.out == on_a_terminal("-C", str(live.root), *words, "-o", "json").out, words
        assert json.loads(as_json.out)["exit_code"] == piped.code, words
    assert painted > len(RICH)
