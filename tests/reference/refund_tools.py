"""Implementations of the reference workspace's tools over a handful of orders, as the suites call them."""

from __future__ import annotations

from typing import Any

ORDERS: dict[str, dict[str, Any]] = {
    "A1": {"state": "delivered", "total": 40, "delivered_on": "2026-11-20"},
    "A2": {"state": "delivered", "total": 15.5, "delivered_on": "2026-06-01"},
    "B7": {"state": "open", "total": 99},
}
REFUNDABLE_FROM = "2026-11-01"


def lookup_order(order_id: str) -> dict[str, Any]:
    order = ORDERS.get(order_id)
    return {"found": True, **order} if order else {"found": False}


def check_eligibility(order_id: str) -> dict[str, Any]:
    order = ORDERS.get(order_id)
    if order is None:
        return {"eligible": False, "reason": "there is no such order"}
    if order["state"] != "delivered":
        return {"eligible": False, "reason": "it was not delivered yet"}
    if order["delivered_on"] < REFUNDABLE_FROM:
        return {"eligible": False, "reason": "it was delivered too long ago"}
    return {"eligible": True}
