"""Evidence: statements that nobody misreads, and invariant 9: what counts, and what beats it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.make import result_of, suite, tool
from pawl.canonical import digest_of, record_bytes, sha256
from pawl.conformance.evidence import (
    PREDICATE_TYPE,
    STATEMENT_TYPE,
    EvidenceEntry,
    Key,
    choose,
    entry_from_record,
    entry_of,
    newest,
    runner_digest,
    statement,
    to_record,
)
from pawl.conformance.outcomes import OUTCOMES, WORST_FIRST, Outcome
from pawl.errors import IntegrityError

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOOL = tool()
SUITE = suite(TOOL.name, *({"id": f"c{number}", "call": {}, "assert": [{"type": "accepted"}]} for number in range(5)))
KEY = Key(subject=TOOL.digest, closure=digest_of("closure"), suite=SUITE.digest, runner=runner_digest())
MEMBERS = ((TOOL.name, TOOL.version, TOOL.digest),)


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def made(*outcomes: Outcome, partial: bool = False) -> dict[str, Any]:
    result = result_of(SUITE, TOOL, *outcomes, partial=partial)
    return statement(result, KEY, suite=SUITE, members=MEMBERS, finished=stamp(NOW))


def entry(outcome: Outcome = "passed", *, minutes: int = 0, partial: bool = False, key: Key = KEY) -> EvidenceEntry:
    return EvidenceEntry(
        file=f"{outcome}-{minutes}.json",
        digest=digest_of([outcome, minutes, partial]),
        key=key,
        suite=SUITE.name,
        about=TOOL.ref,
        outcome=outcome,
        cases=("c0",),
        partial=partial,
        finished_at=stamp(NOW + timedelta(minutes=minutes)),
    )


def test_a_statement_is_an_in_toto_test_result() -> None:
    found = made("passed", "failed", "errored", "skipped", "inconclusive")
    predicate = found["predicate"]

    assert (found["_type"], found["predicateType"]) == (STATEMENT_TYPE, PREDICATE_TYPE)
    assert found["subject"] == [
        {"name": "support/check-eligibility@1.0.0", "digest": {"sha256": TOOL.digest.removeprefix("sha256:")}}
    ]
    assert predicate["result"] == "FAILED"
    assert predicate["passedTests"] == ["c0"]
    assert predicate["warnedTests"] == []
    assert predicate["failedTests"] == ["c1", "c2", "c3", "c4"]
    assert [case["outcome"] for case in predicate["pawl"]["cases"]] == list(OUTCOMES)
    assert predicate["pawl"]["tally"]["total"] == 5
    assert {item["name"] for item in predicate["configuration"]} == {"suite:house", "closure", "runner"}


@given(st.lists(st.sampled_from(OUTCOMES), max_size=5), st.booleans())
def test_only_a_whole_pass_says_so(outcomes: list[Outcome], partial: bool) -> None:
    found = made(*outcomes, partial=partial)
    whole = outcomes == ["passed"] * 5 and not partial

    assert (found["predicate"]["result"] == "PASSED") == whole
    read = entry_of(found, file="e.json", digest=sha256(record_bytes(found)))
    assert read.key == KEY
    assert read.partial == (partial or len(outcomes) < 5)
    assert entry_from_record(read.as_record()) == read
    assert (newest([read], KEY, now=NOW) is not None) == (not read.partial)


def test_a_key_of_something_else_is_refused() -> None:
    result = result_of(SUITE, TOOL, "passed", "passed", "passed", "passed", "passed")
    for key in (replace(KEY, suite=digest_of(1)), replace(KEY, subject=digest_of(1))):
        with pytest.raises(ValueError, match="not that of this result"):
            statement(result, key, suite=SUITE, members=MEMBERS, finished=stamp(NOW))


TAMPERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "type": lambda found: found.update(_type="https://in-toto.io/Statement/v0.1"),
    "predicate type": lambda found: found.update(predicateType="https://in-toto.io/attestation/link/v0.3"),
    "no predicate": lambda found: found.pop("predicate"),
    "two subjects": lambda found: found["subject"].append(found["subject"][0]),
    "other name": lambda found: found["subject"][0].update(name="support/other@1.0.0"),
    "result": lambda found: found["predicate"].update(result="PASSED"),
    "a failed test hidden": lambda found: found["predicate"].update(failedTests=[]),
    "a test moved": lambda found: found["predicate"].update(passedTests=["c0", "c1"], failedTests=[]),
    "an outcome": lambda found: found["predicate"]["pawl"]["cases"][1].update(outcome="passed"),
    "an unknown outcome": lambda found: found["predicate"]["pawl"]["cases"][1].update(outcome="fine"),
    "the whole": lambda found: found["predicate"]["pawl"].update(outcome="passed"),
    "partial": lambda found: found["predicate"]["pawl"].update(partial=0),
    "no runner": lambda found: found["predicate"]["configuration"].pop(),
    "a digest": lambda found: found["subject"][0]["digest"].update(sha256="abc"),
    "time": lambda found: found["predicate"]["pawl"].update(finished_at="yesterday"),
    "time without zone": lambda found: found["predicate"]["pawl"].update(finished_at="2026-03-01T12:00:00"),
    "format": lambda found: found["predicate"]["pawl"].update(format=2),
    "cases": lambda found: found["predicate"]["pawl"].update(cases="c0"),
}


@pytest.mark.parametrize("name", sorted(TAMPERED))
def test_a_statement_that_contradicts_itself_is_refused(name: str) -> None:
    found = copy.deepcopy(made("passed", "failed"))
    TAMPERED[name](found)

    with pytest.raises(IntegrityError) as caught:
        entry_of(found, file="e.json", digest=KEY.subject)
    assert [problem.code for problem in caught.value.problems] == ["evidence-damaged"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("digest", "x"), ("key", {}), ("suite", "A B"), ("about", "a"), ("outcome", "ok"), ("cases", "c0"),
        ("partial", None), ("finished_at", 7),
    ],
)  # fmt: skip
def test_a_record_that_is_none_is_refused(field: str, value: Any) -> None:
    row = to_record(made("passed"), file="e.json", digest=KEY.subject)
    entry_from_record(row)

    with pytest.raises(IntegrityError):
        entry_from_record({**row, field: value})
    with pytest.raises(IntegrityError):
        entry_from_record({name: held for name, held in row.items() if name != field})


def test_the_newest_counts_whatever_the_order() -> None:
    old, new = entry("passed", minutes=-10), entry("failed", minutes=-5)

    assert newest([old, new], KEY, now=NOW) == new
    assert newest([new, old], KEY, now=NOW) == new
    assert newest([], KEY, now=NOW) is None


@pytest.mark.parametrize("part", ["subject", "closure", "suite", "runner"])
def test_evidence_of_another_digest_does_not_count_and_says_why(part: str) -> None:
    other = entry(key=replace(KEY, **{part: digest_of("other")}))
    chosen = choose([other], KEY, now=NOW)

    assert chosen.entry is None
    assert [item.reason for item in chosen.passed_over] == [f"it is of another {part}"]


def test_partial_and_future_results_do_not_count_and_say_why() -> None:
    entries = [entry(partial=True), entry(minutes=1)]
    chosen = choose(entries, KEY, now=NOW)

    assert chosen.entry is None
    assert [item.reason for item in chosen.passed_over] == [
        "it is of a run that left cases out",
        "it is from the future: 2026-03-01T12:01:00Z",
    ]


def test_a_result_of_this_very_moment_counts() -> None:
    assert newest([entry(minutes=0)], KEY, now=NOW) is not None


entries = st.builds(
    entry,
    st.sampled_from(OUTCOMES),
    minutes=st.integers(-3, 2),
    partial=st.booleans(),
    key=st.sampled_from([KEY, replace(KEY, closure=digest_of("other")), replace(KEY, runner=digest_of("other"))]),
)


@given(st.lists(entries, max_size=8), st.randoms(use_true_random=False))
def test_evidence_counts_only_while_all_digests_match_and_a_newer_failure_beats_any_older_pass(
    found: list[EvidenceEntry], random: Any
) -> None:
    """Invariant 9: evidence counts only while subject, closure, suite and runner digests match; a newer failure beats
    any older pass."""
    chosen = newest(found, KEY, now=NOW)
    counting = [item for item in found if item.key == KEY and not item.partial and item.finished <= NOW]
    shuffled = list(found)
    random.shuffle(shuffled)

    again = newest(shuffled, KEY, now=NOW)
    assert (chosen and (chosen.outcome, chosen.finished)) == (again and (again.outcome, again.finished))
    if chosen is None:
        assert counting == []
        return
    assert chosen in counting
    assert all(item.finished <= chosen.finished for item in counting)
    same_time = [item.outcome for item in counting if item.finished == chosen.finished]
    assert chosen.outcome == min(same_time, key=WORST_FIRST.index)


def test_the_runner_digest_covers_the_implementations() -> None:
    digests = {
        runner_digest(),
        runner_digest({"shop:look": None}),
        runner_digest({"shop:look": digest_of(1)}),
        runner_digest({"shop:look": digest_of(2)}),
    }

    assert len(digests) == 4
