"""Before an adoption: what it would close, from when on, who must act, and what is not adopted at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kept
from budgets import sweep
from people import ADA, APPROVALS, BEN, become, set_clock, with_people
from support import FIRST, SECOND, Shop, git, in_process, story

AT = "2999-03-01T12:00:00Z"
GRACE = "2999-03-15T00:00:00Z"
SETTINGS, RULES = "registry/registry.yaml", "registry/policies/refunds.yaml"
REFUND = "procedures/support/refund.yaml"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Version 1 on both channels under policy 1."""
    shop = Shop(tmp_path_factory.mktemp("template"))
    shop.start()
    shop.release_first()
    return shop.root


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def at(moment: str) -> None:
        set_clock(monkeypatch, moment)

    at(AT)
    return at


@pytest.fixture
def live(template: Path, tmp_path: Path, clock: Callable[[str], None]) -> Shop:
    """A copy of it; it is noon of the first of March 2999."""
    return Shop(Path(shutil.copytree(template, tmp_path / "live")))


def setting(shop: Shop, line: str) -> None:
    shop.write(SETTINGS, shop.read(SETTINGS) + f"policy: {{{line}}}\n")


def stricter(shop: Shop, effective_on: str = "") -> None:
    """Write the rules of the story's second policy, which version 1 breaks."""
    text = story("policy-2.yaml")
    shop.write(RULES, text + (f"    effective_on: {effective_on}\n" if effective_on else ""))


def plan(shop: Shop, *words: str) -> dict[str, Any]:
    return shop.pawl("policy", "plan", *words)


def warned(answer: dict[str, Any]) -> set[str]:
    return {problem["code"] for problem in answer["problems"] if problem["severity"] == "warning"}


