"""What users of other systems said about conformance suites and evidence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from support import FIRST, Shop, in_process

OUTCOMES = ("passed", "failed", "errored", "skipped", "inconclusive")
DRAFT, DRAFT_FILE = "support/refund-draft", "procedures/support/refund-draft.yaml"
TOOL = """kind: tool
name: count
version: {version}
owner: shop
spec:
  description: Counts.
  inputSchema: {{type: object, properties: {{word: {{type: string}}}}, additionalProperties: false}}
  binding: {binding}
"""
SUITE = """suite: counting
about: count
cases:
  - {{id: one, call: {{word: a}}, assert: [{assertion}]}}
  - {{id: two, call: {{word: b}}, assert: [{assertion}]}}
"""
PYTHON = "{python: 'counting:count'}"
EQUALS = "{type: equals, value: good}"
CODE = """from pathlib import Path

def count(word):
    found = Path(__file__).with_name("answer.txt").read_text()
    if found == "broken":
        raise RuntimeError(found)
    return found
"""
"""Answers what stands in a file, which no digest covers: the same code can pass today and fail tomorrow."""
AGE = """  - id: AGE-1
    class: readiness
    level: absolute
    applies: {names: [count]}
    evidence: {max_age: PT1H}
    message: Results are an hour old at most.
"""


def write_tool(shop: Shop, version: str = "1.0.0", binding: str = PYTHON, assertion: str = EQUALS) -> None:
    shop.write("procedures/count.yaml", TOOL.format(version=version, binding=binding))
    shop.write("conformance/counting.yaml", SUITE.format(assertion=assertion))


def evidence(answer: dict[str, Any]) -> dict[str, str]:
    """Return what a verdict says of each suite, by the suite's name."""
    rows = [row["message"] for row in answer["verdict"]["findings"] if row["check"] == "evidence"]
    return {message.split()[1]: message for message in rows}


def new_draft(shop: Shop) -> None:
    """Publish a prompt of which one case fails."""
    shop.edit(DRAFT_FILE, ("version: 1.0.0", "version: 1.0.1"), ("Never promise", "Always promise"))
    shop.pawl("publish", DRAFT)


def test_promptfoo_335_one_failing_case_is_never_0(live: Shop) -> None:
    new_draft(live)
    for words in (("test",), ("test", DRAFT), ("test", f"{DRAFT}@1.0.1"), ("check",)):
        answer = live.pawl(*words, code=1)
        assert live.codes(answer) == ["case-failed"]
        tallies = [answer["tally"], *(suite["tally"] for suite in answer["suites"])]
        for tally in tallies:
            assert set(tally) == {*OUTCOMES, "total"}
            assert sum(tally[outcome] for outcome in OUTCOMES) == tally["total"]
        assert (answer["tally"]["failed"], answer["tally"]["total"] > 1) == (1, True)
        text = in_process("-C", str(live.root), *words).out
        assert "1 failed" in text
    assert live.codes(live.promote(f"{DRAFT}@1.0.1", to="staging", code=4)) == ["evidence-failed"]


def no_suites(shop: Shop) -> None:
    shutil.rmtree(shop.root / "conformance")
    (shop.root / "conformance").mkdir()


def no_cases(shop: Shop) -> None:
    shop.write("conformance/refund-draft.yaml", f"suite: refund-draft\nabout: {DRAFT}\ncases: []\n")


@pytest.mark.parametrize(
    ("words", "change", "code"),
    [
        (("NOSUCH",), None, "nothing-tested"),
        (("support/nosuch",), None, "nothing-tested"),
        (("support/nosuch@1.0.0",), None, "name-unknown"),
        (("support/refund@9.0.0",), None, "version-unknown"),
        (("--case", "nosuch"), None, "nothing-tested"),
        (("refund-draft", "--case", "a-request-gets-a-draft"), None, "nothing-tested"),
        ((), no_suites, "nothing-tested"),
        ((DRAFT,), no_suites, "nothing-tested"),
        ((), no_cases, "suite-empty"),
        (("refund-draft",), no_cases, "suite-empty"),
    ],
)
def test_langfuse_16170_nothing_tested_is_never_0(
    live: Shop, words: tuple[str, ...], change: Callable[[Shop], None] | None, code: str
) -> None:
    if change:
        change(live)
        assert code in live.codes(live.pawl("check", code=1))
    assert live.codes(live.pawl("test", *words, code=1)) == [code]


