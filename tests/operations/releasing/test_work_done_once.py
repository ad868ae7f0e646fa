"""What a release looks at is looked at once: frozen files, journals and checks, however many steps ask for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pawl.io.files import read_bounded
from pawl.operations.releasing import judging
from pawl.workspace import index
from support import FIRST, SECOND, Shop

Counted = Callable[[Any, str], list[Any]]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Return what counts the calls of a function that a module has, by their last argument."""

    def count(module: Any, name: str) -> list[Any]:
        calls: list[Any] = []
        real = getattr(module, name)

        def counting(*given: Any, **more: Any) -> Any:
            calls.append(given)
            return real(*given, **more)

        monkeypatch.setattr(module, name, counting)
        return calls

    return count


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each frozen file is read."""
    read: Counter[str] = Counter()

    def reading(path: Path, **more: Any) -> bytes:
        if "/versions/" in str(path):
            read[str(path)] += 1
        return read_bounded(path, **more)

    monkeypatch.setattr("pawl.workspace.frozen.read_bounded", reading)
    return read


def test_a_promotion_reads_each_frozen_file_once(plain_shop: Shop, frozen: Counter[str]) -> None:
    plain_shop.release_first()
    plain_shop.second()
    plain_shop.pawl("publish")
    frozen.clear()
    plain_shop.promote(*SECOND, to="staging")
    assert set(frozen.values()) == {1}
    assert len(frozen) == len(FIRST) + len(SECOND)


def test_a_rollback_reads_each_once_and_judges_its_target_once(
    plain_shop: Shop, frozen: Counter[str], counted: Counted
) -> None:
    plain_shop.adopt()
    for patch in range(4):
        if patch:
            words = [(f"version: 1.{patch - 1}.0\n", f"version: 1.{patch}.0\n"), (f"{399 + patch}", f"{400 + patch}")]
            plain_shop.edit("procedures/support/refund-draft.yaml", *words)
        plain_shop.pawl("publish")
        plain_shop.promote(f"support/refund-draft@1.{patch}.0", to="staging")
    plain_shop.pawl("reject", "support/refund-draft@1.2.0", "--channel", "staging", "--reason", "it was worse")
    frozen.clear()
    judged = counted(judging, "read_affected")
    asked = counted(judging, "evaluate")
    answer = plain_shop.rollback("support/refund-draft", channel="staging")
    assert answer["moves"][0]["to"] == "1.1.0"
    assert [len(judged), len(asked)] == [2, 3]  # what is passed over is asked once, the target before and after suites
    assert dict(frozen) == dict.fromkeys(frozen, 1)
    assert len(frozen) == 3


def test_a_promotion_looks_at_each_journal_before_it_judges_and_under_its_lock(
    plain_shop: Shop, counted: Counted
) -> None:
    plain_shop.release_first()
    plain_shop.second()
    plain_shop.pawl("publish")
    looks = counted(index, "_looked_at")
    plain_shop.promote(*SECOND, to="staging")
    by_journal = Counter(given[1] for given in looks)
    assert by_journal == {"registry": 2, "staging": 2, "production": 2}