def closed(answer: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [(row["channel"], row["version"], row["role"], row["from"]) for row in answer["changes"]]


# What is live


def test_a_plan_says_what_would_be_illegal_at_once_and_who_must_act(live: Shop) -> None:
    stricter(live)
    answer = plan(live)
    assert closed(answer) == [(channel, "1.0.0", "live", AT) for channel in ("production", "staging")]
    assert answer["must_act"][0] == {
        "channel": "production",
        "ref": FIRST[0],
        "by": AT,
        "owner": "payments",
        "rules": [{"rule": "REF-1", "owner": "compliance"}],
    }
    (broken,) = answer["changes"][0]["newly_broken"]
    assert (broken["policy"], broken["owner"], broken["stops_serving"]) == ("refunds", "compliance", False)
    (first, _) = [problem for problem in answer["problems"] if problem["code"] == "plan-live"]
    assert "payments moves it to a version that passes; compliance keeps the rule" in first["hint"]


def test_grace_is_seen_in_the_plan_with_its_moment(live: Shop) -> None:
    stricter(live, GRACE)
    assert closed(plan(live)) == [(channel, "1.0.0", "live", GRACE) for channel in ("production", "staging")]
    assert {row["by"] for row in plan(live)["must_act"]} == {GRACE}
    assert closed(plan(live, "--at", "2999-03-14T23:59:59Z")) == []
    assert {row[3] for row in closed(plan(live, "--at", GRACE))} == {GRACE}


def test_without_the_setting_an_adoption_warns_and_says_what_it_broke(live: Shop) -> None:
    stricter(live)
    answer = live.adopt()
    assert [row["channel"] for row in answer["breaking"]] == ["production", "staging"]
    assert "plan-live" in warned(answer)
    live.pawl("audit", code=3)


def test_with_it_nothing_live_is_made_illegal_at_once(live: Shop) -> None:
    setting(live, "require_grace: true")
    stricter(live)
    before = live.files()
    refused = live.pawl("policy", "adopt", "--reason", "at once", code=3)
    assert live.codes(refused) == ["policy-grace"]
    assert "support/refund@1.0.0 on production" in refused["problems"][0]["message"]
    assert "compliance keeps the rule" in str(refused["problems"])
    assert live.files() == before


def test_a_rule_with_grace_holds_from_its_very_moment_on(live: Shop, clock: Callable[[str], None]) -> None:
    setting(live, "require_grace: true")
    stricter(live, GRACE)
    assert live.adopt()["breaking"] == []
    clock("2999-03-14T23:59:59Z")
    live.pawl("audit")
    clock(GRACE)
    assert "REF-1" in str(live.pawl("audit", code=3)["problems"])
    # what it breaks already is not newly broken, so it is in nobody's way
    live.edit(RULES, ("Every procedure has an owner.", "Every procedure has an owner whom one can ask."))
    assert live.adopt("other words")["breaking"] == []


def test_a_moment_that_has_come_is_no_grace(live: Shop) -> None:
    setting(live, "require_grace: true")
    stricter(live, AT)
    live.pawl("policy", "adopt", "--reason", "now", code=3)


def test_what_moves_first_lets_the_rule_in(live: Shop) -> None:
    setting(live, "require_grace: true")
    live.release_second()
    stricter(live)
    assert live.adopt()["breaking"] == []


# Ways back


def test_the_last_way_back_is_missed_before_it_closes(live: Shop) -> None:
    live.release_second()
    stricter(live, GRACE)
    answer = plan(live)
    assert [(row["channel"], row["name"], row["closes"], row["from"]) for row in answer["no_way_back"]] == [
        (channel, "support/refund", ["1.0.0"], GRACE) for channel in ("production", "staging")
    ]
    assert closed(answer) == [(channel, "1.0.0", "target", GRACE) for channel in ("production", "staging")]
    assert {"plan-target", "plan-no-way-back"} <= warned(answer)
    assert answer["must_act"] == []


def test_what_is_no_way_back_already_is_not_missed(live: Shop) -> None:
    live.release_second()
    for channel in ("staging", "production"):
        live.pawl("reject", FIRST[0], "--channel", channel, "--reason", "it hurts")
    stricter(live)
    assert plan(live)["no_way_back"] == []


# Approvals and waivers


@pytest.fixture
def approved(live: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Production wants an approval of risk; Ben has approved version 2, which is on staging."""
    become(monkeypatch, ADA)
    kept.reach(live.root, "approved", lambda: approve_second(live, monkeypatch))
    return live


def approve_second(live: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    git(live.root, "init", "-q", "-b", "main", "--template=")  # outside of Git nobody has an address
    git(live.root, "add", "-A")
    git(live.root, "commit", "-q", "-m", "start")
    with_people(live)
    live.adopt("approvals")
    live.second()
    live.pawl("publish")
    live.promote(*SECOND, to="staging")
    become(monkeypatch, BEN)
    words = ("--channel", "production", "--reason", "looked at it", "--until", "2999-03-09T00:00:00Z")
    live.pawl("approve", *SECOND, *words)
    become(monkeypatch, ADA)


def test_approvals_that_an_adoption_would_end_are_named(approved: Shop) -> None:
    approved.edit(RULES, ("Every procedure has an owner.", "Every procedure has an owner whom one can ask."))
    answer = plan(approved)
    rows = [(row["ref"], row["by"].partition(" ")[0], row["lost"], row["policy"]) for row in answer["approvals"]]
    assert sorted(rows) == sorted((ref, BEN, ["APP-1"], 2) for ref in SECOND)
    assert "plan-approval" in warned(answer)
    assert plan(approved, "--at", "2999-03-09")["approvals"] == []


def test_approvals_that_outlive_an_adoption_are_not(approved: Shop) -> None:
    lasting = APPROVALS.replace("approvals: {count: 1, roles: [risk]}", "approvals: {roles: [risk], any_policy: true}")
    approved.write("registry/policies/approvals.yaml", lasting)
    assert plan(approved)["approvals"] == []


def test_approvals_that_nobody_asks_for_any_more_are_told_apart(approved: Shop) -> None:
    (approved.root / "registry/policies/approvals.yaml").unlink()
    answer = plan(approved)
    assert {(tuple(row["lost"]), tuple(row["not_asked"])) for row in answer["approvals"]} == {((), ("APP-1",))}
    assert "plan-approval" not in warned(answer)
    assert answer["rules_removed"] == ["APP-1"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("level: waivable\n", "level: absolute\n"), "the rule has no waivers"),
        (("id: APP-1", "id: APP-2"), "there is no rule APP-1"),
        (("at_most: P14D", "at_most: P1D"), "longer than"),
    ],
)
def test_waivers_that_an_adoption_would_end_are_named(
    approved: Shop, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str], why: str
) -> None:
    given = ("--channel", "production", "--action", "promote", "--owner", "payments", "--reason", "the fair is on")
    serial = approved.pawl("waive", "APP-1", SECOND[0], *given, "--for", "P7D")["serial"]
    become(monkeypatch, "Cyd")
    approved.pawl("approve", "--waiver", str(serial), "--channel", "production", "--reason", "for the fair")
    become(monkeypatch, ADA)
    approved.edit("registry/policies/approvals.yaml", words)
    if words[0].startswith("level"):
        text = approved.read("registry/policies/approvals.yaml")
        approved.write(
            "registry/policies/approvals.yaml",
            "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("waiver:")),
        )
    (row,) = plan(approved)["waivers"]
    assert (row["waiver"], row["counts_before"], row["counts_after"]) == (serial, True, False)
    assert why in row["why"]
    assert "plan-waiver" in warned(plan(approved))


# What tests a rule


UNTESTED = """\
policy: more
owner: risk
rules:
  - {id: MORE-1, class: safety, level: absolute, require: has(procedure.owner), message: An owner.}
"""


def test_a_rule_that_nobody_has_seen_refuse_is_warned_of(live: Shop) -> None:
    live.write("registry/policies/more.yaml", UNTESTED)
    answer = live.pawl("policy", "test")
    assert "rule-untested" in warned(answer)
    live.adopt()
    shown = {row["id"]: row["denied_examples"] for row in live.pawl("policy", "show")["rules"]}
    assert shown == {"MORE-1": 0, "OWN-1": 1, "BUD-1": 1}


@pytest.mark.parametrize("tests", ["", ", tests: [{procedure: {owner: payments}, expect: allowed}]"])
def test_where_tests_are_required_it_is_neither_passed_nor_adopted(live: Shop, tests: str) -> None:
    setting(live, "require_tests: true")
    live.write("registry/policies/more.yaml", UNTESTED.replace("An owner.}", f"An owner.{tests}}}"))
    before = live.files()
    for words in (("policy", "test"), ("policy", "adopt", "--reason", "r"), ("check",)):
        assert "rule-untested" in live.codes(live.pawl(*words, code=1))
    assert live.files() == before
    denied = ", tests: [{procedure: {owner: null}, expect: denied}]"
    live.write("registry/policies/more.yaml", UNTESTED.replace("An owner.}", f"An owner.{denied}}}"))
    live.pawl("policy", "test")
    live.adopt()


def test_a_rule_whose_example_fails_is_not_adopted(live: Shop) -> None:
    live.edit(RULES, ("procedure: {owner: null}, expect: denied", "procedure: {owner: x}, expect: denied"))
    assert live.codes(live.pawl("policy", "adopt", "--reason", "r", code=1)) == ["rule-test-failed"]


def test_other_examples_alone_are_adopted_and_older_rules_stay_older(live: Shop) -> None:
    """Examples decide nothing, so they hide no way back to older rules; but the gate tries itself on them."""
    more = '      - {name: another, procedure: {owner: ""}, expect: denied}\n'
    first = live.read(RULES)
    live.write(RULES, first.replace("  - id: BUD-1", more + "  - id: BUD-1"))
    assert live.adopt("more examples")["policy"] == 2
    assert live.adopt("the same again")["status"] == "unchanged"
    live.release_second()
    stricter(live)
    live.adopt("stricter")
    live.write(RULES, first)
    assert live.codes(live.pawl("policy", "adopt", "--reason", "back", code=3)) == ["policy-older"]
    assert live.pawl("policy", "adopt", "--reason", "back", "--again")["policy"] == 4


# Several owners


def other_source(text: str, name: str = "lower.yaml") -> Callable[[Shop], None]:
    def write(shop: Shop) -> None:
        shop.write(f"registry/policies/{name}", text)

    return write


def renamed(shop: Shop) -> None:
    (shop.root / RULES).rename(shop.root / "registry/policies/refunds.yml")
    shop.write("registry/policies/other.yaml", UNTESTED)


SAME_ID = (
    "policy: lower\nowner: me\nrules:\n  - {id: own-1, class: safety, level: advisory, require: 'true', message: M.}\n"
)
LAYERS: dict[str, tuple[Callable[[Shop], None], str]] = {
    "the same id": (other_source(SAME_ID.replace("own-1", "OWN-1")), "rule-duplicate"),
    "the same id in other letters": (other_source(SAME_ID), "rule-duplicate"),
    "the same name": (other_source(UNTESTED.replace("policy: more", "policy: refunds")), "policy-name-twice"),
    "a name in other letters": (
        other_source(UNTESTED.replace("policy: more", "policy: Refunds")),
        "policy-field-invalid",
    ),
    "a folder below": (other_source(SAME_ID, "team/lower.yaml"), "rule-duplicate"),
    "another ending": (renamed, "file-ending"),
    "no rules": (other_source("policy: lower\nowner: me\nrules: []\n"), "policy-empty"),
    "a field that takes rules away": (other_source(UNTESTED + "without: [OWN-1]\n"), "policy-field-unknown"),
    "a waiver in a file": (other_source(UNTESTED + "waivers: [{rule: OWN-1}]\n"), "policy-field-unknown"),
}


@pytest.mark.parametrize("how", LAYERS)
def test_no_source_takes_the_place_of_another_or_its_rules(live: Shop, how: str) -> None:
    write, code = LAYERS[how]
    write(live)
    before = live.files("releases")
    assert code in live.codes(live.pawl("policy", "adopt", "--reason", "mine", code=1))
    assert live.files("releases") == before


LOOSER: dict[str, tuple[tuple[str, str], str]] = {
    "level": (("    level: absolute\n    require: has", "    level: advisory\n    require: has"), "would be advisory"),
    "class": (
        (
            "    class: safety\n    level: absolute\n    require: has",
            "    class: readiness\n    level: absolute\n    require: has",
        ),
        "holds no rollback up",
    ),
    "moment": (
        ("    message: Every procedure", "    effective_on: 2999-12-01\n    message: Every procedure"),
        "from 2999-12-01T00:00:00Z on only",
    ),
    "owner": (("owner: compliance", "owner: me"), "which me keeps"),
}


@pytest.mark.parametrize("how", LOOSER)
def test_a_rule_that_would_hold_less_firmly_is_named_with_its_owner(live: Shop, how: str) -> None:
    words, says = LOOSER[how]
    live.edit(RULES, words)
    row = next(row for row in plan(live)["loosened"] if row["rule"] == "OWN-1")
    assert (row["policy"], row["owner"]) == ("refunds", "compliance")
    assert says in str(row["how"])
    assert "plan-looser" in warned(live.adopt("looser"))


def test_a_rule_that_would_be_gone_is_named_with_its_owner(live: Shop) -> None:
    live.write("registry/policies/more.yaml", UNTESTED)
    (live.root / RULES).unlink()
    answer = plan(live)
    assert [(row["rule"], row["how"]) for row in answer["loosened"]] == [
        ("OWN-1", ["it is gone"]),
        ("BUD-1", ["it is gone"]),
    ]
    assert answer["rules_removed"] == ["BUD-1", "OWN-1"]


def test_a_stricter_policy_is_called_no_looser(live: Shop) -> None:
    stricter(live, GRACE)
    assert plan(live)["loosened"] == []


def test_a_channel_that_settings_drop_stands_still_and_the_plan_says_so(live: Shop) -> None:
    live.edit(SETTINGS, ("  production: {after: staging}", "  other: {after: staging}"))
    answer = plan(live)
    assert answer["channels_changed"]
    assert {(row["channel"], row["newly_broken"][0]["rule"]) for row in answer["changes"]} == {
        ("production", "channel-not-adopted")
    }
    setting(live, "require_grace: true")
    live.pawl("policy", "adopt", "--reason", "r", code=3)


def test_people_that_settings_drop_approve_no_more_once_that_is_adopted(approved: Shop) -> None:
    approved.edit(SETTINGS, ("  ben@example.invalid: [risk]\n", ""))
    assert plan(approved)["people_changed"]
    approved.promote(*SECOND, "support/refund-draft@1.0.0", to="production")


DEMAND = "approvals: {count: 1, roles: [risk]}"
APPROVED = APPROVALS.partition("    tests:")[0]
SOAKED = UNTESTED.replace("safety, level: absolute, require: has(procedure.owner)", "readiness, level: absolute, BODY")
FREEZE = "freeze: {start: 2050-06-01, time_zone: UTC, reason: fair, "


def approvals(old: str, new: str, says: str) -> tuple[str, str, str]:
    """Two rules that differ in what they demand of approvals."""
    first, second = (APPROVED.replace(DEMAND, f"approvals: {{{body}}}") for body in (old, new))
    return first, second, says


def words(old: str, new: str, says: str) -> tuple[str, str, str]:
    """Two rules about approvals that differ in other words; ``old`` takes the place of ``new`` if that is there."""
    if old in APPROVED:
        return APPROVED, APPROVED.replace(old, new), says
    assert new in APPROVED
    return APPROVED.replace(new, old), APPROVED, says


def demands(old: str, new: str, says: str) -> tuple[str, str, str]:
    """Two readiness rules that demand something."""
    return SOAKED.replace("BODY", old), SOAKED.replace("BODY", new), says


HOUR = "soak: {channel: staging, at_least: PT1H}"
SOFTER: dict[str, tuple[str, str, str]] = {
    "count": approvals("count: 2", "count: 1", "needed 2 approvals and would need 1"),
    "roles": approvals("roles: [risk]", "roles: [risk, author]", "author, risk would count"),
    "any role": approvals("roles: [risk]", "count: 1", "of any name would count"),
    "kinds": approvals("kinds: [human]", "kinds: [human, service]", "human, service would count"),
    "verified": approvals("verified: true", "verified: false", "no signature"),
    "any policy": approvals("count: 1", "any_policy: true", "older policies"),
    "max_age": approvals("max_age: P7D", "max_age: P8D", "7 days and would for 8 days"),
    "no max_age": approvals("max_age: P7D", "count: 1", "for ever"),
    "waiver at_most": words("P14D", "P20D", "a waiver counted for 14 days"),
    "waiver roles": words("[release]", "[release, risk]", "release, risk would count"),
    "break_glass": words("P1D", "P2D", "nobody approved counted for 1 day"),
    "new break_glass": words("[release]}", "[release], break_glass: P1D}", "before anybody approved"),
    "applies": words("channels: [staging, production]", "channels: [production]", "did to staging, production"),
    "narrowed": words("{channels: [production]}", "{channels: [production], names: [a/x]}", "did to all"),
    "soak": demands(HOUR.replace("1H", "24H"), HOUR, "soaked for 1 day and would for 1 hour"),
    "soak elsewhere": demands(HOUR, HOUR.replace("staging", "production"), "on production and not"),
    "bump": demands("bump: {largest: patch}", "bump: {largest: minor}", "was patch and would be minor"),
    "evidence": demands("evidence: {max_age: P7D}", "evidence: {max_age: P9D}", "would for 9 days"),
    "freeze": demands(FREEZE + "duration: P2D}", FREEZE + "duration: P1D}", "would for 1 day"),
    "kind": demands("bump: {largest: patch}", "evidence: {max_age: P9D}", "cannot be compared"),
    "require": (UNTESTED, UNTESTED.replace("has(procedure.owner)", "'true'"), "has(procedure.owner) -> true"),
}
NEVER_STRICTER = {"kind", "require", "soak elsewhere"}
"""What cannot be compared is named in both directions."""


CHOSEN = ("count", "max_age", "waiver at_most", "applies", "soak", "freeze", "kind", "require")


@pytest.mark.parametrize("how", sweep(SOFTER, *CHOSEN))
def test_a_demand_that_lets_more_through_is_named_by_plan_and_adoption(live: Shop, how: str) -> None:
    first, second, says = SOFTER[how]
    path = "registry/policies/more.yaml"
    live.write(path, first)
    live.adopt("first")
    live.write(path, second)
    (row,) = plan(live)["loosened"]
    assert says in str(row["how"])
    answer = live.adopt("second")
    assert "plan-looser" in warned(answer)
    assert answer["rules_changed_fields"][0]["fields"]
    live.write(path, first)
    assert bool(plan(live)["loosened"]) == (how in NEVER_STRICTER)


def test_a_plan_says_old_and_new_of_each_field_that_changes(live: Shop) -> None:
    live.edit(RULES, ("    message: Every procedure has an owner.", "    message: Another."))
    assert plan(live)["rules_changed_fields"] == [{"rule": "OWN-1", "fields": []}]
    live.edit(
        RULES,
        (
            "    class: safety\n    level: absolute\n    require: has",
            "    class: safety\n    level: waivable\n    require: has",
        ),
    )
    fields = [{"field": "level", "old": "absolute", "new": "waivable"}]
    assert plan(live)["rules_changed_fields"] == [{"rule": "OWN-1", "fields": fields}]
    assert 'rule OWN-1: level: "absolute" -> "waivable"' in in_process("-C", str(live.root), "policy", "plan").out


# People, signers and files


@pytest.mark.parametrize(
    "role",
    ["Agent", "agents", "AGENT", "' agent'", "agent-", "Service", "services", "ser-vice", "Risk", "a b", "''", "-a"],
)
def test_a_role_that_is_no_word_or_nearly_that_of_a_machine_is_refused(live: Shop, role: str) -> None:
    setting(live, "require_grace: false")
    live.write(SETTINGS, live.read(SETTINGS) + f"people: {{bot@example.invalid: [risk, {role}]}}\n")
    assert live.codes(live.pawl("policy", "plan", code=1)) == ["role-bad"]
    assert live.codes(live.pawl("policy", "adopt", "--reason", "r", code=1)) == ["role-bad"]


@pytest.mark.parametrize("role", ["agent", "service", "risk", "2nd-line", "service-desk", "field_agent"])
def test_other_roles_are_not(live: Shop, role: str) -> None:
    live.write(SETTINGS, live.read(SETTINGS) + f"people: {{bot@example.invalid: [{role}]}}\n")
    live.adopt("people")


@pytest.mark.parametrize("name", [".refunds.yaml", ".old/refunds.yaml", "refunds.yaml.bak", "refunds.txt"])
def test_files_that_are_not_read_are_named_by_plan_and_adoption(live: Shop, name: str) -> None:
    live.write(f"registry/policies/{name}", UNTESTED)
    live.write("registry/policies/.gitkeep", "")
    live.write("registry/policies/more.yaml", UNTESTED)
    for answer in (live.pawl("check"), plan(live), live.adopt("more")):
        (path,) = [problem["path"] for problem in answer["problems"] if problem["code"] == "file-ignored"]
        assert path == f"registry/policies/{name.partition('/')[0]}"


def test_a_plan_whose_example_fails_says_so_and_ends_with_1(live: Shop) -> None:
    live.edit(RULES, ("procedure: {owner: null}, expect: denied", "procedure: {owner: x}, expect: denied"))
    answer = live.pawl("policy", "plan", code=1)
    assert live.codes(answer) == ["rule-test-failed"]
    assert answer["next"] == 2


def test_sources_that_are_in_force_already_stay(live: Shop) -> None:
    answer = plan(live)
    assert (answer["policy"], answer["next"]) == (1, 1)
    assert "policy 1 stays" in in_process("-C", str(live.root), "policy", "plan").out
    stricter(live)
    assert "policy 1 -> 2" in in_process("-C", str(live.root), "policy", "plan").out


KEYS = tuple(f"ssh-ed25519 {'A' * 40}{letter}AAA" for letter in "BCD")
SIGNER_FILE = "registry/allowed_signers"
ADAS = "ada@example.invalid "
BESIDE: dict[str, tuple[str, tuple[str, str], str, str]] = {
    "a key": (
        SIGNER_FILE,
        (ADAS + KEYS[0], ADAS + KEYS[1]),
        "signers",
        "could sign",
    ),
    "a person": (
        SIGNER_FILE,
        ("# nobody else", f"eve@example.invalid {KEYS[2]}"),
        "signers",
        "eve@example",
    ),
    "a role": (SETTINGS, ("cyd@example.invalid: [release]", "cyd@example.invalid: [release, risk]"), "people", "risk"),
    "no agent": (SETTINGS, ("[agent, risk]", "[risk]"), "people", "pass for a human"),
    "an agent gone": (SETTINGS, ("  bot@example.invalid: [agent, risk]\n", ""), "people", "pass for a human"),
    "no after": (SETTINGS, ("production: {after: staging}", "production: {}"), "channels", "after no other channel"),
}


@pytest.fixture
def peopled(live: Shop) -> Shop:
    """People and a signer are adopted."""
    live.write(SIGNER_FILE, f"ada@example.invalid {KEYS[0]}\n# nobody else\n")
    with_people(live)
    live.adopt("people")
    return live


@pytest.mark.parametrize("how", BESIDE)
def test_what_is_looser_beside_the_rules_is_named_too(peopled: Shop, how: str) -> None:
    path, words, field, says = BESIDE[how]
    peopled.edit(path, words)
    answer = plan(peopled)
    (row,) = answer[field]
    assert row["old"] != row["new"]
    text = in_process("-C", str(peopled.root), "policy", "plan").out
    assert f"{field.removesuffix('s').replace('people', 'person')} {next(iter(row.values()))}: " in text
    done = peopled.adopt("looser")
    assert done["channel_changes" if field == "channels" else field] == [row]
    for told in (answer, done):
        assert any(p["code"] == "plan-looser" and says in p["message"] for p in told["problems"])


def test_one_key_of_two_people_is_not_adopted(peopled: Shop) -> None:
    for line in (f"Ben@example.invalid {KEYS[0]} ben", f'"ben@example.invalid,x@y" namespaces="pawl" {KEYS[0]}'):
        peopled.write(SIGNER_FILE, f"ada@example.invalid {KEYS[0]}\n{line}\n")
        assert peopled.codes(peopled.pawl("policy", "adopt", "--reason", "r", code=1)) == ["signer-twice"]
        assert peopled.codes(peopled.pawl("policy", "plan", code=1)) == ["signer-twice"]
    peopled.write(SIGNER_FILE, f"ada@example.invalid {KEYS[0]}\nAda@example.invalid {KEYS[0]}\n")
    peopled.adopt("the same person")
    peopled.write(SIGNER_FILE, "ada@example.invalid nothing\n")
    assert peopled.codes(peopled.pawl("policy", "adopt", "--reason", "r", code=1)) == ["signer-bad"]


@pytest.mark.parametrize("line", [f"*@example.invalid {KEYS[1]}", f"ben@example.invalid cert-authority {KEYS[1]}"])
def test_a_signer_that_is_many_is_warned_of(peopled: Shop, line: str) -> None:
    peopled.write(SIGNER_FILE, line + "\n")
    assert "signer-wildcard" in warned(plan(peopled))
    assert "signer-wildcard" in warned(peopled.adopt("many"))


def test_a_policy_that_was_replaced_shows_all_that_was_frozen_with_it(peopled: Shop) -> None:
    (peopled.root / "registry/policies/approvals.yaml").unlink()
    peopled.write(SIGNER_FILE, "")
    peopled.adopt("less")
    shown = peopled.pawl("policy", "show", "2")
    assert shown["signers"] == f"ada@example.invalid {KEYS[0]}\n# nobody else\n"
    assert shown["people"]["bot@example.invalid"] == ["agent", "risk"]
    assert shown["channels"] == {"staging": None, "production": "staging"}
    (rule,) = [row for row in shown["rules"] if row["id"] == "APP-1"]
    assert (rule["applies"]["channels"], rule["waiver"]["break_glass"]) == (["production"], "P1D")
    text = in_process("-C", str(peopled.root), "policy", "show", "2").out
    assert "bot@example.invalid: agent, risk" in text
    assert f"signer ada@example.invalid {KEYS[0]}" in text
    assert 'rule APP-1: waiver: {"at_most": "P14D"' in text
