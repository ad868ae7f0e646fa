"""The first five invariants, each quoted from the design, on a real workspace driven by random lives."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from budgets import examples
from pawl.canonical import record_bytes
from pawl.ids import Channel, Serial
from pawl.registry.channels import MOVING_ACTIONS, fold_channel, projection
from pawl.registry.journal import Record
from pawl.workspace import Workspace
from support import FIRST, SECOND, Shop, story

LIVES = st.lists(
    st.sampled_from(
        [
            "promote-1",
            "promote-2",
            "rollback",
            "rollback-to-1",
            "unreject",
            "reject-2",
            "halt",
            "resume",
            "strict",
            "remove",
        ]
    ),
    max_size=7,
)
CHANNEL = Channel("staging")
few = examples(6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@dataclass(frozen=True)
class Lived:
    """A workspace after a random life, with the frozen files as they were when they were published."""

    shop: Shop
    frozen: dict[str, bytes]

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.shop.root)

    @property
    def records(self) -> tuple[Record, ...]:
        return self.workspace.journal(CHANNEL)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which both versions are published and nothing is pinned."""
    shop = Shop(tmp_path_factory.mktemp("template"))
    shop.start()
    shop.publish_first()
    shop.second()
    shop.pawl("publish")
    return shop.root


def live(template: Path, folder: Path, words: list[str]) -> Lived:
    """Copy the template and try each word, whatever comes of it; every answer has its schema."""
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)  # an index may be closed at this moment
    shutil.copytree(template, folder)
    shop = Shop(folder)
    frozen = shop.files("registry/versions")
    flow, on = "support/refund", ("--channel", CHANNEL, "--reason", "because")
    commands = {
        "promote-1": ("promote", *FIRST, "--to", CHANNEL, "--reason", "one"),
        "promote-2": ("promote", *SECOND, FIRST[1], "--to", CHANNEL, "--reason", "two"),
        "rollback": ("rollback", flow, *on),
        "rollback-to-1": ("rollback", flow, "--to", "1.0.0", *on),
        "unreject": ("unreject", SECOND[0], *on),
        "reject-2": ("reject", SECOND[0], *on),
        "halt": ("halt", flow, *on),
        "resume": ("resume", flow, *on),
        "remove": ("remove", flow, *on),
    }
    for word in words:
        if word == "strict":
            shop.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
            shop.adopt()
        else:
            anyhow(shop, *commands[word])
    return Lived(shop, frozen)


def anyhow(shop: Shop, *words: str) -> int:
    """Run a command that may be refused; a fault of pawl's own is never an answer."""
    from support import in_process  # noqa: PLC0415 - beside the schema-checked way, which wants one exit code

    ended = in_process("-C", str(shop.root), *words, "-o", "json")
    assert ended.code in {0, 1, 3, 4, 7}, ended.out
    return ended.code


@few
@given(words=LIVES)
def test_1_a_published_version_never_changes(template: Path, tmp_path: Path, words: list[str]) -> None:
    """Other bytes under the same name and version are refused; ``verify`` finds any changed byte."""
    lived = live(template, tmp_path / "w", words)
    assert lived.frozen == lived.shop.files("registry/versions")
    lived.shop.edit("procedures/support/refund.yaml", ("max_steps: 6", "max_steps: 7"))
    assert lived.shop.codes(lived.shop.pawl("publish", code=1)) == ["version-reused"]
    assert lived.frozen == lived.shop.files("registry/versions")
    assert lived.shop.pawl("verify")["versions"] == 4


@few
@given(words=LIVES)
def test_2_pins_are_a_pure_fold_of_the_journal(template: Path, tmp_path: Path, words: list[str]) -> None:
    """A channel's pins are a pure fold of its journal; the projection can be deleted and rebuilt."""
    lived = live(template, tmp_path / "w", words)
    state = fold_channel(CHANNEL, lived.records)
    path = lived.workspace.projection_file(CHANNEL)
    if lived.records:
        assert path.read_bytes() == record_bytes(projection(state))
        path.unlink()
    assert lived.workspace.served(CHANNEL).pins == state.pins
    for serial in range(len(lived.records) + 1):
        assert fold_channel(CHANNEL, lived.records[:serial]).head.serial == serial


