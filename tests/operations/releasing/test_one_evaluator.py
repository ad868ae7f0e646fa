"""One evaluator: whatever way a question takes, it meets the same verdict.

Each row is a situation with the exit code that every path must come to. Forward: the pull request's check, the dry run,
the explanation and the promotion. Backward: the dry run, the readiness, the explanation and the rollback. Live: the
audit, the command line and the Python API.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

import pawl
from budgets import sweep
from people import ADA, BEN, CYD, PEOPLE, become, set_clock
from support import FIRST, Shop, git, in_process

Monkey = pytest.MonkeyPatch
Setup = Callable[[Shop, Monkey], object]
NEW, OLD = "support/refund-draft@1.0.1", "support/refund-draft@1.0.0"
DRAFT, POLICY, SUITE = (
    "procedures/support/refund-draft.yaml",
    "registry/policies/more.yaml",
    "conformance/refund-draft.yaml",
)


def rule(demand: str, *, kind: str = "safety", level: str = "absolute", more: str = "", name: str = "draft") -> Setup:
    """Adopt one more rule about the draft on production."""

    def setup(shop: Shop, _: Monkey) -> None:
        shop.write(
            POLICY,
            f"policy: more\nowner: risk\nrules:\n  - id: MORE-1\n    class: {kind}\n    level: {level}\n"
            f'    applies: {{names: ["support/refund-{name}"], channels: [production]}}\n    {demand}\n'
            f"    message: Somebody wants it so.\n{more}",
        )
        shop.adopt()

    return setup


def both(*setups: Setup) -> Setup:
    def setup(shop: Shop, monkey: Monkey) -> None:
        for one in setups:
            one(shop, monkey)

    return setup


def act(*words: str, who: str = ADA, code: int = 0) -> Setup:
    """Run a command as somebody."""

    def setup(shop: Shop, monkey: Monkey) -> None:
        become(monkey, who)
        shop.pawl(*words, "--reason", "so it is", code=code)
        become(monkey, ADA)

    return setup


def at(moment: str) -> Setup:
    return lambda _, monkey: set_clock(monkey, moment)


def write(path: str, *words: tuple[str, str]) -> Setup:
    return lambda shop, _: shop.edit(path, *words)


def remove(path: str) -> Setup:
    return lambda shop, _: (shop.root / path).unlink()


def nothing(_shop: Shop, _monkey: Monkey) -> None:
    """Leave everything as it is."""


NOT_NEW = 'require: procedure.version != "1.0.1"'
NOT_OLD = 'require: procedure.version != "1.0.0"'
TERMS = "    waiver: {at_most: P14D, roles: [release]}\n"
WAIVED = ("--channel", "production", "--owner", "risk", "--until", "2100-01-08", "--action", "promote")


def waive(ref: str, *words: str) -> Setup:
    return both(at("2100-01-01T00:00:00+00:00"), act("waive", "MORE-1", ref, *WAIVED, *words))


def consent(shop: Shop, monkey: Monkey) -> None:
    become(monkey, CYD)
    serial = shop.pawl("history", "production")["records"][-1]["serial"]
    shop.pawl("approve", "--waiver", str(serial), "--channel", "production", "--reason", "agreed")
    become(monkey, ADA)


@dataclass(frozen=True)
class Row:
    """A situation, and the exit code of every way to ask."""

    id: str
    code: int
    setup: Setup


ONE_CASE = """\
suite: refund-draft
about: support/refund-draft
cases:
  - {id: nothing, inputs: {}, assert: [{type: rejected}]}
