"""The workflows that people copy: valid by the services' schemas, safe, and their scripts do what they say."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from ci.places import GITHUB, GITLAB, PAGE, environment, program, read, run
from ci.shell_lines import parse, pawl_lines
from ci.workflow_lint import job_faults, lint
from pawl import __version__
from support import Shop, git

WORKFLOW = GITHUB.read_text(encoding="utf-8")
PIPELINE = GITLAB.read_text(encoding="utf-8")


def scripts(text: str) -> list[str]:
    """Return every script of a workflow or a pipeline."""
    found = []
    document = read(text)
    for job in document.get("jobs", document).values():
        found += [step["run"] for step in job.get("steps", ()) if "run" in step]
        found += [line for part in ("before_script", "script") for line in job.get(part, ())]
    return found


# Schemas and rules


@pytest.mark.parametrize(
    ("schema", "path"), [("vendor.github-workflows", GITHUB), ("vendor.gitlab-ci", GITLAB)], ids=["github", "gitlab"]
)
def test_the_services_schemas_take_them(schema: str, path: Path, tmp_path: Path) -> None:
    check = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema)
    done = run(*check, str(path), cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    broken = tmp_path / "broken.yaml"
    old, new = ("runs-on: ubuntu-latest", "runs-off: x") if path == GITHUB else ("when: always", "when: [sometimes]")
    broken.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert run(*check, str(broken), cwd=tmp_path, env=environment(tmp_path)).returncode == 1


def test_the_workflow_is_safe() -> None:
    assert list(lint(read(WORKFLOW))) == []


FAULTS: tuple[tuple[str, str, str], ...] = (
    ("  pull_request:\n", "  pull_request_target:\n", "a trigger hands secrets to a stranger's branch"),
    ("permissions: {}", "permissions: write-all", "permissions are given to the whole workflow, not job by job"),
    ("      pull-requests: write", "      contents: write", "comment: it may write contents"),
    (
        '"origin/$GITHUB_BASE_REF"',
        '"origin/${{ github.base_ref }}"',
        "check: a script has a value pasted in",
    ),
    (
        "upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f",
        "upload-artifact@v7",
        "check: actions/upload-artifact@v7 is not pinned to a commit",
    ),
    (
        "persist-credentials: false # no",
        "persist-credentials: true # no",
        "check: the checkout leaves credentials behind",
    ),
)


@pytest.mark.parametrize(("old", "new", "fault"), FAULTS, ids=[fault for _, _, fault in FAULTS])
def test_what_would_be_unsafe_is_found(old: str, new: str, fault: str) -> None:
    assert old in WORKFLOW
    assert list(lint(read(WORKFLOW.replace(old, new)))) == [fault]


def test_the_page_adds_a_job_that_is_as_safe() -> None:
    block = next(text for text in PAGE.read_text(encoding="utf-8").split("```yaml\n") if "code-scanning:" in text)
    job = read(block.partition("```")[0])["code-scanning"]
    assert list(job_faults(job)) == []
    assert job["needs"] in read(WORKFLOW)["jobs"]


@pytest.mark.parametrize("text", [WORKFLOW, PIPELINE], ids=["github", "gitlab"])
def test_every_command_line_is_one_that_pawl_takes(text: str) -> None:
    lines = [words for script in scripts(text) for words in pawl_lines(script)]
    assert [parse(words) for words in lines] == ["check", "verify", "audit"]
    assert "--base" in lines[0]
    assert "--require-way-back" in lines[2]
    assert sum("=" not in lines[0][at + 1] for at, word in enumerate(lines[0]) if word == "-o") == 1


@pytest.mark.parametrize("text", [WORKFLOW, PIPELINE], ids=["github", "gitlab"])
def test_this_version_is_among_those_that_are_installed(text: str) -> None:
    installs = [script for script in scripts(text) if "pip install" in script]
    assert installs
    for script in installs:
        requirement = Requirement(script.split('"')[1])
        assert requirement.name == "pawl-release"
        assert requirement.specifier.contains(__version__)
        assert not requirement.specifier.contains(f"{int(__version__.partition('.')[0]) + 1}.0.0")


@pytest.mark.parametrize("text", [WORKFLOW, PIPELINE], ids=["github", "gitlab"])
def test_no_script_has_a_fault_of_grammar(text: str, tmp_path: Path) -> None:
    for script in scripts(text):
        done = run("bash", "-n", "-c", script, cwd=tmp_path, env=environment(tmp_path))
        assert (done.returncode, done.stderr) == (0, ""), script


# The scripts run


def step(name: str) -> str:
    """Return the script of a named step of the workflow."""
    steps = [each for job in read(WORKFLOW)["jobs"].values() for each in job["steps"]]
    script: str = next(each["run"] for each in steps if each.get("name") == name)
    return script


def pipeline_script(job: str) -> str:
    return "\n".join(read(PIPELINE)[job]["script"])


@pytest.fixture
def branch(shop: Shop, tmp_path: Path) -> Shop:
    """A clone with a branch that changes the draft's words under a new version; its base is origin/main."""
    git(tmp_path, "clone", "-q", str(shop.root), "clone")
    clone = Shop(tmp_path / "clone")
    git(clone.root, "checkout", "-q", "-b", "feature")
    return clone