@few
@given(words=LIVES)
def test_3_a_release_is_all_or_nothing(template: Path, tmp_path: Path, words: list[str]) -> None:
    """Every release is all or nothing, across any number of procedures."""
    lived = live(template, tmp_path / "w", words)
    for record in lived.records:
        before = fold_channel(CHANNEL, lived.records[: record.serial - 1]).pins
        after = fold_channel(CHANNEL, lived.records[: record.serial]).pins
        asked = {move["name"] for move in record.body.get("moves", ())}
        moved = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        assert moved == asked if record.action in MOVING_ACTIONS else moved == set()


@few
@given(words=LIVES)
def test_4_serials_only_go_up(template: Path, tmp_path: Path, words: list[str]) -> None:
    """A rollback is a new record with a higher serial that points at an older digest."""
    lived = live(template, tmp_path / "w", words)
    assert [record.serial for record in lived.records] == list(range(1, len(lived.records) + 1))
    for record in lived.records:
        if record.action == "rollback":
            earlier = fold_channel(CHANNEL, lived.records[: record.serial - 1])
            assert all(earlier.was_live(move["to"]["digest"], move["name"]) for move in record.body["moves"])


@few
@given(words=LIVES)
def test_5_nothing_is_pinned_that_was_not_allowed(template: Path, tmp_path: Path, words: list[str]) -> None:
    """Nothing is pinned that the evaluator did not allow at that moment, on that policy number, with evidence."""
    lived = live(template, tmp_path / "w", words)
    for record in lived.records:
        verdict: Any = record.body.get("verdict")
        if record.action in {"promote", "rollback"}:
            assert verdict["allowed"]
            assert verdict["policy"] == record.body["policy"]
            moved = {f"{move['name']}@{move['to']['version']}" for move in record.body["moves"]}
            proved = {item["subject"] for item in verdict["findings"] if item["code"] == "evidence-passed"}
            assert moved <= proved
        elif record.action == "refused":
            assert not verdict["allowed"]
            assert record.body["exit_code"] != 0


def test_every_changed_byte_is_found(template: Path, tmp_path: Path) -> None:
    """Each byte of each stored file, one at a time in steps: verify answers 6 and names the file."""
    lived = live(template, tmp_path / "w", ["promote-1", "promote-2", "rollback-to-1", "rollback"])
    shop = lived.shop
    stored = shop.files("registry/versions", "registry/channels", "releases")
    assert len(stored) > 12
    tried = 0
    for name, data in stored.items():
        step = max(1, len(data) // 5)
        for place in range(tried % 3, len(data), step):
            changed = bytearray(data)
            changed[place] ^= 1
            (shop.root / name).write_bytes(bytes(changed))
            answer = shop.pawl("verify", code=6)
            assert name.rpartition("/")[0] in str(answer["problems"]), name
            tried += 1
        (shop.root / name).write_bytes(data)
    shop.pawl("verify")
    assert tried > 60


def test_a_record_of_another_serial_does_not_pass(template: Path, tmp_path: Path) -> None:
    lived = live(template, tmp_path / "w", ["promote-1", "promote-2"])
    first, second = lived.records
    lived.workspace.record_file(CHANNEL, 2).write_bytes(first.data)
    assert lived.shop.codes(lived.shop.pawl("verify", code=6)) != []
    lived.workspace.record_file(CHANNEL, 2).unlink()
    lived.shop.pawl("verify", code=6)  # the projection still knows the newest record
    lived.workspace.record_file(CHANNEL, 2).write_bytes(second.data)
    lived.shop.pawl("verify")
    assert replace(second, serial=Serial(3)) != second
