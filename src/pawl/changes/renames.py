"""Steps of a workflow that only go by another id.

A step that is gone and one that is new are the same step if nothing but the id differs, what speaks of renamed steps
aside, and no other step could be meant. The id is a contract, so a rename is a change; no guard is lost by it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pawl.changes.graphs import Graph
from pawl.changes.values import key_of_value

_READ = re.compile(r"""(\bsteps\s*(?:\.\s*|\[\s*["']))([A-Za-z0-9_-]+)""")
"""Where an expression reads a step."""
_NEW_NAMES = Callable[[str], str]


def renames(old: Graph, new: Graph) -> dict[str, str]:
    """Return old id -> new id of every step that was only renamed."""
    gone, come = old.steps.keys() - new.steps.keys(), new.steps.keys() - old.steps.keys()
    if not gone or not come:
        return {}
    befores, afters = (
        _by_shape((graph.steps[name] for name in names), names) for graph, names in ((old, gone), (new, come))
    )
    found = {
        before[0]: afters[shape][0]
        for shape, before in befores.items()
        if len(before) == 1 and len(afters.get(shape, ())) == 1
    }
    while wrong := [name for name, other in found.items() if not _same(old.steps[name], new.steps[other], found)]:
        for name in wrong:
            del found[name]
    return found


def renamed(spec: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a workflow's spec with steps that go by their new ids; expressions stay as they are."""
    return {**spec, "steps": [_with_targets(step, lambda name: names.get(name, name)) for step in spec["steps"]]}


def _same(old: Mapping[str, Any], new: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    return key_of_value(_with_names(old, lambda name: names.get(name, name))) == key_of_value(dict(new))


def _by_shape(steps: Iterable[Mapping[str, Any]], moved: Iterable[str]) -> dict[str, list[str]]:
    """Return ids by what their steps are, whatever the ``moved`` ones among the ids are."""
    unnamed = frozenset(moved)
    found: dict[str, list[str]] = {}
    for step in steps:
        shape = key_of_value(_with_names(step, lambda name: "" if name in unnamed else name))
        found.setdefault(shape, []).append(step["id"])
    return found


def _with_names(step: Mapping[str, Any], rename: _NEW_NAMES) -> dict[str, Any]:
    """Return a step with every id in it renamed: its own, its targets', and those that expressions read."""
    return {key: _in_texts(value, rename) for key, value in _with_targets(step, rename).items()}


def _with_targets(step: Mapping[str, Any], rename: _NEW_NAMES) -> dict[str, Any]:
    found = {**step, "id": rename(step["id"])}
    if step.get("then") is not None:
        found["then"] = rename(step["then"])
    if step.get("switch") is not None:
        found["switch"] = [{**branch, "then": rename(branch["then"])} for branch in step["switch"]]
    return found


def _in_texts(value: Any, rename: _NEW_NAMES) -> Any:
    if isinstance(value, str):
        return _READ.sub(lambda read: read[1] + rename(read[2]), value)
    if isinstance(value, Mapping):
        return {key: _in_texts(item, rename) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_in_texts(item, rename) for item in value]
    return value