"""
APPROVE = act("approve", NEW, "--channel", "production", who=BEN)
LATE = at("2100-01-01T00:00:00+00:00")
WAIVABLE = rule(NOT_NEW, level="waivable", more=TERMS)
APPROVALS = rule("approvals: {count: 1, roles: [risk]}", kind="readiness")
FORWARD = [
    Row("nothing-against-it", 0, nothing),
    Row("a-rule-forbids-it", 3, rule(NOT_NEW)),
    Row("a-rule-is-about-something-else", 0, rule(NOT_NEW, name="denial")),
    Row("a-rule-comes-later", 0, rule(NOT_NEW, more="    effective_on: 2199-01-01\n")),
    Row("a-rule-has-come", 3, rule(NOT_NEW, more="    effective_on: 2020-01-01\n")),
    Row("a-rule-is-advice", 0, rule(NOT_NEW, level="advisory")),
    Row("a-rule-cannot-be-evaluated", 3, rule('require: procedure.spec.model.name == "x"')),
    Row("readiness-forbids-it", 3, rule(NOT_NEW, kind="readiness")),
    Row("a-waivable-rule-without-waiver", 3, WAIVABLE),
    Row("a-waiver-that-nobody-approved", 3, both(WAIVABLE, waive(NEW))),
    Row("a-waiver-that-counts", 0, both(WAIVABLE, waive(NEW), consent)),
    Row("a-waiver-that-ended", 3, both(WAIVABLE, waive(NEW), consent, at("2100-01-08T00:00:00+00:00"))),
    Row("a-waiver-one-second-before-its-end", 0, both(WAIVABLE, waive(NEW), consent, at("2100-01-07T23:59:59+00:00"))),
    Row("a-waiver-of-another-version", 3, both(WAIVABLE, waive(OLD), consent)),
    Row("an-approval-is-missing", 8, APPROVALS),
    Row("an-approval-counts", 0, both(APPROVALS, APPROVE)),
    Row("an-approval-of-before", 8, both(APPROVALS, APPROVE, rule("approvals: {count: 1}", kind="readiness"))),
    Row("my-own-approval", 8, both(APPROVALS, act("approve", NEW, "--channel", "production", code=8))),
    Row("too-short-on-staging", 3, rule("soak: {channel: staging, at_least: P3650D}", kind="readiness")),
    Row("long-enough-on-staging", 0, both(LATE, rule("soak: {channel: staging, at_least: PT24H}", kind="readiness"))),
    Row("too-large-a-step", 0, rule("bump: {largest: patch}", kind="readiness")),
    Row("frozen", 7, act("freeze", "production", "--until", "2199-01-01")),
    Row("frozen-for-others", 0, act("freeze", "production", "--until", "2199-01-01", "--spare-name", "support/*")),
    Row(
        "frozen-by-a-rule",
        7,
        rule(
            'freeze: {recurrence: FREQ=DAILY, start: "2020-01-01T00:00", duration: P1D, time_zone: UTC, reason: r}',
            kind="readiness",
        ),
    ),
    Row("deprecated", 0, act("deprecate", NEW)),
    Row("yanked", 7, act("yank", NEW)),
    Row("revoked", 7, act("revoke", NEW)),
    Row("a-dependent-is-revoked", 7, act("revoke", FIRST[0])),
    Row("rejected", 7, act("reject", NEW, "--channel", "production")),
    Row("rejected-elsewhere", 0, act("reject", NEW, "--channel", "staging")),
    Row("a-suite-fails", 4, write(SUITE, ("of 20 for order A1", "of 21 for order A1"))),
    Row("fewer-cases", 4, lambda shop, _: shop.write(SUITE, ONE_CASE)),
]
BACKWARD = [
    Row("nothing-against-it", 0, nothing),
    Row("a-safety-rule-forbids-it", 3, rule(NOT_OLD)),
    Row("readiness-does-not-matter", 0, rule(NOT_OLD, kind="readiness")),
    Row("approvals-do-not-matter", 0, rule("approvals: {count: 3}", kind="readiness")),
    Row("soak-does-not-matter", 0, rule("soak: {channel: staging, at_least: P3650D}", kind="readiness")),
    Row("age-does-not-matter", 0, rule("evidence: {max_age: PT1S}", kind="readiness")),
    Row("a-rule-cannot-be-evaluated", 3, rule('require: procedure.spec.model.name == "x"')),
    Row("rejected", 7, act("reject", OLD, "--channel", "production")),
    Row("revoked", 7, act("revoke", OLD)),
    Row("frozen-for-promotions", 0, act("freeze", "production", "--until", "2199-01-01")),
    Row(
        "frozen-for-rollbacks", 7, act("freeze", "production", "--until", "2199-01-01", "--actions", "promote,rollback")
    ),
    Row("a-suite-fails", 4, write(SUITE, ("of 20 for order A1", "of 21 for order A1"))),
    Row("the-live-one-breaks-a-rule", 0, rule(NOT_NEW)),
    Row("the-live-one-is-revoked", 0, act("revoke", NEW)),
]
LIVE = [
    Row("nothing-against-it", 0, nothing),
    Row("a-rule-that-is-enforced", 3, rule(NOT_NEW, more="    enforce_live: true\n")),
    Row("revoked", 7, act("revoke", NEW)),
    Row("yanked", 0, act("yank", NEW)),
    Row("halted", 7, act("halt", "support/refund-draft", "--channel", "production")),
    Row("rejected", 0, act("reject", NEW, "--channel", "production")),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two workspaces: version 1 live and a new draft on staging, and the new draft live."""
    with pytest.MonkeyPatch.context() as monkey:
        for name in ("AUTHOR", "COMMITTER"):
            monkey.setenv(f"GIT_{name}_NAME", ADA)
            monkey.setenv(f"GIT_{name}_EMAIL", "ada@example.invalid")
        folder = tmp_path_factory.mktemp("made")
        shop = Shop(folder / "before")
        shop.root.mkdir()
        git(shop.root, "init", "-q", "-b", "main", "--template=")
        shop.start()
        shop.write("registry/registry.yaml", shop.read("registry/registry.yaml").partition("people:")[0] + PEOPLE)
        shop.release_first()
        shop.edit(DRAFT, ("version: 1.0.0", "version: 1.0.1"), ("You draft refunds", "You write refunds"))
        shop.pawl("publish")
        shop.promote(NEW, to="staging")
        git(shop.root, "repack", "-adq")  # one pack is copied sooner than a hundred objects
        shutil.copytree(shop.root, folder / "after")
        Shop(folder / "after").promote(NEW, to="production")
        return folder / "before", folder / "after"


