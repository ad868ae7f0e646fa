"""Reading suites: what is taken, every fault of a broken one at its place, and which versions a suite is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conformance.make import procedure, suite
from pawl.conformance.assertions import ASSERTIONS, NOT_RUN
from pawl.conformance.models import json_schema
from pawl.conformance.plain import ABSENT
from pawl.conformance.suites import applies, read_suite
from pawl.errors import Faulty
from pawl.io.strict_yaml import load
from pawl.problems import Place

BROKEN = Path(__file__).parent / "broken"
CASE = ("cases", 0)
FIRST = ("cases", 0, "assert", 0)

# file, then (code, place) of every fault
FAULTS: dict[str, list[tuple[str, Place]]] = {
    "assertion-that-cannot-fail": [
        ("suite-assertion-value", ("cases", 0, "assert", number, "value")) for number in range(5)
    ],
    "assertion-without-value": [("suite-assertion-value", ("cases", 0, "assert", number)) for number in range(3)],
    "bad-names": [
        ("suite-field-invalid", ("suite",)),
        ("suite-field-invalid", ("about",)),
        ("suite-field-invalid", (*CASE, "id")),
        ("suite-field-invalid", ("cases", 1, "id")),
    ],
    "case-twice": [("suite-case-duplicate", ("cases", 1, "id"))],
    "case-without-assert": [("suite-field-missing", CASE)],
    "case-without-assertions": [("suite-case-unasserted", (*CASE, "assert"))],
    "faults-on-both-levels": [
        ("suite-field-missing", ("cases", 1)),
        ("suite-field-unknown", ("extra",)),
        ("suite-assertion-unknown", (*FIRST, "type")),
    ],
    "no-cases": [("suite-empty", ("cases",))],
    "regex-with-lookahead": [("suite-assertion-value", ("cases", 0, "assert", number, "value")) for number in range(3)],
    "schema-fault": [("schema-keyword-unknown", (*FIRST, "value", "typ"))],
    "shapes-mixed": [
        ("suite-case-shape", ("cases", 0, "inputs")),
        ("suite-case-shape", ("cases", 1, "given")),
    ],
    "unknown-assertion": [("suite-assertion-unknown", ("cases", 0, "assert", number, "type")) for number in range(3)],
    "unknown-field": [
        ("suite-field-unknown", (*FIRST, "weight")),
        ("suite-field-unknown", (*CASE, "asserts")),
        ("suite-field-unknown", ("description",)),
    ],
    "verdict-with-value": [
        ("suite-assertion-value", (*FIRST, "value")),
        ("suite-assertion-field", ("cases", 0, "assert", 1, "role")),
    ],
    "version-range": [("suite-versions-invalid", ("versions",))],
    "versions-as-number": [("suite-field-invalid", ("versions",))],
}


@pytest.mark.parametrize("name", sorted(path.stem for path in BROKEN.glob("*.yaml")))
def test_every_fault_is_named_at_its_place(name: str) -> None:
    with pytest.raises(Faulty) as caught:
        read_suite(load((BROKEN / f"{name}.yaml").read_bytes()))

    assert FAULTS[name] == [(fault.code, fault.at) for fault in caught.value.faults]
    assert all(fault.severity == "error" and fault.message for fault in caught.value.faults)


@pytest.mark.parametrize("document", [None, [], "suite", 7, {}, {"suite": "a", "about": "b", "cases": "many"}])
def test_what_is_no_suite_is_refused(document: Any) -> None:
    with pytest.raises(Faulty):
        read_suite(document)


def test_a_typing_error_in_a_type_has_a_hint() -> None:
    with pytest.raises(Faulty) as caught:
        suite("a", {"id": "one", "assert": [{"type": "not-contians", "value": "x"}]})

    assert caught.value.faults[0].hint == "did you mean contains?"


def test_a_suite_keeps_what_is_stated_apart_from_what_is_not() -> None:
    read = suite(
        "a",
        {"id": "one", "answer": None, "assert": [{"type": "equals", "value": None}]},
        {"id": "two", "inputs": {}, "assert": [{"type": "not-accepted"}]},
    )
    one, two = read.cases

    assert (one.answer, one.call, one.inputs) == (None, ABSENT, None)
    assert None is one.assertions[0].value
    assert (two.inputs, two.answer) == ({}, ABSENT)
    assert (
        two.assertions[0].negated,
        two.assertions[0].type,
        two.assertions[0].name,
    ) == (True, "accepted", "not-accepted")


def test_the_digest_covers_the_whole_document_and_not_its_order() -> None:
    case = {"id": "one", "assert": [{"type": "accepted"}]}
    first = read_suite({"suite": "s", "about": "a", "cases": [case]})
    second = read_suite({"cases": [case], "about": "a", "suite": "s"})
    third = read_suite({"suite": "s", "about": "a", "versions": ">=1", "cases": [case]})

    assert first.digest == second.digest
    assert first.digest != third.digest


@pytest.mark.parametrize(
    ("about", "versions", "version", "expected"),
    [
        ("support/refund", None, "0.1.0", True),
        ("support/refund", None, "2.0.0rc1", True),
        ("support/refund", ">=2", "2.0.0", True),
        ("support/refund", ">=2", "1.9.9", False),
        ("support/refund", ">=2", "2.0.0rc1", False),
        ("support/refund", ">=2", "2.1.0a1", True),
        ("support/refund", ">=2.0.0rc1,<3", "2.0.0rc2", True),
        ("support/other", None, "2.0.0", False),
    ],
)
def test_a_suite_is_about_the_versions_in_its_specifier(
    about: str, versions: str | None, version: str, expected: bool
) -> None:
    fields = {"versions": versions} if versions else {}
    read = suite(about, {"id": "one", "assert": [{"type": "accepted"}]}, **fields)

    assert expected == applies(read, procedure("tool", "support/refund", {}, version))


def test_the_schema_for_editors_takes_what_the_reader_takes() -> None:
    schema = json_schema()
    document = {
        "suite": "refund",
        "about": "support/refund",
        "versions": ">=2",
        "cases": [
            {
                "id": "one",
                "inputs": {"a": 1},
                "given": {"s": None},
                "assert": [{"type": "not-contains", "value": "x", "role": "user", "message": -1}],
            }
        ],
    }
    read_suite(document)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    assert validator.is_valid(document)
    assert not validator.is_valid({**document, "extra": 1})
    types = schema["$defs"]["AssertionDocument"]["properties"]["type"]["enum"]
    assert {*ASSERTIONS, *NOT_RUN} <= set(types)


def test_the_known_and_the_judged_types_are_apart() -> None:
    assert not set(ASSERTIONS) & set(NOT_RUN)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("contains", 7),
        ("contains-all", "a, b"),
        ("contains-any", ["a", 7]),
        ("regex", "a" * 1_001),
        ("is-json", True),
        ("levenshtein", None),
        ("word-count", -1),
        ("word-count", True),
        ("word-count", {"min": 3, "max": 2}),
        ("word-count", {"most": 2}),
        ("outcome", ["denied"]),
        ("path", "denied"),
        ("trajectory:tool-used", []),
        ("trajectory:tool-sequence", {"steps": ["a"], "mode": "loose"}),
        ("trajectory:tool-sequence", {"mode": "exact"}),
        ("trajectory:tool-args-match", "shop/look"),
        ("trajectory:tool-args-match", {"name": "shop/look"}),
        ("trajectory:tool-args-match", {"name": "shop/look", "args": {}, "arguments": {}}),
        ("trajectory:tool-args-match", {"name": "shop/look", "args": {}, "mode": "loose"}),
        ("trajectory:step-count", 1.5),
    ],
)
def test_values_of_the_wrong_shape_are_refused(name: str, value: Any) -> None:
    with pytest.raises(Faulty) as caught:
        suite("a", {"id": "one", "assert": [{"type": name, "value": value}]})

    assert [fault.code for fault in caught.value.faults] == ["suite-assertion-value"]


def test_a_document_without_a_canonical_form_is_refused() -> None:
    with pytest.raises(Faulty) as caught:
        suite("a", {"id": "one", "inputs": {"number": 2**60}, "assert": [{"type": "accepted"}]})

    assert [fault.code for fault in caught.value.faults] == ["suite-invalid"]
