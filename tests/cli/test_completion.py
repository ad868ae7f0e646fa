"""What a shell is told: commands, options, names, versions and channels, never an error and nothing that could run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from budgets import sweep
from pawl.cli import candidates
from pawl.cli.candidates import Candidate
from pawl.cli.commands import COMMANDS
from pawl.cli.completion import SHELLS
from pawl.workspace import Workspace
from support import SECOND, Shop, in_process

BREAKS = " \t\n\"'@><=;|&(:"
"""What bash parts words at, as it comes."""


@pytest.fixture
def published(plain_shop: Shop) -> Shop:
    """Versions 1 and 2 are published, and the channels are in registry.yaml alone."""
    plain_shop.reach(_published)
    return plain_shop


def _published(shop: Shop) -> None:
    shop.pawl("publish")
    shop.second()
    shop.pawl("publish")


def rows(shop: Shop, line: str, monkeypatch: pytest.MonkeyPatch, *, shell: str = "zsh") -> list[tuple[str, str]]:
    """Return kind and value of each answer to a line as it stands before the cursor; {root} is the workspace."""
    monkeypatch.setenv("_PAWL_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_LINE", line.replace("{root}", str(shop.root)))
    ended = in_process()
    assert (ended.code, ended.err) == (0, "")
    return [(row.split("\t")[0], row.split("\t")[1]) for row in ended.out.splitlines()]


CASES: tuple[tuple[str, list[str]], ...] = (
    ("pawl pro", ["promote"]),
    ("pawl policy ", ["adopt", "plan", "show", "test"]),
    ("pawl -C {root} show support/refund-", ["support/refund-draft"]),
    ("pawl -C {root} show support/refund", ["support/refund", "support/refund-draft"]),
    ("pawl -C {root} show support/refund@", ["support/refund@2.0.0", "support/refund@1.0.0"]),
    ("pawl -C {root} show 'support/refund@1", ["support/refund@1.0.0"]),
    ("pawl -C {root} promote support/refund-d", ["support/refund-draft@1.0.0"]),
    ("pawl -C {root} promote support/refund", ["support/refund@", "support/refund-draft@"]),
    ("pawl -C {root} promote support/refund@2.0.0 support/ch", ["support/check-eligibility@1.0.0"]),
    ("pawl -C {root} promote x@1.0.0 --to ", ["production", "staging"]),
    ("pawl -C {root} halt support/refund --channel=pro", ["--channel=production"]),
    ("pawl -C {root} history st", ["staging"]),
    ("pawl -C {root} rollback support/refund --channel production --to ", ["2.0.0", "1.0.0"]),
    ("pawl -C {root} rollback support/refund@1.0.0 --to=1", ["--to=1.0.0"]),
    ("pawl -C {root} rollback --to ", []),
    ("pawl -C {root} rollback support/refund support/refund-draft --to ", []),
    ("pawl -C {root} bump support/refund --to ", []),
    ("pawl -C {root} audit --req", ["--require-way-back"]),
    ("pawl schema regis", ["registry"]),
    ("pawl completion ", ["bash", "zsh", "fish"]),
    ("pawl -C {root} check -o ", ["text", "json", "github", "junit", "sarif", "markdown"]),
    ("pawl -C {root} check -o json -o j", ["json", "junit"]),
    ("pawl -C {root} list --output=", ["--output=text", "--output=json"]),
    ("pawl -C {root} check -o junit=x", []),
    ("pawl -C {root} test support/refund-", ["support/refund-draft"]),
    ("pawl -C {root} test support/refund@1", ["support/refund@1.0.0"]),
    ("pawl -C {root} new suite support/c", ["support/check-eligibility"]),
    ("pawl -C {root} new prompt support/c", []),
    ("pawl check --explain schema-dept", ["schema-depth"]),
    ("pawl -C {root} policy show ", []),
    ("pawl -C {root} remove support/c", ["support/check-eligibility"]),
    ("pawl -C {root} remove --channel production ", []),
    ("pawl -C {root} show nobody/knows", []),
    ("pawl -C {root} show nobody/knows@", []),
    ("pawl nothing ", []),
    ("pawl -C {root} show support/refund@@", []),
    ("pawl -C {root} show '", ["support/check-eligibility", "support/refund", "support/refund-draft"]),
    ("", list(COMMANDS)),
)


@pytest.mark.parametrize(("line", "expected"), CASES, ids=[line for line, _ in CASES])
def test_a_line_is_completed(published: Shop, line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert [value for _, value in rows(published, line, monkeypatch)] == expected


def test_what_is_pinned_can_be_removed_and_what_is_adopted_be_shown(
    released: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    released.second()
    released.pawl("publish")
    released.adopt("again")
    released.promote(*SECOND, to="staging")
    both = ["support/refund", "support/refund-draft"]
    for channel, expected in (("production", both), ("staging", ["support/check-eligibility", *both])):
        line = f"pawl -C {{root}} remove --channel {channel} support/"
        assert [value for _, value in rows(released, line, monkeypatch)] == expected
    assert [value for _, value in rows(released, "pawl -C {root} policy show ", monkeypatch)] == ["1"]
    for text in ("[]", "{", '{"pins": [1]}', '{"pins": {"$(x)": {}}}'):
        released.write("registry/channels/staging.json", text)
        released.write("releases/registry/000001.json", text)
        for line in ("remove --channel staging ", "policy show "):
            assert rows(released, f"pawl -C {{root}} {line}", monkeypatch) == []


HEAVY = {"pydantic", "detect_secrets", "resolvelib", "jinja2", "pawl.conformance.suites", "pawl.operations.sources"}


@pytest.mark.parametrize("line", ["promote ", "remove --channel ", "check -o ", "test ", "new suite ", "why s"])
def test_a_line_is_completed_without_what_judges(published: Shop, line: str) -> None:
    code = "import sys\nfrom pawl.cli.main import run\ntry:\n    run([])\nfinally:\n    print(*sys.modules)"
    environment = dict(os.environ, _PAWL_COMPLETE="zsh_complete", COMP_LINE=f"pawl {line}")
    words = (sys.executable, "-c", code)
    done = subprocess.run(words, cwd=published.root, env=environment, capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.split()) == set()


def test_a_name_that_is_not_published_yet_can_be(plain_shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows(plain_shop, "pawl -C {root} publish support/refund-", monkeypatch) == [
        ("plain", "support/refund-draft")
    ]
    assert rows(plain_shop, "pawl -C {root} promote support/refund-", monkeypatch) == []


def test_folders_and_files_are_left_to_the_shell(published: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows(published, "pawl -C /so me", monkeypatch) == []
    assert rows(published, "pawl -C '/so me", monkeypatch) == [("dir", "-")]
    assert rows(published, "pawl snapshot production --out x", monkeypatch) == [("file", "-")]


def test_a_name_before_its_version_takes_no_space(published: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {kind for kind, _ in rows(published, "pawl -C {root} promote supp", monkeypatch)}
    assert kinds == {"open"}


# Broken and hostile workspaces

HOSTILE = ("$(touch ran)", "`touch ran`", "a;touch ran", "-rf", "*", "two words", "A", "..x", "tab\there", "line\nhere")


def test_names_that_a_shell_would_act_on_are_not_offered(published: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HOSTILE:
        for parent in ("", "support"):
            folder = published.root / "registry" / "versions" / parent / name
            folder.mkdir(parents=True)
            (folder / "1.0.0.yaml").write_text("", encoding="utf-8")
        (published.root / "registry" / "versions" / "support" / "refund" / f"1.0.0{name}.yaml").touch()
        (published.root / "releases" / name).mkdir(parents=True)
        (published.root / "procedures" / f"{name}.yaml").touch()
    for line, count in (("show ", 3), ("show support/refund@", 2), ("history ", 2), ("publish ", 3)):
        found = [value for _, value in rows(published, f"pawl -C {{root}} {line}", monkeypatch)]
        assert (
            len(found),
            [value for value in found if not value.replace("@", "/").islower() and "@" not in value],
        ) == (
            count,
            [],
        )


def test_links_are_not_followed(published: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    (outside / "secret").mkdir(parents=True)
    (outside / "secret" / "1.0.0.yaml").touch()
    versions = published.root / "registry" / "versions"
    (versions / "out").symlink_to(outside)
    (versions / "support" / "round").symlink_to(versions)
    assert rows(published, "pawl -C {root} show out", monkeypatch) == []
    assert rows(published, "pawl -C {root} show out/secret@", monkeypatch) == []
    assert rows(published, "pawl -C {root} show support/round", monkeypatch) == []
    assert rows(published, "pawl -C {root} show ../../../outside/secret@", monkeypatch) == []


def test_a_broken_workspace_is_completed_by_what_is_left(published: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    published.write("registry/registry.yaml", "channels: {a: &x 1, b: *x}")
    assert rows(published, "pawl -C {root} history ", monkeypatch) == []
    (published.root / "registry" / "registry.yaml").unlink()
    assert rows(published, "pawl -C {root} show supp", monkeypatch) == []


def test_a_pipe_in_the_place_of_a_file_hangs_nobody(published: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = published.root / "registry" / "versions" / "support"
    os.mkfifo(versions / "refund" / "3.0.0.yaml")
    shutil.rmtree(versions / "refund-draft")
    os.mkfifo(versions / "refund-draft")
    found = [value for _, value in rows(published, "pawl -C {root} show support/refund@", monkeypatch)]
    assert found == ["support/refund@2.0.0", "support/refund@1.0.0"]
    assert rows(published, "pawl -C {root} show support/refund-", monkeypatch) == []


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "line", ["pawl \\", "pawl '", 'pawl "$(', "pawl --to=", "pawl -C", "pawl -C '", "pawl show @", "\0", "pawl -o -o"]
)
def test_no_line_is_an_error(published: Shop, shell: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "\0" in line:
        monkeypatch.delenv("COMP_LINE", raising=False)
        line = ""
    rows(published, line, monkeypatch, shell=shell)


def test_a_shell_that_nobody_knows_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for instruction in ("powershell_complete", "bash", "bash_other", "_"):
        monkeypatch.setenv("_PAWL_COMPLETE", instruction)
        ended = in_process()
        assert (ended.code, ended.out, ended.err) == (1, "", "")


# Bounds


def workspace_of(root: Path, *names: str) -> Workspace:
    (root / "registry").mkdir(parents=True)
    for name in names:
        folder = root / "registry" / "versions" / name
        folder.mkdir(parents=True)
        (folder / "1.0.0.yaml").touch()
    return Workspace(root)


def test_too_many_answers_are_cut_at_the_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = workspace_of(tmp_path, "a/one", "a/two", "b/three", "c")
    monkeypatch.setattr(candidates, "MAX_ANSWERS", 3)
    expected = [Candidate("a/", open=True), Candidate("b/", open=True), Candidate("c")]
    assert candidates.names_or_refs(workspace, [], "") == expected
    assert candidates.refs(workspace, [], "") == [*expected[:2], Candidate("c@", open=True)]
    monkeypatch.setattr(candidates, "MAX_ANSWERS", 2)
    assert list(candidates.names_or_refs(workspace, [], "")) == []
    assert candidates.names_or_refs(workspace, [], "a/") == [Candidate("a/one"), Candidate("a/two")]


def test_many_versions_are_cut_at_the_next_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = workspace_of(tmp_path, "a")
    for version in ("1.1.0", "2.0.0", "2.1.0rc1"):
        (tmp_path / "registry" / "versions" / "a" / f"{version}.yaml").touch()
    monkeypatch.setattr(candidates, "MAX_ANSWERS", 2)
    assert candidates.refs(workspace, [], "a@") == [Candidate("a@2.", open=True), Candidate("a@1.", open=True)]
    assert candidates.versions(workspace, ["a"], "2") == [Candidate("2.1.0rc1"), Candidate("2.0.0")]


def test_what_would_take_long_is_not_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = workspace_of(tmp_path, "a/one", "a/two", "b/three", "c")
    (tmp_path / "registry" / "registry.yaml").touch()
    monkeypatch.setattr(candidates, "MAX_LOOKED", 6)
    assert list(candidates.fitting(candidates.names_or_refs, workspace.root, [], "")) == []
    assert candidates.fitting(candidates.names_or_refs, workspace.root, [], "c") == [Candidate("c")]


def test_commands_are_completed_without_importing_them(published: Shop) -> None:
    code = "import sys\nfrom pawl.cli.main import run\ntry:\n    run([])\nfinally:\n    print(*sys.modules)"
    for line, allowed in (("pawl pro", set()), ("pawl completion ba", set()), ("pawl show supp", {"pawl.cli.show"})):
        environment = dict(os.environ, _PAWL_COMPLETE="zsh_complete", COMP_LINE=line)
        words = subprocess.run(
            [sys.executable, "-c", code],
            cwd=published.root,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        modules = {f"pawl.cli.{module}" for module, _ in COMMANDS.values()} - {"pawl.cli.completion"}
        assert modules & set(words) == allowed, line


# The scripts


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = in_process("completion", shell)
    assert (printed.code, printed.err) == (0, "")
    assert f"_PAWL_COMPLETE={shell}_complete" in printed.out
    assert f"pawl completion {shell}" in printed.out, "it says how it is installed"
    assert "2>/dev/null" in printed.out, "what goes wrong is not shown"
    monkeypatch.setenv("_PAWL_COMPLETE", f"{shell}_source")
    assert in_process().out.strip() == printed.out.strip()


def parted(line: str) -> list[str]:
    """Return a line's words as bash makes them with ``BREAKS``, for lines without quotes."""
    words: list[str] = []
    for piece in line.split(" "):
        word = ""
        for sign in piece:
            special = sign in BREAKS
            if word and (word[-1] in BREAKS) != special:
                words.append(word)
                word = ""
            word += sign
        words.append(word)
    return words


