"""Links among what people write: refused in the work tree as in Git, whatever they lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import Shop, git

FILES = ("procedures/support/refund-draft.yaml", "conformance/refund-draft.yaml", "registry/policies/refunds.yaml")


def link(shop: Shop, path: str, *, target: str = "kept/it") -> None:
    file = shop.root / path
    (shop.root / target).parent.mkdir(exist_ok=True)
    file.rename(shop.root / target)
    file.symlink_to(shop.root / target)


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("relative", [True, False])
def test_a_link_inside_the_workspace_is_refused(shop: Shop, path: str, relative: bool) -> None:
    link(shop, path)
    if relative:
        file = shop.root / path
        file.unlink()
        file.symlink_to(Path(*[".."] * path.count("/"), "kept/it"))
    for words in (("check",), ("check", "--base", "HEAD")):
        answer = shop.pawl(*words, code=1)
        (found,) = [problem for problem in answer["problems"] if problem["code"] == "file-linked"]
        assert found["path"] == path


def test_nothing_is_published_through_a_link(shop: Shop) -> None:
    link(shop, FILES[0])
    shop.pawl("publish", code=1)
    assert not (shop.root / "registry/versions/support/refund-draft").exists()


def test_a_link_that_leads_out_is_called_so(shop: Shop, tmp_path: Path) -> None:
    link(shop, FILES[0], target="../it")
    assert shop.codes(shop.pawl("check", code=1))[0] == "path-outside"


def test_a_file_in_the_links_place_is_read_again(shop: Shop) -> None:
    link(shop, FILES[0])
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-q", "-m", "a link")
    file = shop.root / FILES[0]
    text = file.read_text(encoding="utf-8")
    file.unlink()
    file.write_text(text, encoding="utf-8")
    shop.pawl("check")


def test_the_settings_may_be_a_link(shop: Shop) -> None:
    link(shop, "registry/registry.yaml")
    shop.pawl("check")