def commit(shop: Shop) -> None:
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-q", "-m", "a change")


def break_suite(shop: Shop) -> None:
    shop.edit("procedures/support/refund-draft.yaml", ("{{ amount }}", "something"))


Change = Callable[[Shop], Any]
OUTCOMES: tuple[tuple[str, Change, int], ...] = (
    ("good", lambda shop: shop.edit("procedures/support/refund-draft.yaml", ("summary: ", "summary: Now, ")), 0),
    ("failing", break_suite, 1),
    ("unreadable", lambda shop: shop.write("procedures/broken.yaml", "a: [1"), 1),
)


@pytest.mark.parametrize(("change", "code"), [row[1:] for row in OUTCOMES], ids=[row[0] for row in OUTCOMES])
@pytest.mark.parametrize("service", ["github", pytest.param("gitlab", marks=pytest.mark.slow)])
def test_the_check_script(branch: Shop, tmp_path: Path, service: str, change: Change, code: int) -> None:
    change(branch)
    commit(branch)
    base = git(branch.root, "rev-parse", "origin/main").strip()
    more = {"GITHUB_BASE_REF": "main", "FORK": "false", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
    more |= {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "7", "CI_MERGE_REQUEST_PROJECT_ID": "7"}
    script = step("Check") if service == "github" else pipeline_script("pawl-check")
    done = run("bash", "-e", "-c", script, cwd=branch.root, env=environment(tmp_path, **more))
    assert done.returncode == code, done.stdout + done.stderr
    reports = branch.root / "reports"
    assert sorted(path.name for path in reports.iterdir()) == ["junit.xml", "pawl.md", "pawl.sarif"]
    assert json.loads((reports / "pawl.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert (reports / "junit.xml").read_text(encoding="utf-8").startswith("<?xml")
    if service == "github" and code:
        assert "::error" in done.stdout


@pytest.mark.parametrize("service", ["github", "gitlab"])
@pytest.mark.parametrize("fork", [True, False], ids=["fork", "own"])
def test_code_of_a_fork_is_not_run(tmp_path: Path, service: str, fork: bool) -> None:
    environ = environment(tmp_path)
    program(tmp_path / "programs" / "pawl", 'printf "%s\\n" "$@" > said')
    environ |= {"FORK": str(fork).lower(), "GITHUB_BASE_REF": "$(touch ran) x", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "y z"}
    environ |= {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "8" if fork else "7", "CI_MERGE_REQUEST_PROJECT_ID": "7"}
    script = step("Check") if service == "github" else pipeline_script("pawl-check")
    assert run("bash", "-e", "-c", script, cwd=tmp_path, env=environ).returncode == 0
    said = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    assert ("--no-code" in said) is fork
    assert said[:3] == ["check", "--base", "origin/$(touch ran) x" if service == "github" else "y z"]
    assert not (tmp_path / "ran").exists()


def test_the_summary_and_the_comment(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    environ = environment(tmp_path, GITHUB_STEP_SUMMARY=str(tmp_path / "summary"), NUMBER="12")
    assert run("bash", "-e", "-c", step("Summary"), cwd=tmp_path, env=environ).returncode == 0
    (tmp_path / "reports" / "pawl.md").write_text("# pawl\n" + "x" * 70_000, encoding="utf-8")
    assert run("bash", "-e", "-c", step("Summary"), cwd=tmp_path, env=environ).returncode == 0
    assert (tmp_path / "summary").read_text(encoding="utf-8").startswith("# pawl\n")
    program(tmp_path / "programs" / "gh", 'printf "%s\\n" "$@" > said')
    assert run("bash", "-e", "-c", step("Comment"), cwd=tmp_path, env=environ).returncode == 0
    said = (tmp_path / "said").read_text(encoding="utf-8").split()
    assert said[:3] == ["pr", "comment", "12"]
    assert {"--edit-last", "--create-if-none"} < set(said)
    assert len((tmp_path / said[said.index("--body-file") + 1]).read_text(encoding="utf-8")) == 60_000


@pytest.mark.slow
def test_what_is_released_is_held_against_policy(released: Shop, tmp_path: Path) -> None:
    """First versions have no way back yet and are green; one that was closed is a finding, changed bytes are worse."""
    environ = environment(tmp_path)
    scripts_ = [step("Verify"), step("Audit"), pipeline_script("pawl-released")]
    codes = [run("bash", "-e", "-c", each, cwd=released.root, env=environ).returncode for each in scripts_]
    assert codes == [0, 0, 0]
    released.release_second()
    released.pawl("reject", "support/refund@1.0.0", "--channel", "production", "--reason", "it leaks")
    codes = [run("bash", "-e", "-c", each, cwd=released.root, env=environ).returncode for each in scripts_]
    assert codes == [0, 1, 1]
    released.edit("registry/versions/support/refund-draft/1.0.0.yaml", ("1.0.0", "1.0.0 "))
    codes = [run("bash", "-e", "-c", each, cwd=released.root, env=environ).returncode for each in scripts_]
    assert codes == [6, 6, 6]
