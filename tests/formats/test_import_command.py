"""The import command on files that people have worked on since."""

from __future__ import annotations

import json
from typing import Any

from support import Shop

LOOKUP: dict[str, Any] = {"name": "Lookup", "description": "Finds an order.", "inputSchema": {"type": "object"}}


def bring(shop: Shop, *tools: dict[str, Any], code: int = 0) -> dict[str, Any]:
    file = shop.write("tools.json", json.dumps({"tools": tools}))
    return shop.pawl("import", "mcp", str(file), "--prefix", "orders", code=code)


def test_importing_again_keeps_what_people_added(plain_shop: Shop) -> None:
    shop = plain_shop
    assert 1 == bring(shop, LOOKUP)["new"]
    path = "procedures/orders/lookup.yaml"
    shop.edit(
        path,
        ('version: "0.1.0"', 'version: "1.2.0"  # ours'),
        ("spec:\n", "owner: shop\nspec:\n  effects: ['orders:read']\n"),
    )
    before = shop.read(path)
    again = bring(shop, LOOKUP)
    assert ("unchanged", 1, before) == (again["status"], again["same"], shop.read(path))
    assert 1 == bring(shop, {**LOOKUP, "title": "Look up"})["changed"]
    shown = shop.pawl("check")
    assert [] == shop.codes(shown)
    for words in ('version: "1.2.0"', 'title: "Look up"', 'owner: "shop"', '- "orders:read"'):
        assert words in shop.read(path)


def test_a_prompt_is_not_replaced_and_nothing_else_is_written(plain_shop: Shop) -> None:
    shop = plain_shop
    prompt = shop.write("procedures/orders/lookup.yaml", shop.read("procedures/support/refund-draft.yaml"))
    before = shop.files()
    refused = bring(shop, {**LOOKUP, "name": "another"}, LOOKUP, code=1)
    assert ["import-existing"] == shop.codes(refused)
    assert before == shop.files()
    assert [prompt] == list(prompt.parent.iterdir())


def test_a_page_of_a_list_is_refused(plain_shop: Shop) -> None:
    file = plain_shop.write("tools.json", json.dumps({"tools": [LOOKUP], "nextCursor": "more"}))
    assert ["import-page"] == plain_shop.codes(plain_shop.pawl("import", "mcp", str(file), code=1))
