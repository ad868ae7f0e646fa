"""What a sparse checkout left out is gone in pawl's eyes; its hints name the command that brings it here."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

from support import Shop, git


def sparse(live: Shop, tmp_path: Path, folder: str) -> Shop:
    """Return a checkout that leaves a folder out."""
    git(tmp_path, "clone", "-q", "--no-checkout", str(live.root), "sparse")
    root = tmp_path / "sparse"
    git(root, "sparse-checkout", "set", "--no-cone", "/*", f"!/{folder}/")
    git(root, "checkout", "-q", "main")
    assert not (root / folder).exists()
    return Shop(root)


def follow_last(shop: Shop, problem: dict[str, Any]) -> None:
    """Run the command after the last "or" of a hint; the first is for who lost the file, and Git refuses it here."""
    first, _, last = problem["hint"].partition("; or ")
    restoring = shlex.split(first.partition(": ")[2])
    assert subprocess.run(restoring, cwd=shop.root, capture_output=True, check=False).returncode != 0
    subprocess.run(shlex.split(last), cwd=shop.root, check=True)


def test_versions_that_a_sparse_checkout_left_out(live: Shop, tmp_path: Path) -> None:
    shop = sparse(live, tmp_path, "registry/versions")
    words = ("resolve", "support/refund", "--channel", "production")
    problem = shop.pawl(*words, code=6)["problems"][0]
    assert problem["code"] == "frozen-changed"
    follow_last(shop, problem)
    shop.pawl(*words)


def test_a_version_that_is_here_and_changed_needs_no_other_checkout(live: Shop) -> None:
    path = live.root / "registry" / "versions" / "support" / "refund" / "2.0.0.yaml"
    path.write_bytes(path.read_bytes() + b"#")
    problem = live.pawl("resolve", "support/refund", "--channel", "production", code=6)["problems"][0]
    assert "sparse" not in problem["hint"]
