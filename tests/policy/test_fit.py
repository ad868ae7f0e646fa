"""The fit of a caller to what it calls, on every action: judged where it is new, told where it is old."""

from __future__ import annotations

from typing import Any

import pytest

from changes.make import end, tool, workflow
from pawl.ids import Channel, Name
from pawl.policy.checks.fit import MAX_TOLD, fit_findings
from pawl.policy.verdict import Action, Finding
from pawl.registry.channels import ChannelState, Pin
from registry.make import Line, pin

TEXT = {"type": "string"}
NAMES = (Name("w"), Name("t"))


def takes(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def caller(version: str, *arguments: str) -> tuple[Pin, dict[str, Any]]:
    """Return a workflow that gives these arguments to the tool t."""
    given = {name: f"${{{{ inputs.{name} }}}}" for name in arguments}
    step = {"id": "one", "tool": "t", "with": given, "then": "done"}
    document = workflow(step, end("done"), inputs=takes(**dict.fromkeys(arguments, TEXT)))
    return pin("w", version, t=">=1,<2"), {**document, "name": "w", "version": version}


def callee(version: str, **properties: Any) -> tuple[Pin, dict[str, Any]]:
    document = tool(inputSchema=takes(**properties))
    return pin("t", version), {**document, "name": "t", "version": version}


W1, W2 = caller("1.0.0", "a"), caller("2.0.0", "a", "b")
T1, T2 = callee("1.0.0", a=TEXT), callee("1.1.0", a=TEXT, b=TEXT)
T3 = callee("1.2.0", a={"type": "string", "minLength": 1})
ALL = (W1, W2, T1, T2, T3)
DOCUMENTS = {member.digest: document for member, document in ALL}


def findings(action: Action, state: ChannelState, *moves: tuple[Pin, dict[str, Any]]) -> list[Finding]:
    pins = {**state.pins, **{member.name: member for member, _ in moves}}
    names = [name for name in NAMES if name in pins]
    return list(fit_findings(names, pins, action=action, state=state, documents=DOCUMENTS))


def said(action: Action, state: ChannelState, *moves: tuple[Pin, dict[str, Any]]) -> list[tuple[str, str]]:
    return [(finding.status, finding.code) for finding in findings(action, state, *moves)]


def line(*moves: tuple[Pin, ...]) -> ChannelState:
    found = Line(Channel("staging"))
    for members in moves:
        found.pinned(*members)
    return found.state


OLD = line((W1[0], T1[0]))
BAD = line((W1[0], T1[0]), (T2[0],))
"""Live and not fitting, from before this was looked at."""
LEFT = line((W1[0], T1[0]), (T2[0],), (T1[0],))
DOUBTED = line((W1[0], T3[0]), (T1[0],))
NEVER = line((W1[0], T1[0]), (W2[0], T2[0]), (T1[0],), (W1[0],))
"""All four were live; w@2.0.0 and t@1.0.0 too, but never w@1.0.0 and t@1.1.0."""
PASSED, MISSING, TOO_MANY = [("passed", "calls-fit")], [("failed", "call-incomplete")], [("failed", "call-misfit")]
CASES: list[tuple[str, Action, ChannelState, tuple[Any, ...], list[tuple[str, str]]]] = [
    ("first release", "promote", line(), (W1, T1), PASSED),
    ("a tool that wants more", "promote", OLD, (T2,), MISSING),
    ("a workflow that gives more", "promote", OLD, (W2,), TOO_MANY),
    ("both together", "promote", OLD, (W2, T2), PASSED),
    ("a tool that may refuse", "promote", OLD, (T3,), [("warning", "call-doubtful")]),
    ("what is pinned together is not judged", "promote", BAD, (), []),
    ("leaving it", "promote", BAD, (T1,), PASSED),
    ("leaving it for a doubt", "promote", BAD, (T3,), [("warning", "call-doubtful")]),
    ("back to what was live together", "rollback", LEFT, (T2,), [("warning", "call-incomplete")]),
    ("forward to it is refused", "promote", LEFT, (T2,), MISSING),
    ("back to what was in doubt already", "rollback", DOUBTED, (T3,), PASSED),
    ("back to what never was", "rollback", NEVER, (T2,), MISSING),
    ("back to what was, the other way", "rollback", NEVER, (W2,), [("warning", "call-misfit")]),
    ("the audit warns", "audit", BAD, (), [("warning", "call-incomplete")]),
    ("the audit passes", "audit", OLD, (), PASSED),
    ("the audit leaves doubts", "audit", line((W1[0], T3[0])), (), PASSED),
    ("serving does not ask", "resolve", BAD, (), []),
    ("taking off does not ask", "remove", BAD, (), []),
    ("a tool alone calls nothing", "promote", line(), (T1,), []),
    ("what is not pinned is told elsewhere", "promote", line(), (W1,), []),
]


@pytest.mark.parametrize(
    ("action", "state", "moves", "wanted"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_fit(action: Action, state: ChannelState, moves: tuple[Any, ...], wanted: list[tuple[str, str]]) -> None:
    assert said(action, state, *moves) == wanted


def test_a_refusal_names_caller_step_and_callee_and_the_way_on() -> None:
    (finding,) = findings("promote", OLD, T2)
    assert finding.exit_code == 3
    assert (finding.check, finding.subject) == ("fit", "w@1.0.0")
    assert finding.message == ("w@1.0.0: the step one gives t@1.1.0 no b, which it requires: the call is refused")
    assert finding.hint is not None
    assert "versions of w and t together" in finding.hint
    assert "--with-requirements" in finding.hint


def test_documents_that_are_not_known_are_passed_over() -> None:
    pins = {**OLD.pins, Name("t"): T2[0]}
    for missing in (W1[0], T2[0]):
        known = {digest: document for digest, document in DOCUMENTS.items() if digest != missing.digest}
        assert list(fit_findings(NAMES, pins, action="promote", state=OLD, documents=known)) == []


def test_many_findings_are_told_of_in_few() -> None:
    many = callee("1.3.0", a=TEXT)
    extra = {f"x{number}": "${{ inputs.a }}" for number in range(60)}
    step = {"id": "one", "tool": "t", "with": {"a": "${{ inputs.a }}", **extra}, "then": "done"}
    document = {**workflow(step, end("done"), inputs=takes(a=TEXT)), "name": "w"}
    pins = {Name("w"): W1[0], Name("t"): many[0]}
    documents = {W1[0].digest: document, many[0].digest: many[1]}
    found = list(fit_findings(NAMES, pins, action="promote", state=line(), documents=documents))
    assert len(found) == MAX_TOLD
    assert found[-1].message.endswith("(and 40 more)")
