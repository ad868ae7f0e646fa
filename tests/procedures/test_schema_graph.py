"""A schema as a graph: what holds of those without references, which are the most."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pawl.procedures.schema_graph import Graph
from pawl.procedures.schema_tree import walk_schema

LEAVES = st.booleans() | st.just({"type": "string"})


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several, named = st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    lists = dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), several)
    maps = dict.fromkeys(("properties", "patternProperties", "$defs", "dependentSchemas"), named)
    ones = dict.fromkeys(("items", "not", "if", "then", "additionalProperties", "propertyNames", "contains"), inner)
    return st.fixed_dictionaries({}, optional={**lists, **maps, **ones})


@given(st.recursive(LEAVES, larger, max_leaves=12).filter(lambda schema: isinstance(schema, dict)))
def test_without_references_there_is_no_circle_and_each_part_is_applied_once_at_most(schema: dict[str, Any]) -> None:
    graph = Graph(schema, walk_schema(schema))
    assert not graph.refers
    assert graph.circle() is None
    assert graph.work() <= len(graph.nodes)


def test_a_reference_anywhere_is_seen() -> None:
    schema = {"properties": {"a": {"items": {"$ref": "#"}}}}
    assert Graph(schema, walk_schema(schema)).refers