@pytest.fixture
def before(made: tuple[Path, Path], tmp_path: Path) -> Shop:
    return Shop(Path(shutil.copytree(made[0], tmp_path / "shop")))


@pytest.fixture
def after(made: tuple[Path, Path], tmp_path: Path) -> Shop:
    return Shop(Path(shutil.copytree(made[1], tmp_path / "shop")))


def reasons(answer: dict[str, Any]) -> set[tuple[str, str | None]]:
    """Return the codes of what stands against it, with their rules."""
    return {(item["code"], item.get("rule")) for item in answer["problems"] if item["severity"] == "error"}


def rows(found: list[Row], *chosen: str) -> list[ParameterSet]:
    """Return situations as parameters; those that are not chosen are slow."""
    by_id = {row.id: row for row in found}
    return [one._replace(values=(by_id[str(one.id)],)) for one in sweep(by_id, *chosen)]


CHOSEN_FORWARD = (
    *("nothing-against-it", "a-rule-forbids-it", "a-rule-comes-later", "a-rule-cannot-be-evaluated"),
    *("a-waiver-that-counts", "a-waiver-that-ended", "an-approval-is-missing", "an-approval-counts"),
    *("too-short-on-staging", "frozen", "yanked", "revoked", "rejected", "a-suite-fails"),
)
CHOSEN_BACKWARD = (
    *("nothing-against-it", "a-safety-rule-forbids-it", "readiness-does-not-matter", "revoked", "rejected"),
    *("frozen-for-rollbacks", "a-suite-fails"),
)


