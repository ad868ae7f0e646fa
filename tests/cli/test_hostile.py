"""What an enemy or an accident brings to the command line: links, outputs in the wrong place, streams that are gone."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support import SECOND, Shop, git, in_process, in_subprocess, story


def shell(shop: Shop, words: str, streams: str) -> subprocess.CompletedProcess[str]:
    """Run a command through a shell, which can close or fill its streams."""
    command = f"{shlex.quote(sys.executable)} -m pawl -C {shlex.quote(str(shop.root))} {words} {streams}"
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, check=False)


HALT = "halt support/refund --channel production --reason stop"


STREAMS = [
    ">/dev/full",
    "-o json >&-",
    *(pytest.param(streams, marks=pytest.mark.slow) for streams in (">&-", "-o json >/dev/full", "2>&- >/dev/full")),
]


@pytest.mark.parametrize("streams", STREAMS)
def test_what_was_done_is_not_called_a_crash(released: Shop, streams: str) -> None:
    done = shell(released, HALT, streams)
    assert done.returncode == 0, done.stderr
    assert "fault of pawl" not in done.stderr
    assert [row["action"] for row in released.pawl("history", "production")["records"]][-1] == "halt"
    assert shell(released, "resolve support/refund --channel production", streams).returncode == 7


def test_inputs_from_a_closed_stream_are_told(released: Shop) -> None:
    done = shell(released, "render support/refund-draft@1.0.0 --inputs -", "<&-")
    assert done.returncode == 1
    assert "no standard input" in done.stdout


OWN = ["releases/production/000001.json", "registry/registry.yaml", "procedures/support/refund.yaml", ".git/config"]


@pytest.mark.parametrize("path", OWN)
def test_no_output_replaces_the_workspaces_own_files(released: Shop, path: str) -> None:
    before = (released.root / path).read_bytes()
    refused = released.pawl("snapshot", "production", "--out", str(released.root / path), code=2)
    assert released.codes(refused) == ["output-inside"]
    assert in_process("-C", str(released.root), "check", "-o", f"sarif={released.root / path}").code == 2
    assert before == (released.root / path).read_bytes()


def test_publishing_does_not_follow_links_out(released: Shop, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    released.second()
    (released.root / "registry/versions/support/check-eligibility").symlink_to(outside)
    before = released.files("releases")
    assert released.codes(released.pawl("publish", code=1)) == ["path-outside"]
    assert (before, []) == (released.files("releases"), list(outside.iterdir()))


def test_releasing_does_not_follow_links_out(released: Shop, tmp_path: Path) -> None:
    released.second()
    released.pawl("publish")
    outside = tmp_path / "outside"
    (released.root / "releases/evidence").rename(outside)
    (released.root / "releases/evidence").symlink_to(outside)
    before = {path.name for path in outside.rglob("*.json")}
    assert released.codes(released.promote(*SECOND, to="staging", code=1)) == ["path-outside"]
    assert before == {path.name for path in outside.rglob("*.json")}


def test_a_linked_folder_is_named_and_nothing_is_written_through_it(shop: Shop, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (shop.root / "procedures/link").symlink_to(outside)
    assert shop.codes(shop.pawl("new", "prompt", "link/x", code=1)) == ["path-outside"]
    assert shop.codes(shop.pawl("check", code=1)) == ["path-outside"]
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_private_folder_that_is_none_is_told(released: Shop, tmp_path: Path, kind: str) -> None:
    private = released.root / ".pawl"
    private.rename(tmp_path / "moved")
    if kind == "link":
        private.symlink_to(tmp_path / "moved")
    else:
        private.write_text("x", encoding="utf-8")
    refused = released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop", code=1)
    assert released.codes(refused) == ["path-outside"]


@pytest.mark.parametrize("text", ["format: 99\nchannels: {staging: {}}\n", "{{{", ""])
def test_a_stop_does_not_wait_for_registry_yaml(released: Shop, text: str) -> None:
    released.write("registry/registry.yaml", text)
    assert released.pawl(*shlex.split(HALT))["status"] == "done"
    released.pawl("revoke", "support/refund@1.0.0", "--reason", "leaks")
    released.pawl("resume", "support/refund", "--channel", "production", "--reason", "go on", code=1)
    assert released.codes(released.pawl("status"), "warning") != []


def test_status_names_a_pin_whose_frozen_file_is_gone(released: Shop) -> None:
    (released.root / "registry/versions/support/refund/1.0.0.yaml").unlink()
    assert "frozen-changed" in released.codes(released.pawl("status"), "warning")


def test_foreign_text_does_not_steer_the_terminal(shop: Shop) -> None:
    shop.write("procedures/a\x1b[31m\nb.yml", "x")
    shown = in_subprocess("-C", str(shop.root), "check").out
    assert "\x1b" not in shown
    assert "a\\x1b[31m\\nb.yml" in shown


@pytest.mark.parametrize(
    ("answer", "says"),
    [({"tools": []}, "holds no tools"), ({"error": {"code": 1, "message": "no such method"}}, "no such method")],
)
def test_importing_says_what_it_got(shop: Shop, answer: object, says: str) -> None:
    file = shop.write("tools.json", json.dumps(answer))
    assert says in str(shop.pawl("import", "mcp", str(file), code=1)["problems"])


def test_a_plan_speaks_of_the_policy_to_come(released: Shop) -> None:
    released.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
    assert "of policy 2" in str(released.pawl("policy", "plan")["problems"])


def test_damage_is_told_in_words(released: Shop) -> None:
    released.write("releases/production/000001.json", "[]")
    assert "another shape" in str(released.pawl("verify", code=6)["problems"])
    git(released.root, "checkout", "-q", "--", "releases")
    released.pawl("verify")
