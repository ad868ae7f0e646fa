"""Documents that hypothesis makes up from the words of each format, good and bad: taken, or refused with faults."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile.mutation import VALUES
from hostile.written import targets
from pawl.conformance.suites import read_suite
from pawl.errors import Faulty
from pawl.formats.mcp import import_tools, read_tools
from pawl.io import strict_json, strict_yaml
from pawl.io.dump import yaml_bytes
from pawl.io.text import LocatedFault, Unreadable
from pawl.policy.reading import read_source
from pawl.procedures.read import read_procedure
from pawl.procedures.read_faults import warnings
from pawl.registry.settings import read_settings

WORDS = (
    *("kind", "name", "version", "summary", "owner", "labels", "requires", "changes", "extensions", "spec", "inputs"),
    *("messages", "role", "content", "template", "output", "model", "budget", "tokens", "max_steps", "description"),
    *("inputSchema", "outputSchema", "annotations", "effects", "binding", "python", "mcp", "http", "command", "steps"),
    *("id", "tool", "prompt", "workflow", "with", "then", "switch", "when", "end", "outcome", "type", "properties"),
    *("required", "items", "$ref", "$defs", "enum", "const", "anyOf", "not", "suite", "about", "versions", "cases"),
    *("assert", "value", "threshold", "given", "answer", "call", "policy", "rules", "class", "level", "applies"),
    *("kinds", "names", "channels", "require", "message", "tests", "expect", "procedure", "evidence", "approvals"),
    *("count", "roles", "soak", "channel", "at_least", "freeze", "effective_on", "format", "branch", "after", "people"),
)
leaves = st.sampled_from(VALUES) | st.text(max_size=12) | st.integers() | st.floats(allow_nan=False) | st.booleans()
documents = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=25,
)
heads = {
    "prompt": {"kind": "prompt", "name": "a/b", "version": "1.0.0", "summary": "s", "owner": "o"},
    "tool": {"kind": "tool", "name": "a/b", "version": "1.0.0", "summary": "s", "owner": "o"},
    "workflow": {"kind": "workflow", "name": "a/b", "version": "1.0.0", "summary": "s", "owner": "o"},
}


def answered(read: Any, document: Any) -> None:
    """A value, or at least one fault with words."""
    faults = None
    try:
        read(document)
    except Faulty as error:
        faults = error.faults
    assert faults is None or (faults and all(fault.code and fault.message for fault in faults))


@given(kind=st.sampled_from(sorted(heads)), spec=st.dictionaries(st.sampled_from(WORDS), documents, max_size=6))
def test_procedures(kind: str, spec: dict[str, Any]) -> None:
    answered(lambda document: warnings(read_procedure(document)), {**heads[kind], "spec": spec})


@pytest.mark.parametrize(
    "read", [read_procedure, read_suite, read_source, read_settings], ids=lambda read: read.__name__
)
@given(document=documents)
def test_any_document(read: Any, document: Any) -> None:
    answered(read, document)


@given(tools=st.lists(documents, max_size=4))
def test_lists_of_tools(tools: list[Any]) -> None:
    def read(value: Any) -> None:
        import_tools(read_tools(value), prefix=None, version="1.0.0", owner=None)

    answered(read, tools)


@given(document=st.dictionaries(st.text(max_size=8), documents, max_size=5))
def test_what_is_written_reads_the_same(document: dict[str, Any]) -> None:
    """What JSON and YAML can hold comes back through either; nothing else is written without a word."""
    try:
        text = json.dumps(document, allow_nan=False).encode()
        value = strict_json.load(text)
        again = strict_yaml.load(yaml_bytes(value))
    except (ValueError, Unreadable):
        return
    assert again == value


@given(data=st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    for read in (strict_yaml.load, strict_json.load):
        faults: tuple[LocatedFault, ...] = ()
        try:
            read(data)
        except Unreadable as error:
            faults = error.faults
        assert all(fault.line >= 1 and fault.column >= 1 for fault in faults)


def test_the_table_of_targets_has_every_reader() -> None:
    assert {"yaml", "json", "procedure", "suite", "policy", "settings", "mcp"} <= {target.name for target in targets()}
