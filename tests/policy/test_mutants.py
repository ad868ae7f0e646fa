"""No fault in the evaluator turns a refusal into a permission unseen: mutants of its modules, and who tells them.

Each mutant must be told from the evaluator by the table of situations or by the tests of its module, or stand in
survivors.yaml with the reason why nothing can tell it. ``PAWL_MUTANTS=all`` asks every one, those that are listed too.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from pawl.io.strict_yaml import load
from policy.mutating import TABLES, Mutant, killed_by, mutants, path_of, source_of

SURVIVORS: list[dict[str, Any]] = load((Path(__file__).parent / "survivors.yaml").read_bytes())["survivors"]
KINDS = {
    "equivalent": "nothing that can happen tells it from the evaluator",
    "message": "what is said differs, and no verdict",
    "stricter": "it refuses or fails where the evaluator allows, and never the other way",
}
ALL = os.environ.get("PAWL_MUTANTS") == "all"
SHARE = 6
"""Without PAWL_MUTANTS=all, one in so many is asked, always the same ones."""
pytestmark = pytest.mark.slow


def listed(mutant: Mutant) -> bool:
    return any(_is_meant(row, mutant) for row in SURVIVORS)


def _is_meant(row: dict[str, Any], mutant: Mutant) -> bool:
    return row["in"] == f"{mutant.module}.{mutant.function}" and (
        row["mutants"] == "all" or mutant.name in row["mutants"]
    )


def _is_asked(mutant: Mutant) -> bool:
    return ALL or hashlib.sha256(mutant.id.encode()).digest()[0] % SHARE == 0


def test_the_list_says_why() -> None:
    assert all(
        set(row) == {"in", "mutants", "kind", "why"} and row["kind"] in KINDS and row["why"] for row in SURVIVORS
    )
    whole = [row for row in SURVIVORS if row["mutants"] == "all"]
    assert {row["kind"] for row in whole} <= {"message"}


@pytest.mark.parametrize("module", sorted(TABLES))
def test_without_a_fault_nothing_is_told(module: str) -> None:
    source = source_of(module)
    code = compile(source, str(path_of(module)), "exec")
    assert killed_by(Mutant(module=module, function="module", name="nothing", line=1, code=code)) is None


@pytest.mark.parametrize("module", sorted(TABLES))
def test_every_mutant_is_told_or_listed(module: str) -> None:
    found = list(mutants(module))
    survivors = [item for item in found if not listed(item) and _is_asked(item) and killed_by(item) is None]
    assert not survivors, "\n\n".join(f"{item.id}\n{item.diff()}" for item in survivors)
    known = {(f"{item.module}.{item.function}", item.name) for item in found}
    gone = [
        (row["in"], name)
        for row in SURVIVORS
        if row["in"].startswith(f"{module}.") and row["mutants"] != "all"
        for name in row["mutants"]
        if (row["in"], name) not in known
    ]
    assert not gone, "these stand in survivors.yaml and are no mutants any more"


@pytest.mark.skipif(not ALL, reason="PAWL_MUTANTS=all asks those that are listed, too")
@pytest.mark.parametrize("module", sorted(TABLES))
def test_what_is_listed_by_name_survives(module: str) -> None:
    rows = [row for row in SURVIVORS if row["mutants"] != "all"]
    meant = [item for item in mutants(module) if any(_is_meant(row, item) for row in rows)]
    told = [(item.id, how) for item in meant if (how := killed_by(item)) is not None]
    assert not told, "these are told now and need not be listed"
