"""Calls of tools: arguments, results, exported names and effective hints."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from pawl.problems import Place
from pawl.procedures.call import check_call, check_result, effective_hints, exported_name
from pawl.procedures.read import read_procedure
from procedures.make import GONE, TOOL, changed

CALLS: list[tuple[Any, list[tuple[str, Place]]]] = [
    ({"order_id": "A1"}, []),
    (MappingProxyType({"order_id": "A1", "lines": [1, 2.0]}), []),
    ({}, [("call-invalid", ())]),
    ({"order_id": 1}, [("call-invalid", ("order_id",))]),
    ({"order_id": "A1", "x": 1}, [("call-invalid", ("x",))]),
    ({"order_id": "A1", "lines": [1, "x", None]}, [("call-invalid", ("lines", 1)), ("call-invalid", ("lines", 2))]),
    ({"order_id": float("nan")}, [("call-invalid", ("order_id",))]),
    ({"order_id": "A1", 3: 4}, [("call-invalid", ())]),
    ([], [("call-invalid", ())]),
    (None, [("call-invalid", ())]),
    ("order_id", [("call-invalid", ())]),
]


@pytest.mark.parametrize(("arguments", "expected"), CALLS)
def test_arguments(arguments: Any, expected: list[tuple[str, Place]]) -> None:
    assert [(fault.code, fault.at) for fault in check_call(read_procedure(changed(TOOL)), arguments)] == expected


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"eligible": True}, []),
        ({"eligible": True, "more": 1}, []),
        ({"eligible": "yes"}, [("result-invalid", ("eligible",))]),
        ({}, [("result-invalid", ())]),
        (None, [("result-invalid", ())]),
        (object(), [("result-invalid", ())]),
    ],
)
def test_results(result: Any, expected: list[tuple[str, Place]]) -> None:
    assert [(fault.code, fault.at) for fault in check_result(read_procedure(changed(TOOL)), result)] == expected


def test_without_an_output_schema_any_result_will_do() -> None:
    tool = read_procedure(changed(TOOL, (("spec", "outputSchema"), GONE)))
    assert check_result(tool, None) == ()


def test_exported_names() -> None:
    assert exported_name(read_procedure(changed(TOOL))) == "check-eligibility"
    assert exported_name(read_procedure(changed(TOOL, (("spec", "name"), "checkIt")))) == "checkIt"


@pytest.mark.parametrize(
    ("annotations", "changes"),
    [
        (GONE, {}),
        ({}, {}),
        ({"readOnlyHint": True}, {"readOnlyHint": True}),
        ({"destructiveHint": False, "title": "x"}, {"destructiveHint": False}),
        ({"idempotentHint": True, "openWorldHint": False}, {"idempotentHint": True, "openWorldHint": False}),
    ],
)
def test_absent_hints_have_the_defaults_of_mcp(annotations: Any, changes: dict[str, bool]) -> None:
    tool = read_procedure(changed(TOOL, (("spec", "annotations"), annotations)))
    defaults = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
    assert effective_hints(tool.spec.get("annotations")) == {**defaults, **changes}
