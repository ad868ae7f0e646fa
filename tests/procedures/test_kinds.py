"""What every kind brings: a starter that reads, and a JSON Schema that agrees with reading."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pawl.io.strict_yaml import load
from pawl.procedures.kinds import KINDS, starter
from pawl.procedures.models import MODELS, model_schema
from pawl.procedures.read import read_procedure
from pawl.procedures.read_faults import warnings
from procedures.make import DOCUMENTS, changed, faults_of


@pytest.mark.parametrize("kind", KINDS)
def test_starters_read_without_a_warning(kind: str) -> None:
    procedure = read_procedure(load(starter(kind, "team/first-one").encode()))
    assert (procedure.kind, procedure.name, procedure.version) == (kind, "team/first-one", "0.1.0")
    assert warnings(procedure) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_editors_get_a_schema_that_takes_what_reads(kind: str) -> None:
    schema = model_schema(MODELS[kind])
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "$id" not in schema
    assert '"null"' not in str(schema)
    assert validator.is_valid(DOCUMENTS[kind])
    assert validator.is_valid(load(starter(kind, "a").encode()))


VALUES = st.sampled_from([None, True, 0, 1, 1.5, "", "a", "1.0.0", "1.0", "A", [], ["a"], {}, {"a": "b"}, "simple"])


@given(st.sampled_from(list(DOCUMENTS)), st.data())
def test_what_an_editor_refuses_is_refused(kind: str, data: st.DataObject) -> None:
    document: Any = changed(DOCUMENTS[kind])
    here = data.draw(st.sampled_from([document, document["spec"]]))
    here[data.draw(st.sampled_from([*here, "more"]))] = data.draw(VALUES)
    if not Draft202012Validator(model_schema(MODELS[kind])).is_valid(document):
        assert faults_of(document)


@pytest.mark.parametrize(
    ("use", "free_of"),
    [
        (
            "import pawl.procedures.render",
            ["pydantic", "jinja2", "jsonschema", "jsonschema_rs", "packaging", "rfc8785"],
        ),
        ("import pawl.procedures.call", ["pydantic", "jinja2", "jsonschema", "jsonschema_rs", "packaging", "rfc8785"]),
    ],
)
def test_the_way_of_an_agent_loads_nothing_heavy(use: str, free_of: list[str]) -> None:
    program = f"import sys; {use}; print([name for name in {free_of!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