@pytest.mark.parametrize("change", [no_suites, no_cases])
def test_langfuse_16170_without_a_suite_nothing_is_promoted(live: Shop, change: Callable[[Shop], None]) -> None:
    live.edit(DRAFT_FILE, ("version: 1.0.0", "version: 1.0.1"), ("You draft", "You write"))
    live.pawl("publish", DRAFT)
    change(live)
    answer = live.promote(f"{DRAFT}@1.0.1", to="staging", code=4)
    assert "suite-missing" in live.codes(answer)
    assert f"no conformance suite covers {DRAFT}@1.0.1" in str(answer["problems"])


def test_langfuse_16170_evidence_of_another_closure_is_none(live: Shop) -> None:
    """The workflow is as it was and passed; what it requires is new, and beside that it fails."""
    live.edit(
        DRAFT_FILE,
        ("version: 1.0.0", "version: 1.1.0"),
        ("amount: {type: number}", "amount: {type: number, maximum: 9}"),
    )
    live.edit("conformance/refund-draft.yaml", ("amount: 20", "amount: 2"), ("refund of 20", "refund of 2"))
    live.edit(DRAFT_FILE, ("version: 1.1.0", "version: 2.0.0"))
    live.edit("procedures/support/refund.yaml", ("version: 1.0.0", "version: 1.1.0"), ('">=1,<2"', '">=1,<3"'))
    live.pawl("publish")
    live.everywhere("support/refund@1.1.0")
    answer = live.promote(f"{DRAFT}@2.0.0", to="staging", code=4)
    assert "suite refund on support/refund@1.1.0" in str(answer["problems"])


SOUR = [
    ("errored", "{python: 'nowhere:count'}", EQUALS),
    ("skipped", "{http: {url: 'https://count.example.invalid'}}", EQUALS),
    ("inconclusive", PYTHON, "{type: llm-rubric, value: it is good}"),
]


@pytest.mark.parametrize(("outcome", "binding", "assertion"), SOUR)
def test_robocurve_inspect_robots_73_without_a_pass_nothing_passed(
    plain_shop: Shop, outcome: str, binding: str, assertion: str
) -> None:
    plain_shop.adopt()
    write_tool(plain_shop, "1.0.0", binding, assertion)
    for words in (("test", "count"), ("check",)):
        answer = plain_shop.pawl(*words, code=1)
        assert plain_shop.codes(answer) == [f"case-{outcome}"] * 2
    plain_shop.pawl("publish", "count")
    answer = plain_shop.promote("count@1.0.0", to="staging", code=4)
    assert plain_shop.codes(answer) == [f"evidence-{outcome}"]
    tally = plain_shop.pawl("test", "counting", code=1)["tally"]
    assert tally == {**dict.fromkeys(OUTCOMES, 0), outcome: 2, "total": 2}


def test_robocurve_inspect_robots_73_a_case_without_assertions_is_a_fault(plain_shop: Shop) -> None:
    plain_shop.adopt()
    write_tool(plain_shop)
    plain_shop.pawl("publish", "count")
    write_tool(plain_shop, assertion="")
    for words in (("check",), ("test",), ("test", "counting")):
        assert plain_shop.codes(plain_shop.pawl(*words, code=1)) == ["suite-case-unasserted"] * 2
    assert "suite-unread" in plain_shop.codes(plain_shop.promote("count@1.0.0", to="staging", code=4))


@pytest.fixture
def counting(plain_shop: Shop, clock: Callable[[str], None]) -> Shop:
    """A tool with an implementation that passes, under a rule that results are an hour old at most."""
    clock("2026-03-01T12:00:00+00:00")
    plain_shop.edit("registry/registry.yaml", ("  staging: {}", "  alpha: {}\n  staging: {}\n  zeta: {}"))
    plain_shop.write("registry/policies/refunds.yaml", plain_shop.read("registry/policies/refunds.yaml") + AGE)
    plain_shop.adopt()
    plain_shop.write("counting.py", CODE)
    plain_shop.write("answer.txt", "good")
    write_tool(plain_shop)
    plain_shop.pawl("publish")
    return plain_shop


def other_draft(shop: Shop) -> None:
    shop.edit(DRAFT_FILE, ("version: 1.0.0", "version: 1.0.1"), ("You draft refunds", "You draft refunds,"))
    shop.pawl("publish", DRAFT)


def other_suite(shop: Shop) -> None:
    shop.edit("conformance/counting.yaml", ("id: two", "id: too"))


def other_code(shop: Shop) -> None:
    shop.write("counting.py", f"{CODE}\n")


COUNT = "count@1.0.0"


