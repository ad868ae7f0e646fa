"""Digests of implementations: every byte that is imported from the workspace counts, and nothing is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from pawl.conformance.implementations import implementation_digest

FILES = {
    "shop/__init__.py": "raise SystemExit('imported')\n",
    "shop/look.py": "from . import prices\nfrom shop.deep.rules import RULES\nimport json, helpers\ndef look(): pass\n",
    "shop/prices.py": "PRICES = {}\n",
    "shop/unused.py": "UNUSED = 1\n",
    "shop/deep/__init__.py": "",
    "shop/deep/rules.py": "def rules():\n    from ..late import LATE\n",
    "shop/late.py": "LATE = 1\n",
    "helpers.py": "import broken\n",
    "broken.py": "def (:\n",
    "loose/inner.py": "def run(): pass\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("shop/__init__.py", True),
        ("shop/look.py", True),
        ("shop/prices.py", True),
        ("shop/deep/__init__.py", True),
        ("shop/deep/rules.py", True),
        ("shop/late.py", True),
        ("helpers.py", True),
        ("broken.py", True),
        ("shop/unused.py", False),
        ("loose/inner.py", False),
    ],
)
def test_what_is_imported_counts(root: Path, name: str, counts: bool) -> None:
    before = implementation_digest("shop.look:look", root)
    (root / name).write_text(FILES[name] + "# changed\n", encoding="utf-8")
    after = implementation_digest("shop.look:look", root)

    assert before is not None
    assert (before != after) == counts


def test_the_function_counts(root: Path) -> None:
    assert implementation_digest("shop.look:look", root) != implementation_digest("shop.look:other", root)


def test_the_same_source_elsewhere_is_the_same(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    for name, text in FILES.items():
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(text, encoding="utf-8")

    assert implementation_digest("shop.look:look", root) == implementation_digest("shop.look:look", other)


def test_folders_without_init_are_found(root: Path) -> None:
    assert implementation_digest("loose.inner:run", root) is not None
    assert implementation_digest("inner:run", root, ("loose",)) is not None


def test_installed_modules_are_found(root: Path) -> None:
    assert implementation_digest("json.decoder:scan", root) is not None


@pytest.mark.parametrize("binding", ["nowhere:f", "shop.nowhere:f", "shop.look.more:f", "shop", "../shop:f"])
def test_what_is_not_found_has_no_digest(root: Path, binding: str) -> None:
    assert implementation_digest(binding, root) is None


def test_a_path_out_of_the_workspace_has_no_digest(root: Path) -> None:
    assert implementation_digest("shop.look:look", root, ("..",)) is None
