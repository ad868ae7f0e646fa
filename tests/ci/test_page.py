"""docs/ci.md: what it shows is what pawl takes, and what editors are told is true of the files."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click
import pytest

from ci.places import HOOKS, PAGE, ROOT, environment, read, run
from ci.shell_lines import parse, pawl_lines
from pawl import __version__
from pawl.cli.shell import CRASH, USAGE
from pawl.policy.verdict import APPROVAL, EVIDENCE, FINDINGS, INTEGRITY, REFUSED, WITHHELD
from support import Shop, in_process

TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
INLINE = re.findall(r"`(pawl [^`]+)`", re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL))


def block(kind: str, part: str) -> str:
    found: str = next(text for named, text in BLOCKS if named == kind and part in text)
    return found


def test_every_command_line_is_one_that_pawl_takes() -> None:
    shell = [words for kind, text in BLOCKS if kind == "sh" for words in pawl_lines(text)]
    inline = [words for line in INLINE for words in pawl_lines(line)]
    taken = [parse(words) for words in shell]
    assert list(dict.fromkeys(taken)) == ["check", "verify", "audit", "completion", "schema"]
    assert len(taken) == 12
    assert {parse(words) for words in inline if words not in (["schema"], ["completion"], ["runs"])} == {"check"}


@pytest.mark.parametrize("line", ["check --bass x", "chekc", "audit --require-way-back many", "schema nothing", ""])
def test_a_wrong_line_would_be_seen(line: str) -> None:
    with pytest.raises(click.UsageError):
        parse(line.split())


def test_lines_are_found_wherever_a_shell_would_run_them() -> None:
    script = 'if pawl check; then eval "$(pawl verify)"; fi && pawl audit \\\n -o json > x # pawl no\necho pawl'
    assert [words[0] for words in pawl_lines(script)] == ["verify", "check", "audit"]


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT)
    assert links
    assert [link for link in links if not (PAGE.parent / link).exists()] == []


def test_the_exit_codes_are_those_of_pawl() -> None:
    rows = re.findall(r"^\| ([\d, ]+) \|", TEXT, re.MULTILINE)
    listed = {int(number) for row in rows for number in row.split(",")}
    assert listed == {FINDINGS, USAGE, REFUSED, EVIDENCE, INTEGRITY, WITHHELD, APPROVAL, CRASH}


def test_the_configuration_of_pre_commit_fits(tmp_path: Path) -> None:
    text = block("yaml", ".pre-commit-config.yaml")
    (tmp_path / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    words = (sys.executable, "-m", "pre_commit", "validate-config", ".pre-commit-config.yaml")
    done = run(*words, cwd=tmp_path, env=environment(tmp_path))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    (repository,) = read(text)["repos"]
    known = [hook["id"] for hook in read(HOOKS.read_text(encoding="utf-8"))]
    assert [hook["id"] for hook in repository["hooks"]] == known
    assert repository["rev"] == f"v{__version__}"


# Editors


def test_the_schemas_say_yes_to_the_files_of_their_places(plain_shop: Shop) -> None:
    """By the editor's settings on the page, with a checker that is not pawl's."""
    environ = environment(plain_shop.root.parent)
    done = run("sh", "-e", "-c", block("sh", ".schemas/prompt.json"), cwd=plain_shop.root, env=environ)
    assert done.returncode == 0, done.stderr
    settings = json.loads(block("json", "yaml.schemas"))["yaml.schemas"]
    assert len(settings) == 3
    for schema, places in settings.items():
        files = [str(path) for path in plain_shop.root.glob(places)]
        assert files, places
        check = (sys.executable, "-m", "check_jsonschema", "--schemafile", schema)
        done = run(*check, *files, cwd=plain_shop.root, env=environ)
        assert done.returncode == 0, done.stdout
        done = run(*check, "procedures/support/refund.yaml", cwd=plain_shop.root, env=environ)
        assert done.returncode == 1, f"{schema} takes a workflow"


def test_the_first_line_for_editors_is_no_change(plain_shop: Shop) -> None:
    plain_shop.pawl("publish")
    line, _, _ = block("yaml", "yaml-language-server").partition("\n")
    path = "procedures/support/refund-draft.yaml"
    plain_shop.write(path, f"{line}\n{plain_shop.read(path)}")
    assert plain_shop.pawl("publish")["status"] == "unchanged"
    target = (plain_shop.root / path).parent / line.partition("$schema=")[2]
    assert target.resolve().parent == (plain_shop.root / ".schemas").resolve()


def test_what_is_said_of_completion_is_in_the_scripts() -> None:
    for shell in ("bash", "zsh"):
        assert f'eval "$(pawl completion {shell})"' in TEXT
        assert f'eval "$(pawl completion {shell})"' in in_process("completion", shell).out
    assert "pawl completion fish > ~/.config/fish/completions/pawl.fish" in in_process("completion", "fish").out
    assert (ROOT / "docs" / "ci" / "gitlab.yaml").exists()