@pytest.mark.parametrize(
    ("change", "draft", "anew"),
    [
        (None, FIRST[1], set()),
        (other_draft, f"{DRAFT}@1.0.1", {"refund-draft", "refund"}),  # the second by its closure
        (other_suite, FIRST[1], {"counting"}),
        (other_code, FIRST[1], {"counting"}),
    ],
)
def test_promptfoo_360_one_byte_more_and_older_evidence_does_not_count(
    counting: Shop,
    clock: Callable[[str], None],
    change: Callable[[Shop], None] | None,
    draft: str,
    anew: set[str],
) -> None:
    counting.promote(*FIRST, COUNT, to="staging")
    clock("2026-03-01T12:30:00+00:00")
    if change:
        change(counting)
    said = evidence(counting.promote(FIRST[0], draft, COUNT, to="alpha"))
    assert sorted(said) == ["counting", "refund", "refund-draft"]
    for suite, message in said.items():
        assert ("run now" if suite in anew else "evidence reused from 2026-03-01T12:00:00Z") in message


def test_kargo_5144_a_later_failure_stops_the_very_next_promotion(counting: Shop, clock: Callable[[str], None]) -> None:
    counting.promote(COUNT, to="staging")
    clock("2026-03-01T14:00:00+00:00")  # too old for the rule: the suite runs again
    counting.write("answer.txt", "bad")
    assert counting.codes(counting.promote(COUNT, to="production", code=4)) == ["evidence-failed"]
    counting.write("answer.txt", "good")  # no digest covers it: the failure stands
    answer = counting.promote(COUNT, to="production", code=4)
    assert "on exactly these digests" in str(answer["problems"])
    counting.edit("procedures/count.yaml", ("version: 1.0.0", "version: 1.0.1"), ("Counts.", "Counts words."))
    counting.pawl("publish", "count")
    counting.promote("count@1.0.1", to="staging")
    (row,) = counting.pawl("targets", "count", "--channel", "staging")["targets"]
    assert (row["version"], row["allowed"], row["exit_code"]) == ("1.0.0", False, 4)
    assert "failed" in str(row["reasons"])


@pytest.mark.parametrize("channels", [("alpha", "staging"), ("staging", "alpha")])
@pytest.mark.parametrize("answers", [("good", "bad"), ("broken", "good")])
def test_sigstore_policy_controller_422_the_newest_result_decides(
    counting: Shop, clock: Callable[[str], None], channels: tuple[str, str], answers: tuple[str, str]
) -> None:
    """Files of evidence are named after channels, so that the newer one comes first or last in its folder."""
    for hour, channel, found in zip((12, 14), channels, answers, strict=True):
        clock(f"2026-03-01T{hour}:00:00+00:00")
        counting.write("answer.txt", found)
        counting.promote(COUNT, to=channel, code=0 if found == "good" else 4)
    files = sorted(path.name for path in (counting.root / "releases/evidence/count/1.0.0").iterdir())
    assert files == ["counting.alpha-000001.json", "counting.staging-000001.json"]
    clock("2026-03-01T14:30:00+00:00")
    counting.write("answer.txt", "bad" if answers[1] == "good" else "good")  # nobody asks again
    answer = counting.promote(COUNT, to="zeta", code=0 if answers[1] == "good" else 4)
    said = "evidence reused from" if answers[1] == "good" else "failed: on exactly these digests"
    (message,) = evidence(answer).values()
    assert said in message
    assert "2026-03-01T14:00:00Z" in message


def test_in_toto_attestation_552_a_part_of_a_suite_is_no_pass(live: Shop) -> None:
    new_draft(live)
    before = live.files()
    some = ("--case", "names-order-and-amount", "--case", "amount-is-needed")
    assert live.pawl("test", "refund-draft", *some)["tally"]["passed"] == 2
    assert live.pawl("test", f"{DRAFT}@1.0.1", *some)["tally"]["total"] == 2
    assert before == live.files()
    live.promote(f"{DRAFT}@1.0.1", to="staging", code=4)
    cases = ["names-order-and-amount", "never-promises-money", "amount-is-needed"]
    for version, channel, serial in (("1.0.0", "staging", 1), ("1.0.1", "staging", 2)):
        path = f"releases/evidence/{DRAFT}/{version}/refund-draft.{channel}-{serial:06}.json"
        predicate = json.loads(live.read(path))["predicate"]
        assert [case["id"] for case in predicate["pawl"]["cases"]] == cases
        assert sorted(predicate["passedTests"] + predicate["failedTests"]) == sorted(cases)
        assert (predicate["result"], predicate["pawl"]["partial"]) == ("PASSED" if serial == 1 else "FAILED", False)


def test_langfuse_16170_a_filter_that_fits_nothing_is_named_beside_one_that_fits(shop: Shop) -> None:
    known = shop.pawl("test", "refund-draft")["suites"][0]["cases"][0]["id"]
    answer = shop.pawl("test", "refund-draft", "--case", known, "--case", "typo", code=1)
    assert shop.codes(answer) == ["case-unknown"]
    assert answer["tally"]["total"] == 1
