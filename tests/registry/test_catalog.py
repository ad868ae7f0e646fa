"""The registry's journal: what may follow what, whatever the digests say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pawl.errors import IntegrityError
from pawl.ids import Name, parse_ref
from pawl.registry.catalog import LEVELS
from registry.make import adopted, catalog, pin, publication, published, withdrawn

Step = tuple[str, Mapping[str, Any]]
A1, A2 = pin("a", "1.0.0"), pin("a", "2.0.0")
RESTORE: Step = ("restore", {"ref": "a@1.0.0"})


def test_a_registry_is_what_its_records_say() -> None:
    found = catalog(published(A1), adopted(1), published(A2, pin("b")), adopted(2), withdrawn("a@1.0.0", "yanked"))
    assert [str(row.ref) for row in found.versions_of(Name("a"))] == ["a@1.0.0", "a@2.0.0"]
    assert [row.serial for row in found.published.values()] == [1, 3, 3]
    assert (found.policy.number if found.policy else 0, found.head.serial) == (2, 5)
    withdrawal = found.withdrawal(parse_ref("a@1.0.0"))
    assert withdrawal is not None
    assert (withdrawal.level, withdrawal.reason, withdrawal.serial) == ("yanked", "because", 5)
    assert found.withdrawal(parse_ref("a@2.0.0")) is None


def test_a_registry_without_records_knows_nothing() -> None:
    found = catalog()
    assert (found.policy, dict(found.published), found.head.serial) == (None, {}, 0)


IMPOSSIBLE: list[tuple[str, list[Step], int]] = [
    ("published twice", [published(A1), published(A1)], 2),
    ("published twice at once", [published(A1, A1)], 1),
    ("published anew with other bytes", [published(A1), published(pin("a", "1.0.0", content="other"))], 2),
    ("withdrawn before it was published", [withdrawn("a@1.0.0", "yanked"), published(A1)], 1),
    ("withdrawn to no level", [published(A1), withdrawn("a@1.0.0", "banned")], 2),
    ("restored and never withdrawn", [published(A1), RESTORE], 2),
    ("restored after a revocation", [published(A1), withdrawn("a@1.0.0", "revoked"), RESTORE], 3),
    ("policy numbers leave one out", [adopted(2)], 1),
    ("policy numbers go back", [adopted(1), adopted(1)], 2),
    ("an unknown action", [("forget", {})], 1),
    ("a channel's action", [("promote", {"moves": []})], 1),
    ("a body that lacks", [("publish", {})], 1),
    ("a body of another type", [("publish", {"published": [1]})], 1),
    ("no digest", [("publish", {"published": [{**publication(A1).as_dict(), "digest": "sha256:x"}]})], 1),
    ("no name", [("publish", {"published": [{**publication(A1).as_dict(), "name": "../a"}]})], 1),
]


@pytest.mark.parametrize(("_", "steps", "at"), IMPOSSIBLE, ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_follow_is_damage(_: str, steps: list[Step], at: int) -> None:
    with pytest.raises(IntegrityError) as found:
        catalog(*steps)
    assert f"record {at} of the journal registry" in found.value.message


@pytest.mark.parametrize("before", LEVELS)
@pytest.mark.parametrize("after", LEVELS)
def test_withdrawals_only_get_harder(before: str, after: str) -> None:
    steps = [published(A1), withdrawn("a@1.0.0", before), withdrawn("a@1.0.0", after)]
    levels: tuple[str, ...] = LEVELS
    if levels.index(after) > levels.index(before):
        found = catalog(*steps).withdrawal(A1.ref)
        assert found is not None
        assert found.level == after
    else:
        with pytest.raises(IntegrityError):
            catalog(*steps)


def test_what_was_restored_can_be_withdrawn_again() -> None:
    steps = [published(A1), withdrawn("a@1.0.0", "yanked"), RESTORE, withdrawn("a@1.0.0", "deprecated")]
    found = catalog(*steps).withdrawal(A1.ref)
    assert found is not None
    assert found.level == "deprecated"
