"""Targets: what people write, from the readers of text up to the rules, templates, expressions and schemas in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any

from hostile import seeds
from hostile.mutation import by_bytes, by_parts, mixed, words
from hostile.table import DECIDED, Target
from pawl.canonical import digest_of
from pawl.changes.compare import compare
from pawl.conformance.evidence import parse_time
from pawl.conformance.suites import read_suite
from pawl.errors import Faulty
from pawl.formats.mcp import import_tools, merge_import, read_tools
from pawl.ids import parse_channel, parse_digest, parse_name, parse_ref, parse_version
from pawl.io import front_matter, strict_json, strict_yaml
from pawl.io.dump import yaml_bytes
from pawl.io.locating import problems_of
from pawl.policy.durations import parse_duration
from pawl.policy.kinds.freeze import next_windows, read_freeze
from pawl.policy.kinds.recurrence import occurrences, parse_recurrence
from pawl.policy.reading import read_source
from pawl.policy.rule_checks import parse_moment
from pawl.procedures.call import check_call
from pawl.procedures.expressions import compile_expression
from pawl.procedures.procedure import Procedure
from pawl.procedures.read import read_procedure
from pawl.procedures.read_faults import specifier_fault, warnings
from pawl.procedures.render import render
from pawl.procedures.schema import compile_schema
from pawl.procedures.schema_check import check_schema
from pawl.procedures.template import TEMPLATES
from pawl.procedures.walk import next_step, walk
from pawl.procedures.workflow import VARIABLES
from pawl.registry.settings import read_settings
from pawl.registry.versions import satisfies

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
LATIN = "abcdefgxyzABZ0123456789.,-+/@:;=<>~*_ \t\n"

_TEMPLATES = [
    *(b"Refund {{ amount }} for {{order_id}}.", b"{{ amount }}{{ amount }}", b"{ { amount } }", b"\\{{ amount }}"),
    *(b"{% for item in items %}{{ item.name }}{% endfor %}", b"{% if amount > 3 %}a{% else %}b{% endif %}"),
    *(b"{{ items | join(', ') }}", b"{{ amount | default('x') }}", b"{{ note.a.b }}", b"{{ items[0] }}", b"{# c #}"),
    *(b"{{ note | tojson }}", b"{{ 'a' ~ amount }}", b"{% set a = amount %}{{ a }}", b"{{ amount is defined }}"),
]
_VALUES: Mapping[str, Any] = {
    "amount": 20,
    "order_id": "A1 {{ amount }} {% raw %}",
    "items": [{"name": "a"}, {"name": "{{ b }}"}, {}],
    "note": {"a": {"b": "\u202e"}, "c": [1, None, 0.5]},
}
_EXPRESSIONS = [
    *(b"result.eligible", b"inputs.amount > 20.0 && !result.a", b"has(inputs.a) ? inputs.a : 'x'", b"size(steps) > 1"),
    *(b"inputs.items.all(i, i.n > 0)", b"inputs.items.exists(i, has(i.tool) && i.tool == 'a')", b"'a' in inputs"),
    *(b"inputs.name.matches('^a+$')", b"[1, 2].map(x, x * 2)", b"{'a': 1}.a", b"timestamp('2026-01-01T00:00:00Z')"),
    *(b"duration('1h') < duration('2h')", b"inputs.list.filter(x, x != null)", b"type(result) == map", b"1 / 0 == 1"),
    *(b"inputs.items.map(x, inputs.items.map(y, x + y))", b"b'a' + b'b'", b"9223372036854775807 + 1", b"string(1.5)"),
]
_GIVEN: Mapping[str, Any] = {
    "inputs": {
        "amount": 20,
        "items": [{"n": 1, "tool": "a"}] * 3,
        "name": "aaa",
        "list": [1, None, "x"],
        "a": {"b": 1},
    },
    "result": {"eligible": True, "a": [1], "n": 0.5},
    "steps": {"eligibility": {"eligible": True}},
}
_SCHEMAS: list[Any] = [
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
    {
        "type": "object",
        "properties": {"l": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 3}},
    },
    {"$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"},
    {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}},
    {"type": "object", "properties": {"s": {"type": "string", "pattern": "^[a-z]{1,8}$", "maxLength": 8}}},
    {"type": "object", "properties": {"e": {"enum": ["a", "b", 1]}, "c": {"const": {"k": [1]}}}},
    {"type": "object", "properties": {"o": {"oneOf": [{"type": "string"}, {"type": "null"}]}}, "minProperties": 1},
    {
        "type": "object",
        "if": {"properties": {"k": {"const": 1}}},
        "then": {"required": ["v"]},
        "properties": {"v": True},
    },
    {
        "type": "object",
        "patternProperties": {"^x-": {"type": "number", "multipleOf": 0.5}},
        "propertyNames": {"maxLength": 9},
    },
    {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"format": "date"}}},
]
_ARGUMENTS: list[Any] = [
    {},
    {"a": "x"},
    {"l": [1, 2]},
    {"next": {"next": {}}},
    {"s": "abc"},
    {"e": 1},
    {"x-1": 0.5},
    [],
]
_WORDS = [
    *("support/refund", "support/refund@1.0.0", "1.0.0rc1", "production", "sha256:" + "0a" * 32, ">=1.2,<2", "~=1.0"),
    *("==1.*", "P30D", "PT24H", "P1DT12H", "2026-12-15", "2026-12-15T09:00:00Z", "2026-12-15T09:00:00.123456+05:30"),
    *("FREQ=DAILY;COUNT=3", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;WKST=SU", "FREQ=MONTHLY;BYDAY=-1FR;UNTIL=20301231"),
    *(
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=MONTHLY;BYMONTHDAY=31;BYSETPOS=-1",
        "12.31.29",
        "1.2.3.*",
        "!=1.0.0",
    ),
]


def _yaml(data: bytes) -> bool:
    document = strict_yaml.load(data)
    assert isinstance(document, dict)
    strict_yaml.locate(data)
    return True


def _two_builders(data: bytes) -> bool:
    """The quick builder says what the strict one says, or nothing at all."""
    document = strict_yaml.load(data)
    text = data.decode("utf-8").replace("\r\n", "\n")
    assert strict_yaml._Builder(text).document() == document
    return True


def _json(data: bytes) -> bool:
    strict_json.load(data)
    return True


def _front_matter(data: bytes) -> bool:
    return front_matter.split(data).document is not None


def _dumped(data: bytes) -> bool:
    """What reads is written again so that it reads as the same."""
    document = strict_yaml.load(data)
    again = strict_yaml.load(yaml_bytes(document))
    assert digest_of(again) == digest_of(document)
    return True


def _document(data: bytes, read: Any) -> Any:
    document = strict_yaml.load(data)
    try:
        return read(document)
    except Faulty as error:
        for problem in problems_of("a.yaml", data, error.faults):
            assert problem.line is None or problem.line >= 1
        raise


def _procedure(data: bytes) -> bool:
    warnings(_document(data, read_procedure))
    return True


def _suite(data: bytes) -> bool:
    return bool(_document(data, read_suite).cases)


def _policy(data: bytes) -> bool:
    return bool(_document(data, read_source).rules)


def _settings(data: bytes) -> bool:
    return bool(_document(data, read_settings).after())


def _template(kind: str, data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    declared = frozenset(_VALUES)
    if TEMPLATES[kind].check(text, declared, frozenset({"amount"})):
        return False
    TEMPLATES[kind].used(text, declared)
    TEMPLATES[kind].warn(text, declared)
    return isinstance(TEMPLATES[kind].render(text, declared, _VALUES), str)


def _expression(data: bytes) -> bool:
    expression = compile_expression(data.decode("utf-8", "replace"), variables=VARIABLES, want="any")
    json.dumps(expression.evaluate(_GIVEN))
    return True


def _schema(data: bytes) -> bool:
    given = json.loads(data)
    if not isinstance(given, list) or len(given) < 2:
        return False
    schema, *values = given
    if check_schema(schema):
        return False
    validator = compile_schema(schema)
    for value in values[:4]:
        assert validator.is_valid(value) == (not validator.faults(value))
    return True


def _as_tool(schema: Any) -> dict[str, Any]:
    spec = {"description": "A tool.", "inputSchema": schema}
    return {"kind": "tool", "name": "a/b", "version": "1.0.0", "summary": "s", "owner": "o", "spec": spec}


def _compared(data: bytes) -> bool:
    given = json.loads(data)
    if not isinstance(given, list) or len(given) < 2:
        return False
    tools = [read_procedure(_as_tool(schema)) for schema in given[:2]]
    found = compare(tools[0].document, tools[1].document)
    back = compare(tools[1].document, tools[0].document)
    assert (found.required == "none") == (back.required == "none")
    for tool in tools:
        check_call(tool, given[2] if len(given) > 2 else {})
    return True


def _used(data: bytes) -> bool:
    """A document that reads is used: rendered, called, walked."""
    given = json.loads(data)
    if not isinstance(given, dict):
        return False
    procedure = read_procedure(given.get("document"))
    inputs, results = given.get("inputs"), given.get("given")
    return _use(procedure, inputs, results)


def _use(procedure: Procedure, inputs: Any, results: Any) -> bool:
    if procedure.kind == "prompt":
        return bool(render(procedure, inputs).messages)
    if procedure.kind == "tool":
        return not check_call(procedure, inputs)
    if isinstance(results, dict):
        walk(procedure.spec, inputs, results)
        next_step(procedure.spec, inputs, list(results.items()))
    return True


def _tools(data: bytes) -> bool:
    tools = read_tools(strict_json.load(data, max_bytes=10**6))
    imported = import_tools(tools, prefix="crm", version="1.0.0", owner="sales")
    assert imported.found == len(tools)
    for document in imported.documents:
        merged = merge_import(None, document)
        read_procedure(strict_yaml.load(yaml_bytes(merged.document)))
        merge_import(document, document)
    return bool(imported.documents)


def _word(data: bytes) -> bool:
    """Every reader of a word takes it or says why not; at least one that takes it counts as taken."""
    text = data.decode("utf-8", "replace")
    return sum(_taken(read, text) for read in _READERS) > 0


def _taken(read: Any, text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _specifier(text: str) -> None:
    if wrong := specifier_fault(text):
        raise ValueError(wrong)
    satisfies(parse_version("1.2.3"), text)


def _recurrence(text: str) -> None:
    rule = parse_recurrence(text)
    for _ in islice(occurrences(rule, datetime(2026, 1, 31, 9), date(2026, 1, 1), date(2030, 1, 1)), 50):  # noqa: DTZ001
        pass


_READERS = (
    *(parse_name, parse_ref, parse_version, parse_channel, parse_digest, parse_duration, parse_moment, parse_time),
    *(_specifier, _recurrence),
)
_FREEZES: list[Any] = [
    {"start": "2026-12-20T00:00", "duration": "P14D", "time_zone": "Europe/Berlin", "reason": "a holiday"},
    {"start": "2026-03-29T02:30", "duration": "PT24H", "time_zone": "America/New_York", "reason": "r"}
    | {"recurrence": "FREQ=WEEKLY;BYDAY=FR", "actions": ["promote"], "except": {"names": ["support/*"]}},
]


def _freeze(data: bytes) -> bool:
    freeze, faults = read_freeze(json.loads(data))
    assert (freeze is None) == bool(faults)
    if freeze is None:
        return False
    next_windows(freeze, NOW, 3)
    return True


def _uses() -> Iterator[dict[str, Any]]:
    inputs = {"order_id": "A1", "amount": 20}
    given = {"eligibility": {"eligible": True}, "order": {"id": "A1", "total": 20}, "draft": {"text": "t"}}
    for document in seeds.documents(seeds.procedures()):
        yield {"document": document, "inputs": inputs, "given": given}


def targets() -> Iterator[Target]:
    """Yield the targets of this module."""
    texts = seeds.all_yaml()
    documents = seeds.documents(texts)
    yaml = mixed(by_bytes(texts), by_bytes(texts), by_parts(documents))
    as_json = [json.dumps(document).encode() for document in documents]
    matter = [
        b"---\nname: a\n---\nbody\n",
        b"no front matter\n",
        *(b"---\n" + text + b"\n---\nb\n" for text in texts[:40]),
    ]
    tools = seeds.files("tests/formats/tools/*.json")
    lists = [json.loads(data) for data in tools]
    pairs = [[one, other, value] for one in _SCHEMAS for other in _SCHEMAS for value in _ARGUMENTS[:2]]

    def sources(name: str, given: tuple[bytes, ...], call: Any, share: float) -> Target:
        make = mixed(by_bytes(given), by_parts(seeds.documents(given)), by_parts(seeds.documents(given)))
        return Target(name=name, make=make, call=call, share=share)

    yield Target(name="yaml", make=yaml, call=_yaml, share=60)
    yield Target(name="yaml-again", make=yaml, call=_dumped, share=10)
    yield Target(name="yaml-builders", make=yaml, call=_two_builders, share=30)
    yield Target(name="json", make=mixed(by_bytes(as_json), by_parts(documents)), call=_json, share=200)
    yield Target(name="front-matter", make=by_bytes(matter), call=_front_matter, share=60)
    yield sources("procedure", seeds.procedures(), _procedure, 30)
    yield sources("suite", seeds.suites(), _suite, 30)
    yield sources("policy", seeds.policies(), _policy, 20)
    yield sources("settings", seeds.settings(), _settings, 40)
    for kind, share in (("simple", 60), ("jinja2", 20)):
        make = by_bytes(_TEMPLATES)
        call = lambda data, kind=kind: _template(kind, data)  # noqa: E731 - one for each kind
        yield Target(name=f"template-{kind}", make=make, call=call, promised=DECIDED, share=share)
    yield Target(name="expression", make=by_bytes(_EXPRESSIONS), call=_expression, promised=DECIDED, share=40)
    yield Target(name="schema", make=by_parts([[s, *_ARGUMENTS] for s in _SCHEMAS]), call=_schema, share=20)
    yield Target(name="compared", make=by_parts(pairs), call=_compared, share=10)
    yield Target(name="used", make=by_parts(list(_uses())), call=_used, share=20)
    yield Target(name="mcp", make=mixed(by_bytes(tools), by_parts(lists)), call=_tools, share=3)
    yield Target(name="words", make=words(_WORDS, LATIN), call=_word, promised=DECIDED, share=200)
    yield Target(name="freeze", make=by_parts(_FREEZES), call=_freeze, share=30)
