"""A changed byte anywhere in what pawl writes below registry/ and releases/ is found, in every trial, by its file."""

from __future__ import annotations

import pytest

from hostile.trials import DEEDS, covered, missed
from support import Shop


@pytest.mark.parametrize("trials", [pytest.param(250, id="bounded"), pytest.param(2_000, marks=pytest.mark.slow)])
def test_every_changed_byte_is_found(plain_shop: Shop, trials: int) -> None:
    plain_shop.release_first()
    plain_shop.release_second()
    done, found = missed(plain_shop, trials, seed=20_261_130)
    assert [] == found
    assert set(DEEDS) == set(done)


def test_trials_reach_every_kind_of_file(plain_shop: Shop) -> None:
    plain_shop.release_first()
    kinds = {path.split("/")[1] for path in covered(plain_shop)}
    assert {"versions", "channels", "registry", "staging", "production", "evidence"} == kinds