def replied(shop: Shop, line: str, word: str, *, script: str, prepare: str = "") -> list[str]:
    """Return COMPREPLY of a real bash after the script's function was called as bash calls it."""
    code = (
        f'{prepare}\nsource "$SCRIPT"\nCOMP_WORDS=("${{@:2}}")\nCOMP_CWORD=$(($# - 2))\n'
        'COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_TYPE=9\n_pawl_completion pawl "$1" "${COMP_WORDS[COMP_CWORD-1]}"\n'
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    bin_ = shop.root.parent / "bin"
    bin_.mkdir(exist_ok=True)
    (bin_ / "pawl").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pawl "$@"\n', encoding="utf-8")
    (bin_ / "pawl").chmod(0o755)
    (bin_ / "script").write_text(script, encoding="utf-8")
    environment = dict(os.environ, PATH=f"{bin_}:{os.environ['PATH']}", SCRIPT=str(bin_ / "script"), LINE=line)
    done = subprocess.run(
        ["bash", "--norc", "-c", code, "bash", word, *parted(line)],
        cwd=shop.root,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


BASH: tuple[tuple[str, str, list[str]], ...] = (
    ("pawl pro", "pro", ["promote"]),
    ("pawl show support/refund-", "support/refund-", ["support/refund-draft"]),
    ("pawl show support/refund@", "@", ["@2.0.0", "@1.0.0"]),
    ("pawl show support/refund@", "", ["2.0.0", "1.0.0"]),
    ("pawl show support/refund@1", "1", ["1.0.0"]),
    ("pawl show support/refund@1", "@1", ["@1.0.0"]),
    ("pawl show support/refund@1", "support/refund@1", ["support/refund@1.0.0"]),
    ("pawl promote support/refund@1.0.0 support/refund-d", "support/refund-d", ["support/refund-draft@1.0.0"]),
    ("pawl history --at=", "", [""]),
    ("pawl halt support/refund --channel=pro", "pro", ["production"]),
    ("pawl halt support/refund --channel=", "", ["production", "staging"]),
    ("pawl rollback support/refund --channel production --to 1", "1", ["1.0.0"]),
    ("pawl show nobody/knows", "nobody/knows", [""]),
    ("pawl halt support/refund --cha", "--cha", ["--channel"]),
)
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")


WORDS = {f"{line}|{word}": (line, word, expected) for line, word, expected in BASH}
IN_BASH = ("pawl show support/refund@|@", "pawl show support/refund@|", "pawl halt support/refund --channel=|")


@needs_bash
@pytest.mark.parametrize("case", sweep(WORDS, *IN_BASH))
def test_bash_gets_what_it_replaces(published: Shop, case: str) -> None:
    line, word, expected = WORDS[case]
    assert replied(published, line, word, script=in_process("completion", "bash").out) == expected


@needs_bash
def test_nothing_of_a_workspace_runs_in_bash(published: Shop) -> None:
    for name in HOSTILE:
        folder = published.root / "registry" / "versions" / "support" / name
        folder.mkdir(parents=True)
        (folder / "1.0.0.yaml").touch()
    found = replied(published, "pawl show support/", "support/", script=in_process("completion", "bash").out)
    assert found == ["support/check-eligibility", "support/refund", "support/refund-draft"]
    assert replied(published, "pawl show $(touch", "touch", script=in_process("completion", "bash").out) == [""]
    assert not list(published.root.rglob("ran"))


@needs_bash
def test_the_script_itself_lets_nothing_run_or_spread(published: Shop) -> None:
    """Even from a pawl that answers with what it never answers with."""
    script = in_process("completion", "bash").out
    lying = "command() { printf 'plain\\t$(touch ran)*\\t\\nplain\\t*\\t\\nodd\\tx\\t\\n'; }"
    assert replied(published, "pawl show ", "", script=script, prepare=lying) == ["$(touch ran)*", "*"]
    assert not list(published.root.rglob("ran"))


@needs_bash
def test_a_pawl_that_is_gone_is_silent(published: Shop) -> None:
    script = in_process("completion", "bash").out
    gone = "command() { builtin command nowhere-to-be-found; }"
    assert replied(published, "pawl show ", "", script=script, prepare=gone) == [""]


@pytest.mark.parametrize("shell", [name for name in SHELLS if shutil.which(name)])
def test_the_shell_reads_the_script(shell: str, tmp_path: Path) -> None:
    file = tmp_path / "script"
    file.write_text(in_process("completion", shell).out, encoding="utf-8")
    done = subprocess.run([shell, "-n", str(file)], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
