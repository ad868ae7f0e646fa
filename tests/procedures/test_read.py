"""Reading procedures: what is refused, with which code and where; and that nothing else ever comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.canonical import digest_of
from pawl.errors import Faulty
from pawl.problems import Place
from pawl.procedures.read import read_procedure
from pawl.procedures.read_faults import references, specifier_fault, warnings
from procedures.make import DOCUMENTS, GONE, PROMPT, TOOL, WORKFLOW, changed, faults_of

S = "spec"
CASES: list[tuple[str, dict[str, Any], str, Place, bool]] = [
    # what is tested, document, code, place, on the key
    ("no version", changed(PROMPT, (("version",), GONE)), "procedure-field-missing", (), False),
    ("number as version", changed(PROMPT, (("version",), 1.1)), "version-invalid", ("version",), False),
    ("short version", changed(PROMPT, (("version",), "1.10")), "version-invalid", ("version",), False),
    ("v before version", changed(PROMPT, (("version",), "v1.0.0")), "version-invalid", ("version",), False),
    ("leading zero", changed(PROMPT, (("version",), "1.01.0")), "version-invalid", ("version",), False),
    ("local version", changed(PROMPT, (("version",), "1.0.0+a")), "version-invalid", ("version",), False),
    ("epoch", changed(PROMPT, (("version",), "1!1.0.0")), "version-invalid", ("version",), False),
    ("post release", changed(PROMPT, (("version",), "1.0.0.post1")), "version-invalid", ("version",), False),
    ("capital in name", changed(PROMPT, (("name",), "Support/x")), "name-invalid", ("name",), False),
    ("dots in name", changed(PROMPT, (("name",), "../x")), "name-invalid", ("name",), False),
    ("long name", changed(PROMPT, (("name",), "a" * 129)), "name-invalid", ("name",), False),
    ("list as name", changed(PROMPT, (("name",), ["a"])), "name-invalid", ("name",), False),
    ("unknown kind", changed(PROMPT, (("kind",), "agent")), "kind-unknown", ("kind",), False),
    ("list as kind", changed(PROMPT, (("kind",), [])), "kind-unknown", ("kind",), False),
    ("no kind", changed(PROMPT, (("kind",), GONE)), "procedure-field-missing", (), False),
    ("unknown field", changed(PROMPT, (("onwer",), "a")), "procedure-field-unknown", ("onwer",), True),
    ("unknown deep", changed(PROMPT, ((S, "mesages"), 1)), "procedure-field-unknown", (S, "mesages"), True),
    (
        "unknown in a list",
        changed(PROMPT, ((S, "messages", 1, "name"), "x")),
        "procedure-field-unknown",
        (S, "messages", 1, "name"),
        True,
    ),
    ("null", changed(PROMPT, (("owner",), None)), "procedure-field-invalid", ("owner",), False),
    ("null deep", changed(PROMPT, ((S, "budget"), None)), "procedure-field-invalid", (S, "budget"), False),
    ("empty owner", changed(PROMPT, (("owner",), "")), "procedure-field-invalid", ("owner",), False),
    ("label", changed(PROMPT, (("labels", "risk"), 3)), "procedure-field-invalid", ("labels", "risk"), False),
    ("odd key", changed(PROMPT, (("labels", "[key]"), 3)), "procedure-field-invalid", ("labels", "[key]"), False),
    ("no messages", changed(PROMPT, ((S, "messages"), [])), "procedure-field-invalid", (S, "messages"), False),
    (
        "role",
        changed(PROMPT, ((S, "messages", 0, "role"), "tool")),
        "procedure-field-invalid",
        (S, "messages", 0, "role"),
        False,
    ),
    (
        "budget",
        changed(PROMPT, ((S, "budget", "tokens"), 0)),
        "procedure-field-invalid",
        (S, "budget", "tokens"),
        False,
    ),
    (
        "float budget",
        changed(PROMPT, ((S, "budget", "tokens"), 1.5)),
        "procedure-field-invalid",
        (S, "budget", "tokens"),
        False,
    ),
    (
        "true as budget",
        changed(PROMPT, ((S, "budget", "tokens"), True)),
        "procedure-field-invalid",
        (S, "budget", "tokens"),
        False,
    ),
    ("template", changed(PROMPT, ((S, "template"), "erb")), "procedure-field-invalid", (S, "template"), False),
    ("inputs", changed(PROMPT, ((S, "inputs"), [1])), "procedure-field-invalid", (S, "inputs"), False),
    ("input type", changed(PROMPT, ((S, "inputs", "type"), "array")), "schema-root-type", (S, "inputs", "type"), False),
    (
        "default",
        changed(PROMPT, ((S, "inputs", "properties", "amount", "default"), "much")),
        "schema-default-invalid",
        (S, "inputs", "properties", "amount", "default"),
        False,
    ),
    (
        "unguarded",
        changed(PROMPT, ((S, "inputs", "required"), ["amount"])),
        "prompt-input-unguarded",
        (S, "messages", 1, "content"),
        False,
    ),
    (
        "jinja2",
        changed(PROMPT, ((S, "template"), "jinja2"), ((S, "messages", 0, "content"), "{% include 'a' %}")),
        "template-forbidden",
        (S, "messages", 0, "content"),
        False,
    ),
    (
        "specifier",
        changed(WORKFLOW, (("requires", "support/refund-draft"), "latest")),
        "requires-invalid",
        ("requires", "support/refund-draft"),
        False,
    ),
    ("required name", changed(WORKFLOW, (("requires", "A"), ">=1")), "requires-invalid", ("requires", "A"), True),
    (
        "itself",
        changed(WORKFLOW, (("requires", "support/refund"), ">=1")),
        "requirement-cycle",
        ("requires", "support/refund"),
        True,
    ),
    (
        "not required",
        changed(WORKFLOW, (("requires",), {"support/refund-draft": ">=1"})),
        "requires-missing",
        (S, "steps", 0, "tool"),
        False,
    ),
    (
        "step id",
        changed(WORKFLOW, ((S, "steps", 0, "id"), "-a")),
        "procedure-field-invalid",
        (S, "steps", 0, "id"),
        False,
    ),
    (
        "max steps",
        changed(WORKFLOW, ((S, "budget", "max_steps"), 0)),
        "procedure-field-invalid",
        (S, "budget", "max_steps"),
        False,
    ),
    (
        "dangling target",
        changed(WORKFLOW, ((S, "steps", 1, "then"), "x")),
        "workflow-target",
        (S, "steps", 1, "then"),
        False,
    ),
    ("root type", changed(TOOL, ((S, "inputSchema", "type"), GONE)), "schema-root-type", (S, "inputSchema"), False),
    ("description", changed(TOOL, ((S, "description"), " ")), "tool-description-empty", (S, "description"), False),
    ("no input schema", changed(TOOL, ((S, "inputSchema"), GONE)), "procedure-field-missing", (S,), False),
    (
        "hint",
        changed(TOOL, ((S, "annotations", "readOnlyHint"), "yes")),
        "procedure-field-invalid",
        (S, "annotations", "readOnlyHint"),
        False,
    ),
    (
        "python",
        changed(TOOL, ((S, "binding", "python"), "pkg.mod")),
        "procedure-field-invalid",
        (S, "binding", "python"),
        False,
    ),
    (
        "python newline",
        changed(TOOL, ((S, "binding", "python"), "a:b\n")),
        "procedure-field-invalid",
        (S, "binding", "python"),
        False,
    ),
    (
        "two bindings",
        changed(TOOL, ((S, "binding", "http"), {"url": "https://a.invalid"})),
        "binding-invalid",
        (S, "binding"),
        False,
    ),
    ("no binding", changed(TOOL, ((S, "binding"), {})), "binding-invalid", (S, "binding"), False),
    (
        "url",
        changed(TOOL, ((S, "binding"), {"http": {"url": "file:///etc/passwd"}})),
        "procedure-field-invalid",
        (S, "binding", "http", "url"),
        False,
    ),
    ("effect twice", changed(TOOL, ((S, "effects"), ["a", "a"])), "effect-invalid", (S, "effects", 1), False),
    ("exported name", changed(TOOL, ((S, "name"), "a b")), "procedure-field-invalid", (S, "name"), False),
    (
        "output",
        changed(TOOL, ((S, "outputSchema", "typ"), 1)),
        "schema-keyword-unknown",
        (S, "outputSchema", "typ"),
        True,
    ),
]
JARGON = ("input should", "pydantic", "valid dict", "extra inputs", "nonetype", "traceback", "must be of type", "str ")


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_the_documents_of_the_design_read(kind: str) -> None:
    procedure = read_procedure(changed(DOCUMENTS[kind]))
    assert (procedure.kind, procedure.document) == (kind, DOCUMENTS[kind])
    assert procedure.digest == digest_of(DOCUMENTS[kind])
    assert warnings(procedure) == ()


@pytest.mark.parametrize(("document", "code", "at", "on_key"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_one_fault_with_its_place(document: dict[str, Any], code: str, at: Place, on_key: bool) -> None:
    assert [(fault.code, fault.at, fault.on_key) for fault in faults_of(document)] == [(code, at, on_key)]


def test_all_faults_come_at_once() -> None:
    document = changed(
        TOOL,
        (("version",), 1.1),
        (("onwer",), "x"),
        ((S, "inputSchema", "properties", "lines", "typ"), "array"),
        ((S, "outputSchema", "required"), ["eligible", "reason"]),
        ((S, "description"), ""),
        ((S, "effects"), "orders:read"),
        ((S, "annotations", "readonly"), True),
    )
    assert {(fault.code, fault.at[-1]) for fault in faults_of(document)} == {
        ("version-invalid", "version"),
        ("procedure-field-unknown", "onwer"),
        ("procedure-field-unknown", "readonly"),
        ("procedure-field-invalid", "effects"),
        ("schema-keyword-unknown", "typ"),
        ("schema-required-unknown", 1),
        ("tool-description-empty", "description"),
    }


def test_shape_and_graph_of_a_workflow_at_once() -> None:
    document = changed(WORKFLOW, ((S, "bugdet"), {}), ((S, "steps", 0, "switch", 0, "then"), "nowhere"))
    assert {fault.code for fault in faults_of(document)} == {"procedure-field-unknown", "workflow-target"}


@pytest.mark.parametrize(
    ("document", "message", "hint"),
    [
        (changed(PROMPT, (("onwer",), "a")), "unknown field onwer", "did you mean owner?"),
        (changed(TOOL, ((S, "inputschema"), {})), "unknown field inputschema", "did you mean inputSchema?"),
        (
            changed(TOOL, ((S, "annotations", "zzz"), True)),
            "unknown field zzz",
            "known here: title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint",
        ),
        (changed(WORKFLOW, ((S, "steps", 0, "wiht"), {})), "unknown field wiht", "did you mean with?"),
        (changed(PROMPT, (("summary",), ["a"])), "summary: expected a text, found a list", None),
        (changed(PROMPT, ((S, "budget"), "much")), "spec.budget: expected a mapping, found the text 'much'", None),
        (changed(PROMPT, ((S, "messages"), {})), "spec.messages: expected a list, found a mapping", None),
        (changed(PROMPT, ((S, "messages"), [])), "spec.messages: must not be empty", None),
        (changed(PROMPT, ((S,), GONE)), "spec is missing", None),
        (changed(PROMPT, ((S, "budget"), {})), "tokens is missing in spec.budget", None),
        (
            changed(PROMPT, ((S, "budget", "tokens"), 0)),
            "spec.budget.tokens: must be at least 1, found the number 0",
            None,
        ),
        (
            changed(PROMPT, ((S, "messages", 0, "role"), "tool")),
            "spec.messages.0.role: expected 'system', 'user' or 'assistant', found the text 'tool'",
            None,
        ),
        (
            changed(PROMPT, (("version",), 1.1)),
            "version: expected a text, found the number 1.1",
            "a version has three numbers, such as 1.10.0",
        ),
        (
            changed(TOOL, ((S, "binding"), {"http": {"url": "ftp://a"}})),
            "spec.binding.http.url: expected an address that begins with http:// or https://, found the text 'ftp://a'",
            None,
        ),
        (
            changed(WORKFLOW, (("requires",), {"support/refund-draft": ">=1"})),
            "support/check-eligibility is used here and not required",
            'add it under requires, such as support/check-eligibility: ">=1,<2"',
        ),
    ],
)
def test_sentences_for_people(document: dict[str, Any], message: str, hint: str | None) -> None:
    assert [(fault.message, fault.hint) for fault in faults_of(document)] == [(message, hint)]


@pytest.mark.parametrize("document", [None, [], [PROMPT], "kind: prompt", 3, True, 1.5])
def test_what_is_no_mapping(document: Any) -> None:
    assert [fault.code for fault in faults_of(document)] == ["procedure-field-invalid"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["string", "#", "a"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "required",
                    "$ref",
                    "items",
                    "anyOf",
                    "$id",
                    "then",
                    "when",
                    "default",
                    "a",
                    "$schema",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def places(document: Any, at: Place = ()) -> list[Place]:
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [place for key, item in items for place in ((*at, key), *places(item, (*at, key)))]


def put(document: Any, at: Place, value: Any) -> None:
    """Put a value at a place, if an earlier one has not taken the way there."""
    last: Any = at[-1]
    for part in at[:-1]:
        try:
            document = document[part]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(document, dict) or (isinstance(document, list) and isinstance(last, int) and last < len(document)):
        document[last] = value


@given(JSON)
def test_any_json_reads_or_is_faulty(document: Any) -> None:
    assert all(fault.severity == "error" and fault.message for fault in faults_of(document))


@given(st.sampled_from(list(DOCUMENTS)), st.data())
def test_any_value_anywhere_reads_or_is_faulty(kind: str, data: st.DataObject) -> None:
    places_of = places(DOCUMENTS[kind])
    document = changed(DOCUMENTS[kind])
    for at in data.draw(st.lists(st.sampled_from(places_of), min_size=1, max_size=3, unique=True)):
        put(document, at, data.draw(JSON))
    for fault in faults_of(document):
        assert not [word for word in JARGON if word in fault.message.lower()], fault.message


@given(st.sampled_from(list(DOCUMENTS)), st.data())
def test_a_field_more_is_always_refused_by_name(kind: str, data: st.DataObject) -> None:
    """What a digest covers is all that is read: no unknown field is dropped."""
    places_of = [(), *(at for at in places(DOCUMENTS[kind]) if at in OWN)]
    at = data.draw(st.sampled_from(places_of))
    document = changed(DOCUMENTS[kind], ((*at, "nobody-knows"), data.draw(JSON)))
    assert ("procedure-field-unknown", (*at, "nobody-knows"), True) in [
        (fault.code, fault.at, fault.on_key) for fault in faults_of(document)
    ]


OWN: set[Place] = {
    (S,),
    (S, "budget"),
    (S, "messages", 0),
    (S, "annotations"),
    (S, "binding"),
    (S, "steps", 0),
    (S, "steps", 0, "switch", 0),
    (S, "steps", 2, "end"),
}


@pytest.mark.parametrize("text", [">=1", ">=1.2,<2", "==1.0.0", "==1.*", "~=1.2", "!=1.3.0,>=1", ">=1.0.0rc1", "<2a1"])
def test_specifiers(text: str) -> None:
    assert specifier_fault(text) is None


@pytest.mark.parametrize(
    "text",
    ["", " ", "latest", "1.0.0", "^1", "===1.0.0", ">=1!1", ">=1.0.0+a", ">=1.0.0.post1", ">=1.dev1", ">=1.2.3.4", "*"],
)
def test_specifiers_that_no_version_can_meet(text: str) -> None:
    assert specifier_fault(text)


def test_references_and_unused_requirements() -> None:
    document = changed(WORKFLOW, (("requires", "support/other"), ">=1"), (("owner",), GONE))
    procedure = read_procedure(document)
    assert references(document) == ("support/check-eligibility", "support/refund-draft")
    assert [(fault.code, fault.at) for fault in warnings(procedure)] == [
        ("owner-missing", ()),
        ("requires-unused", ("requires", "support/other")),
    ]


@pytest.mark.parametrize(
    "document", [{}, {"kind": 3}, {"kind": "workflow"}, {"kind": "workflow", "spec": {"steps": 3}}]
)
def test_references_take_any_document(document: dict[str, Any]) -> None:
    assert references(document) == ()


def test_warnings_of_prompts_and_tools() -> None:
    prompt = changed(
        PROMPT,
        ((S, "messages", 0, "content"), "{{ ammount }} {{ a.b }}"),
        ((S, "messages", 1, "content"), "{{ amount }}"),
        ((S, "messages", 1, "role"), "system"),
        ((S, "messages", 0, "role"), "user"),
    )
    found = [(fault.code, fault.at, fault.severity) for fault in warnings(read_procedure(prompt))]
    assert found == [
        ("prompt-placeholder-unknown", (S, "messages", 0, "content"), "warning"),
        ("prompt-role-order", (S, "messages", 1, "role"), "warning"),
        ("prompt-input-unused", (S, "inputs", "properties", "order_id"), "warning"),
    ]
    tool = changed(TOOL, ((S, "inputSchema", "anyOf"), [{"required": ["order_id"]}]))
    assert [fault.code for fault in warnings(read_procedure(tool))] == ["schema-root-composition"]


def test_key_order_does_not_change_the_digest() -> None:
    turned = json.loads(json.dumps(DOCUMENTS["tool"], sort_keys=True))
    assert read_procedure(turned) == read_procedure(changed(TOOL))


def test_what_has_no_canonical_form_is_faulty() -> None:
    with pytest.raises(Faulty):
        read_procedure(changed(PROMPT, (("extensions",), {"x": 2**60})))
