"""Every command through the real command line: help, JSON by its schema, exit codes, and what it leaves in Git."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import jsonschema_rs
import pytest

from pawl.cli.commands import COMMANDS
from pawl.cli.group import cli
from pawl.errors import UsageError
from pawl.ids import Channel
from pawl.operations.output_schemas import ANSWERS, output_schema
from pawl.operations.serving.serving import snapshot
from pawl.operations.session import Session
from pawl.registry.journal import Actor
from pawl.workspace import Workspace
from support import FIRST, SECOND, Ended, Shop, git, in_process, in_subprocess, story


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from walk(inner, (*path, name))


ALL = list(walk(cli))


@pytest.mark.parametrize("path", [path for path, _ in ALL], ids=" ".join)
def test_every_command_has_help(path: tuple[str, ...]) -> None:
    ended = in_process(*path, "--help")
    assert ended.code == 0
    assert "Usage: pawl" in ended.out


def test_every_command_and_option_says_what_it_is() -> None:
    assert [" ".join(path) for path, command in ALL if not (command.help or "").strip()] == []
    silent = [
        f"{' '.join(path)} {option.name}"
        for path, command in ALL
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def test_the_overview_lists_every_command() -> None:
    overview = in_process("--help").out
    assert [name for name in COMMANDS if f"\n  {name}" not in overview] == []


def test_nothing_is_coloured_where_nobody_looks(shop: Shop) -> None:
    assert "\x1b" not in in_subprocess("-C", str(shop.root), "check").out


def on_a_terminal(*words: str, **variables: str) -> str:
    """Run the command line with a terminal as its standard output and return what it shows."""
    screen, terminal = os.openpty()
    environment = {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, **variables}
    command = [sys.executable, "-m", "pawl", *words]
    with subprocess.Popen(command, stdout=terminal, stderr=terminal, env=environment) as process:
        os.close(terminal)
        shown = b""
        try:
            while piece := os.read(screen, 65_536):
                shown += piece
        except OSError:  # the other end was closed
            pass
        process.wait(timeout=300)
    os.close(screen)
    return shown.decode()


def test_a_terminal_is_coloured_unless_somebody_asks_for_none(shop: Shop) -> None:
    words = ("-C", str(shop.root), "status")
    assert "\x1b[" in on_a_terminal(*words, TERM="xterm")
    assert "\x1b" not in on_a_terminal(*words, TERM="xterm", NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(*words, "-o", "json", TERM="xterm")


def test_the_whole_life_by_commands(released: Shop) -> None:
    shop = released
    assert shop.pawl("status")["channels"][0]["channel"] == "production"
    assert [row["name"] for row in shop.pawl("list")["procedures"]] == ["support/refund", "support/refund-draft"]
    assert shop.pawl("list", "draft", "--kind", "prompt")["procedures"][0]["newest"] == "1.0.0"
    assert shop.pawl("show", "support/refund")["versions"][0]["version"] == "1.0.0"
    assert shop.pawl("show", "support/refund@1.0.0")["document"]["kind"] == "workflow"
    assert shop.pawl("policy", "show")["policy"] == 1
    assert all(row["passed"] for row in shop.pawl("policy", "test")["tests"])
    assert shop.pawl("policy", "plan")["changes"] == []
    assert shop.pawl("test")["tally"]["failed"] == 0
    assert shop.pawl("test", "support/refund-draft@1.0.0")["suites"][0]["outcome"] == "passed"
    assert shop.pawl("test", "refund-draft", "--case", "amount-is-needed")["tally"]["total"] == 1
    shop.second()
    assert shop.pawl("diff", "support/refund")["required"] == "major"
    assert shop.pawl("diff", "support/refund@1.0.0", "support/refund@1.0.0")["changes"] == []
    assert shop.pawl("publish", "--dry-run")["status"] == "would"
    shop.pawl("publish")
    shop.everywhere(*SECOND)
    assert shop.pawl("targets", "support/refund", "--channel", "production")["targets"][0]["allowed"]
    assert shop.pawl("audit", "--channel", "production")["channels"][0]["pins"] == 3
    shop.pawl("audit", "--require-way-back", code=1)
    shop.rollback("support/refund")
    assert shop.version("support/refund") == "1.0.0"
    shop.pawl("unreject", "support/refund@2.0.0", "--channel", "production", "--reason", "mended")
    shop.pawl("reject", "support/refund@2.0.0", "--channel", "production", "--reason", "no", "--until", "2100-01-01")
    shop.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    shop.pawl("resolve", "support/refund", "--channel", "production", code=7)
    shop.pawl("resume", "support/refund", "--channel", "production", "--reason", "go on")
    shop.pawl("deprecate", "support/refund@2.0.0", "--reason", "old")
    shop.pawl("yank", "support/refund@2.0.0", "--reason", "bad")
    shop.pawl("restore", "support/refund@2.0.0", "--reason", "good after all")
    shop.pawl("revoke", "support/refund@2.0.0", "--reason", "leaks")
    shop.pawl("restore", "support/refund@2.0.0", "--reason", "please", code=7)
    shop.pawl("remove", "support/refund", "--channel", "production", "--reason", "retired")
    assert [row["action"] for row in shop.pawl("history", "production")["records"]][-1] == "remove"
    assert shop.pawl("verify")["versions"] == 4
    assert shop.pawl("bump", "support/refund", "--part", "minor")["to"] == "2.1.0"
    shop.pawl("bump", "support/refund", "--part", "minor", "--to", "3.0.0", code=2)
    shop.edit("procedures/support/refund.yaml", ("Checks eligibility", "Still checks eligibility"))
    assert shop.pawl("bump", "support/refund")["to"] == "2.1.0"  # high enough already
    assert shop.codes(shop.pawl("diff", "support/refund", "support/refund-draft", code=2)) == ["names-differ"]
    change = shop.pawl("diff", "support/refund@1.0.0", "support/refund@2.0.0")["changes"][0]
    assert {"code", "path", "level", "reason", "breaks", "affects", "proof", "flags"} <= set(change)


def test_runs_by_commands(released: Shop) -> None:
    shop = released
    started = shop.pawl("run", "start", "--channel", "production", "--agent", "support", "--session", "s-1")
    run_id = started["run_id"]
    assert shop.pawl("run", "use", run_id, "support/refund-draft", "--document")["version"] == "1.0.0"
    assert shop.pawl("runs", "list", "--open")["runs"][0]["run_id"] == run_id
    assert shop.pawl("runs", "show", run_id)["uses"][0]["name"] == "support/refund-draft"
    shop.pawl("run", "end", run_id, "--outcome", "drafted")
    assert shop.pawl("run", "end", run_id, "--outcome", "drafted")["status"] == "unchanged"
    shop.pawl("run", "end", run_id, "--outcome", "denied", code=5)
    shop.pawl("run", "use", run_id, "support/refund", code=5)
    shop.pawl("run", "use", "nothing", "support/refund", code=1)
    found = shop.pawl("runs", "affected", "support/refund-draft@1.0.0")
    assert [row["outcome"] for row in found["used"]] == ["drafted"]
    only = shop.pawl("runs", "affected", "support/refund@1.0.0")
    assert ([], [run_id]) == (only["used"], [row["run_id"] for row in only["pinned_only"]])


def test_runs_of_another_workspace_are_told_from_those_of_this_one(released: Shop, tmp_path: Path) -> None:
    shop = released
    other = tmp_path / "other"
    other.mkdir()
    stranger = Shop(other)
    stranger.start()
    stranger.publish_first()
    stranger.pawl("promote", *FIRST, "--to", "staging", "--reason", "another workspace")
    theirs = stranger.pawl("run", "start", "--channel", "staging", "--agent", "theirs")["run_id"]
    nowhere = stranger.pawl("run", "start", "--channel", "production", "--agent", "theirs")["run_id"]
    shutil.rmtree(shop.root / ".pawl")
    shutil.copytree(other / ".pawl", shop.root / ".pawl")
    for words, told in (
        (("list",), {theirs}),
        (("show", theirs), {theirs}),
        (("show", nowhere), set[str]()),  # nothing was pinned there, and nothing was here
        (("affected", FIRST[0]), {theirs}),
    ):
        problems = shop.pawl("runs", *words)["problems"]
        assert [row["code"] for row in problems] == ["run-elsewhere"] * len(told), words
        assert all(run in problems[0]["message"] for run in told)
    ours = shop.pawl("run", "start", "--channel", "staging", "--agent", "ours")["run_id"]
    assert shop.pawl("runs", "list", "--agent", "ours")["problems"] == []
    assert ours not in shop.pawl("runs", "list")["problems"][0]["message"]
    for record in (shop.root / "releases" / "staging").iterdir():
        record.write_bytes(b"{}")
    assert shop.pawl("runs", "list")["problems"] == []  # what is damaged says nothing of a run


def test_render_and_snapshot_by_commands(released: Shop, tmp_path: Path) -> None:
    shop = released
    words = (
        "render",
        "support/refund-draft",
        "--channel",
        "production",
        "--input",
        "order_id=A1",
        "--input",
        "amount=20",
    )
    assert "20 for order A1" in shop.pawl(*words)["messages"][1]["content"]
    wrong = shop.pawl("render", "support/refund-draft@1.0.0", "--input", "amount=twenty", "--input", "x=1", code=1)
    assert "messages" not in wrong
    assert len(shop.codes(wrong)) == 3
    out = tmp_path / "production.json"
    assert shop.pawl("snapshot", "production", "--out", str(out), "--expires", "PT12H")["procedures"] == 2
    assert json.loads(out.read_text(encoding="utf-8"))["channel"] == "production"
    assert shop.pawl("snapshot", "production")["snapshot"]["serial"] == 1


def test_new_and_init_and_import_by_commands(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.pawl("init")
    assert shop.pawl("init")["status"] == "unchanged"
    for kind in ("prompt", "tool", "workflow"):
        shop.pawl("new", kind, f"mine/{kind}")
    shop.pawl("new", "prompt", "mine/prompt", code=5)
    shop.pawl("new", "policy", "mine")
    assert len(shop.pawl("new", "suite", "mine/*")["files"]) == 3
    tools = [
        {"name": "Create_Issue", "description": "Makes one.", "inputSchema": {"type": "object"}},
        {"name": "broken", "description": "No schema.", "inputSchema": None},
    ]
    file = shop.write("tools.json", json.dumps({"tools": tools}))
    refused = shop.pawl("import", "mcp", str(file), "--prefix", "github", code=1)
    assert (["refuse-schema"], False) == (shop.codes(refused), (tmp_path / "procedures/github").exists())
    taken = shop.pawl("import", "mcp", str(file), "--prefix", "github", "--owner", "platform", "--skip-unusable")
    assert (2, 1, 1) == (taken["found"], taken["new"], taken["refused"])
    again = shop.pawl("import", "mcp", str(file), "--prefix", "github", "--owner", "platform", "--skip-unusable")
    assert again["status"] == "unchanged"
    assert 'name: "Create_Issue"' in shop.read("procedures/github/create_issue.yaml")
    assert shop.pawl("check")["procedures"] == 5


@pytest.mark.slow
def test_demo_ends_well() -> None:
    ended = in_subprocess("demo")
    assert ended.code == 0, ended.err
    assert "$ pawl rollback support/refund --channel production --to 1.0.0" in ended.out
    assert "refused (exit 3)" in ended.out


@pytest.mark.parametrize("kind", ["prompt", "tool", "workflow", "suite", "policy", "registry", "output/promote"])
def test_schema_prints_a_json_schema(kind: str) -> None:
    schema = json.loads(in_process("schema", kind).out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_command_has_an_output_schema_and_a_line_in_the_docs() -> None:
    leaves = {" ".join(path) for path, command in ALL if not isinstance(command, click.Group)}
    assert leaves - set(ANSWERS) == {"completion", "demo", "schema"}
    assert set(ANSWERS) - leaves == {"check explain"}
    table = (Path(__file__).parents[2] / "docs" / "output.md").read_text(encoding="utf-8")
    assert [command for command in ANSWERS if f"`{command}`" not in table] == []
    for command in ANSWERS:
        jsonschema_rs.validator_for(output_schema(command))


# Exit codes, each provoked once, on demand by a process of its own.


def test_exit_codes(released: Shop) -> None:
    each_code_is_provoked(released, in_process)


@pytest.mark.slow
def test_exit_codes_by_processes(released: Shop) -> None:
    each_code_is_provoked(released, in_subprocess)


def each_code_is_provoked(shop: Shop, runner: Callable[..., Ended]) -> None:
    def ends(shop: Shop, *words: str) -> int:
        ended = runner("-C", str(shop.root), *words, "-o", "json")
        assert json.loads(ended.out)["exit_code"] == ended.code
        return ended.code

    assert ends(shop, "check") == 0
    assert ends(shop, "show", "support/nothing") == 1
    assert ends(shop, "promote", FIRST[0], "--reason", "no channel") == 2
    assert ends(shop, "promote", FIRST[0], "--to", "production") == 2
    assert ends(shop, "resolve", "Support/Refund", "--channel", "production") == 2
    assert ends(shop, "nonsense") == 2
    shop.second()
    shop.pawl("publish")
    assert ends(shop, "promote", SECOND[0], "--to", "staging", "--reason", "alone") == 3
    (shop.root / "conformance/check-eligibility.yaml").unlink()
    assert ends(shop, "promote", *SECOND, "--to", "staging", "--reason", "untested") == 4
    assert ends(shop, "new", "prompt", "support/refund-draft") == 5
    shop.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    assert ends(shop, "resolve", "support/refund", "--channel", "production") == 7
    frozen = shop.root / "registry/versions/support/refund-draft/1.0.0.yaml"
    frozen.write_bytes(frozen.read_bytes() + b"#")
    assert ends(shop, "resolve", "support/refund-draft", "--channel", "production") == 6


def test_a_fault_of_pawls_own_is_70(tmp_path: Path) -> None:
    code = "import pawl.cli.group as g, pawl.cli.main as m; g.cli.main = lambda **_: 1 / 0; m.run(['list', '-ojson'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (70, 70) == (done.returncode, json.loads(done.stdout)["exit_code"])
    assert "Traceback" not in done.stderr


INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
"""Whoever runs the tests in the background of a shell has interrupts ignored, and children inherit that."""


def test_a_person_can_stop_it() -> None:
    code = (
        f"{INTERRUPTIBLE}; import time, pawl.cli.group as g, pawl.cli.main as m; "
        "g.cli.main = lambda **_: (print('on', flush=True), time.sleep(30)); m.run([])"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130


def test_a_waiting_command_that_is_stopped_says_so_as_json(released: Shop) -> None:
    """It waits for inputs from standard input; a pipe that it holds open tells when it reads."""
    words = ["-C", str(released.root), "render", FIRST[1], "--inputs", "-", "-o", "json"]
    code = (
        f"{INTERRUPTIBLE}; import sys, pawl.operations.observing.reading as r; read = r.read_json; "
        "r.read_json = lambda *a: (print('reading', file=sys.stderr, flush=True), read(*a))[1]; "
        "import pawl.cli.main as m; m.run(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "reading\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (130, 130) == (process.returncode, json.loads(out)["exit_code"])
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-13-01", "99999-01-01", "0001-01-01", "0001-01-01T00:00:00+14:00", "1969-12-31", ""]
)
def test_what_is_no_time_is_a_wrong_use(plain_shop: Shop, text: str) -> None:
    for words in (("history", "staging", "--at", text), ("runs", "affected", FIRST[0], "--since", text)):
        assert in_process("-C", str(plain_shop.root), *words, "-o", "json").code == 2, words


@pytest.mark.parametrize("form", ["json", "text"])
def test_output_is_utf_8_whatever_the_locale(released: Shop, form: str) -> None:
    words = ("render", FIRST[1], "--input", "order_id=é😀", "--input", "amount=2", "-o", form)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "pawl", "-C", str(released.root), *words]
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert "é😀" in done.stdout.decode("utf-8")


@pytest.mark.parametrize("reason", [b"\xff", b"a\xed\xa0\x80", b"a\x01", b" ", b"x" * 2_001])
def test_reasons_that_no_record_can_hold(released: Shop, reason: bytes) -> None:
    words = ("halt", "support/refund", "--channel", "production", "--reason", os.fsdecode(reason), "-o", "json")
    ended = in_subprocess("-C", str(released.root), *words)
    assert (2, 2) == (ended.code, json.loads(ended.out)["exit_code"])


# Git


def test_a_writing_command_commits_exactly_its_own_files(shop: Shop) -> None:
    shop.write("notes.txt", "mine")
    shop.edit("procedures/support/refund.yaml", ("First version.", "First version!"))
    git(shop.root, "add", "notes.txt")
    shop.adopt()
    assert git(shop.root, "show", "--name-only", "--format=").split() == ["releases/registry/000001.json"]
    left = {"A  notes.txt", " M procedures/support/refund.yaml"}
    assert set(git(shop.root, "status", "--porcelain").splitlines()) == left


def test_no_commit_leaves_the_files_for_a_pull_request(shop: Shop) -> None:
    before = git(shop.root, "rev-parse", "HEAD")
    answer = shop.pawl("policy", "adopt", "--reason", "rules", "--no-commit")
    assert (None, before) == (answer["commit"], git(shop.root, "rev-parse", "HEAD"))
    assert "?? releases/" in git(shop.root, "status", "--porcelain")
    shop.pawl("publish")  # the next writing command commits what was left
    assert git(shop.root, "status", "--porcelain") == ""


def test_journals_are_written_on_their_branch_only(shop: Shop) -> None:
    shop.write("registry/registry.yaml", story("registry.yaml") + "branch: release\n")
    refused = shop.pawl("policy", "adopt", "--reason", "rules", code=2)
    assert shop.codes(refused) == ["wrong-branch"]
    assert not (shop.root / "releases").exists()


def test_outputs_of_check_for_machines(shop: Shop, tmp_path: Path) -> None:
    names = {
        "junit": "junit.xml",
        "sarif": "pawl.sarif",
        "github": "github.txt",
        "markdown": "pr.md",
        "text": "out.txt",
    }
    files = [word for kind, file in names.items() for word in ("-o", f"{kind}={tmp_path / file}")]
    ended = in_process("-C", str(shop.root), "check", "-o", "json", *files)
    assert json.loads(ended.out)["tally"]["passed"] == 4
    assert "<testsuite " in (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "pawl.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert "| `refund-draft` |" in (tmp_path / "pr.md").read_text(encoding="utf-8")
    assert in_process("-C", str(shop.root), "check", "-o", "json", "-o", "sarif").code == 2


def test_a_workspace_path_with_blanks_and_other_letters(tmp_path: Path) -> None:
    root = tmp_path / "ein Laden für Müsli"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    shop = Shop(root)
    shop.start()
    shop.release_first()
    assert shop.version("support/refund") == "1.0.0"
    assert os.listdir(root / "releases") != []  # noqa: PTH208 - names only


def test_outputs_that_cannot_be_written_are_told(shop: Shop) -> None:
    ended = in_process("-C", str(shop.root), "check", "-o", f"sarif={shop.root}/no/folder/x.sarif")
    assert (2, True) == (ended.code, "cannot be written" in ended.err)


def test_a_snapshot_that_would_expire_after_the_last_year_is_a_usage_error(released: Shop) -> None:
    late = datetime(9999, 12, 31, tzinfo=UTC)
    session = Session(workspace=Workspace(released.root), actor=Actor(name="Ada"), now=late)
    with pytest.raises(UsageError, match="9999"):
        snapshot(session, Channel("production"), None, timedelta(days=1))
