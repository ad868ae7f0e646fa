"""The hooks of pre-commit: its own validator takes them, and it runs them."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ci.places import HOOKS, ROOT, environment, read, run
from ci.shell_lines import parse, pawl_lines
from support import Shop, git

MANIFEST: list[dict[str, Any]] = read(HOOKS.read_text(encoding="utf-8"))
IDS = [hook["id"] for hook in MANIFEST]
PRE_COMMIT = (sys.executable, "-m", "pre_commit")


def test_the_manifest_is_valid(tmp_path: Path) -> None:
    done = run(*PRE_COMMIT, "validate-manifest", str(HOOKS), cwd=tmp_path, env=environment(tmp_path))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    (tmp_path / "hooks.yaml").write_text(HOOKS.read_text(encoding="utf-8").replace("entry:", "enter:"), "utf-8")
    done = run(*PRE_COMMIT, "validate-manifest", "hooks.yaml", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 1


@pytest.mark.parametrize("hook", MANIFEST, ids=IDS)
def test_a_hook_is_a_command_on_the_whole_workspace(hook: dict[str, Any]) -> None:
    (words,) = pawl_lines(hook["entry"])
    assert f"pawl-{parse(words)}" == hook["id"]
    assert hook["pass_filenames"] is False
    assert hook["require_serial"] is True


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        ("procedures/support/refund.yaml", ["pawl-check"]),
        ("conformance/refund.yaml", ["pawl-check"]),
        ("registry/registry.yaml", ["pawl-check"]),
        ("registry/versions/support/refund/1.0.0.yaml", ["pawl-check", "pawl-verify"]),
        ("releases/production/000001.json", ["pawl-check", "pawl-verify"]),
        ("README.md", []),
        ("src/procedures/x.yaml", []),
    ],
)
def test_which_files_start_which_hook(path: str, ids: list[str]) -> None:
    assert [hook["id"] for hook in MANIFEST if re.search(hook["files"], path)] == ids


def written(shop: Shop, repository: dict[str, Any]) -> None:
    """Write the configuration of pre-commit as the JSON that YAML holds too."""
    shop.write(
        ".pre-commit-config.yaml", str({"repos": [repository]}).replace("False", "false").replace("True", "true")
    )
    git(shop.root, "add", "-A")


def hooked(shop: Shop, environ: dict[str, str], **more: Any) -> tuple[int, str]:
    """Return how pre-commit ends on all files."""
    git(shop.root, "add", "-A")
    done = run(*PRE_COMMIT, "run", "--all-files", "--color", "never", cwd=shop.root, env=environ, **more)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_pre_commit_runs_the_hooks(released: Shop, tmp_path: Path) -> None:
    """With the entries of the manifest, and pawl as it is here in the place of an environment of its own."""
    environ = environment(tmp_path, PRE_COMMIT_HOME=str(tmp_path / "cache"))
    written(released, {"repo": "local", "hooks": [{**hook, "language": "system"} for hook in MANIFEST]})
    code, said = hooked(released, environ)
    assert (code, said.count("Passed")) == (0, 2), said
    released.write("procedures/broken.yaml", "a: [1")
    code, said = hooked(released, environ)
    assert (code, said.count("Passed"), said.count("Failed")) == (1, 1, 1), said
    assert "procedures/broken.yaml:" in said
    (released.root / "procedures" / "broken.yaml").unlink()
    released.edit("registry/versions/support/refund-draft/1.0.0.yaml", ("1.0.0", "1.0.0 "))
    code, said = hooked(released, environ)
    assert (code, said.count("Failed")) == (1, 2), said


def clone_of_this(folder: Path) -> tuple[Path, str]:
    """Return a repository with what an installation needs of this checkout, as it is now, and its commit."""
    clone = folder / "pawl"
    for name in ("src", "pyproject.toml", "README.md", "LICENSE", HOOKS.name):
        source = ROOT / name
        clone.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, clone / name)
    git(clone, "init", "-q", "-b", "main")
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "as it is")
    return clone, git(clone, "rev-parse", "HEAD").strip()


@pytest.mark.slow
def test_pre_commit_installs_and_runs_the_hooks_from_a_clone(shop: Shop, tmp_path: Path) -> None:
    environ = environment(tmp_path, PRE_COMMIT_HOME=str(tmp_path / "cache"))
    (tmp_path / "programs" / "pawl").unlink()
    probe = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(tmp_path / "probe"), "hatchling")
    reached = run(*probe, cwd=tmp_path, env=environ)
    if reached.returncode:
        pytest.skip(f"the package index cannot be reached: {reached.stderr[-300:]}")
    clone, revision = clone_of_this(tmp_path)
    written(shop, {"repo": str(clone), "rev": revision, "hooks": [{"id": hook} for hook in IDS]})
    code, said = hooked(shop, environ, timeout=900)
    assert (code, said.count("Passed"), said.count("Skipped")) == (0, 1, 1), said
    shop.write("procedures/broken.yaml", "a: [1")
    code, said = hooked(shop, environ)
    assert (code, said.count("Failed")) == (1, 1), said
    assert "procedures/broken.yaml:" in said
