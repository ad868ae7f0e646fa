"""What users of other systems said about importing."""

from __future__ import annotations

import json
from typing import Any

from support import Shop

TOOLS: list[dict[str, Any]] = [
    {
        "name": "findOrder",
        "title": "Find an order",
        "description": "Finds an order. Call it first.",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "string", "nullable": True}}},
        "annotations": {"readOnlyHint": True, "strange": 1},
        "_meta": {"more": True},
    },
    {"name": "list-orders", "description": "Lists orders.", "inputSchema": {"type": "object"}},
]


def test_langfuse_langfuse_docs_2809_importing_again_changes_nothing(live: Shop) -> None:
    """Also after what was imported has been published, promoted and given a later version."""
    file = live.write("tools.json", json.dumps({"tools": TOOLS}))
    words = ("import", "mcp", str(file), "--prefix", "orders", "--owner", "shop")
    assert live.pawl(*words)["new"] == 2

    def again() -> None:
        before = live.files("procedures", "conformance", "registry", "releases")
        answer = live.pawl(*words)
        assert (answer["status"], answer["found"], answer["same"]) == ("unchanged", 2, 2)
        assert before == live.files("procedures", "conformance", "registry", "releases")

    again()
    live.pawl("publish")
    again()
    live.pawl("new", "suite", "orders/*")
    live.everywhere("orders/findorder@0.1.0", "orders/list-orders@0.1.0")
    again()
    live.edit("procedures/orders/list-orders.yaml", ('version: "0.1.0"', 'version: "0.2.0"'))
    live.pawl("publish")
    again()
    assert live.version("orders/list-orders") == "0.1.0"
    assert [row["version"] for row in live.pawl("show", "orders/findorder")["versions"]] == ["0.1.0"]
