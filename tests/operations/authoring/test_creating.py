"""New suites for a glob: what does not read is named, and the others get theirs nevertheless."""

from __future__ import annotations

import pytest

from pawl.procedures.kinds import starter
from support import Shop

GOOD = starter("prompt", "shop/good")
BROKEN = {
    "procedures/shop/bad.yaml": "kind: [prompt\n",
    "procedures/shop/lacking.yaml": "kind: prompt\nname: shop/lacking\n",
    "procedures/shop/ending.yml": GOOD,
    "procedures/other/moved.yaml": GOOD.replace("shop/good", "shop/moved"),
    "procedures/other/unfinished.yaml": "kind: prompt\nname: shop/unfinished\n",
}


@pytest.mark.parametrize("path", BROKEN)
def test_a_glob_names_what_it_would_have_meant(plain_shop: Shop, path: str) -> None:
    plain_shop.write("procedures/shop/good.yaml", GOOD)
    plain_shop.write(path, BROKEN[path])
    answer = plain_shop.pawl("new", "suite", "shop/*", code=1)
    assert (answer["status"], answer["files"]) == ("failed", ["conformance/shop/good.yaml"])
    assert {problem["path"] for problem in answer["problems"]} == {path}
    again = plain_shop.pawl("new", "suite", "shop/*", code=1)
    assert again["files"] == []


def test_what_the_glob_does_not_mean_is_left_to_check(plain_shop: Shop) -> None:
    plain_shop.write("procedures/shop/good.yaml", GOOD)
    plain_shop.write("procedures/other/bad.yaml", "kind: [prompt\n")
    plain_shop.write("conformance/bad.yaml", "suite: [\n")
    answer = plain_shop.pawl("new", "suite", "shop/*")
    assert (answer["status"], answer["problems"]) == ("done", [])