@pytest.mark.parametrize("row", rows(FORWARD, *CHOSEN_FORWARD))
def test_forward(before: Shop, monkeypatch: Monkey, row: Row) -> None:
    row.setup(before, monkeypatch)
    asked = ("--channel", "production")
    why = before.pawl("why", NEW, *asked, code=row.code)
    dry = before.pawl("promote", NEW, "--to", "production", "--reason", "r", "--dry-run", code=row.code)
    checked = _prospect(before)
    real = before.pawl("promote", NEW, "--to", "production", "--reason", "r", code=row.code)
    assert reasons(why) == reasons(dry) == reasons(real)
    if not row.code:
        assert checked["verdict"] == "allowed"
    elif checked["verdict"] == "refused":
        assert checked["exit_code"] == row.code
    else:  # what people and time bring: each is named as needed
        needed = "\n".join(checked["needs"])
        errors = [item for item in real["problems"] if item["severity"] == "error"]
        assert all((item.get("rule") or item["message"]) in needed for item in errors), needed
    assert (before.version("support/refund-draft") == "1.0.1") == (row.code == 0 and "revoke" not in row.id)


def _prospect(shop: Shop) -> dict[str, Any]:
    """Return what the check of the work tree says of production, whatever else it finds."""
    ended = in_process("-C", str(shop.root), "check", "-o", "json")
    assert ended.code in {0, 1}
    (found,) = [item for item in json.loads(ended.out)["channels"] if item["channel"] == "production"]
    return dict(found)


@pytest.mark.parametrize("row", rows(BACKWARD, *CHOSEN_BACKWARD))
def test_backward(after: Shop, monkeypatch: Monkey, row: Row) -> None:
    row.setup(after, monkeypatch)
    words = ("support/refund-draft", "--channel", "production")
    why = after.pawl("why", OLD, "--channel", "production", "--action", "rollback", code=row.code)
    (target,) = [item for item in after.pawl("targets", *words)["targets"] if item["version"] == "1.0.0"]
    dry = after.pawl("rollback", *words, "--to", "1.0.0", "--reason", "r", "--dry-run", code=row.code)
    real = after.pawl("rollback", *words, "--to", "1.0.0", "--reason", "r", code=row.code)
    assert (target["allowed"], target["exit_code"]) == (row.code == 0, row.code)
    against = {(item["code"], item.get("rule")) for item in target["reasons"]}
    assert against <= reasons(why)
    assert reasons(why) <= reasons(dry) | against
    assert reasons(dry) == reasons(real)


@pytest.mark.parametrize("row", LIVE, ids=lambda row: row.id)
def test_live(after: Shop, monkeypatch: Monkey, row: Row) -> None:
    row.setup(after, monkeypatch)
    after.pawl("resolve", "support/refund-draft", "--channel", "production", code=row.code)
    audited = after.pawl(
        "audit", "--channel", "production", code=3 if row.code == 3 else row.code * ("halted" not in row.id)
    )
    channel = pawl.open("production", workspace=str(after.root))
    if row.code == 0:
        assert channel.resolve("support/refund-draft").version == "1.0.1"
    else:
        with pytest.raises(Exception, match="support/refund-draft") as raised:
            channel.resolve("support/refund-draft")
        assert type(raised.value).__name__ == {3: "RefusedError", 7: "WithheldError"}[row.code]
    assert audited["channels"][0]["channel"] == "production"


def test_a_plan_says_what_adopting_does(after: Shop, monkeypatch: Monkey) -> None:
    """What the plan foresees of live pins and ways back is what audit and rollback say once it is adopted."""
    rule(NOT_OLD)(after, monkeypatch)
    git(after.root, "add", "-A")
    after.edit(POLICY, (NOT_OLD, NOT_NEW))
    changes = {
        (item["version"], item["role"]): item
        for item in after.pawl("policy", "plan")["changes"]
        if item["channel"] == "production"
    }
    assert set(changes) == {("1.0.1", "live"), ("1.0.0", "target")}
    after.adopt("turned round")
    after.pawl("audit", "--channel", "production", code=3)
    after.rollback("support/refund-draft", "--to", "1.0.0")
