"""``lint`` in registry.yaml: strict, with a reason for everything that is ignored, and what ignores do to problems."""

from __future__ import annotations

from typing import Any

import pytest

from pawl.errors import Faulty
from pawl.lint.codes import ALWAYS, CODES, IGNORABLE
from pawl.lint.ignores import apply_ignores
from pawl.lint.profiles import PROFILES
from pawl.lint.settings import Ignore, LintSettings
from pawl.problems import Place, Problem
from pawl.registry.settings import read_settings
from pawl.registry.settings_shape import json_schema

WHY = "Hosts of ours take it."


def read(lint: Any) -> LintSettings:
    return read_settings({"format": 1, "channels": {"production": {}}, "lint": lint}).lint


def ignore(**fields: Any) -> dict[str, Any]:
    return {"ignores": [{"code": "schema-open-object", "reason": WHY, **fields}]}


def test_settings_are_read() -> None:
    lint = {"profiles": ["openai", "mcp"], "prefixes": ["mcp__shop__"], **ignore(files="procedures/support/*.yaml")}
    wanted = Ignore(code="schema-open-object", files="procedures/support/*.yaml", reason=WHY)
    assert read(lint) == LintSettings(profiles=("openai", "mcp"), prefixes=("mcp__shop__",), ignores=(wanted,))


def test_without_settings_portable_alone_runs() -> None:
    assert read_settings({"format": 1, "channels": {"production": {}}}).lint == LintSettings()


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_can_be_listed(profile: str) -> None:
    assert read({"profiles": [profile]}).profiles == (profile,)


BAD: list[tuple[Any, str, Place]] = [
    ([], "settings-field-invalid", ("lint",)),
    ({"profile": ["openai"]}, "settings-field-unknown", ("lint", "profile")),
    ({"profiles": "openai"}, "settings-field-invalid", ("lint", "profiles")),
    ({"profiles": ["azure"]}, "settings-field-invalid", ("lint", "profiles", 0)),
    ({"prefixes": [""]}, "settings-field-invalid", ("lint", "prefixes", 0)),
    ({"prefixes": ["a b"]}, "settings-field-invalid", ("lint", "prefixes", 0)),
    ({"prefixes": ["x" * 121]}, "settings-field-invalid", ("lint", "prefixes", 0)),
    ({"ignores": [{"code": "schema-open-object"}]}, "settings-field-missing", ("lint", "ignores", 0)),
    (ignore(reason=""), "settings-field-invalid", ("lint", "ignores", 0, "reason")),
    (ignore(reason=" \n\t"), "settings-field-invalid", ("lint", "ignores", 0, "reason")),
    (ignore(reason="x" * 501), "settings-field-invalid", ("lint", "ignores", 0, "reason")),
    (ignore(file="procedures/a.yaml"), "settings-field-unknown", ("lint", "ignores", 0, "file")),
    *((ignore(files=glob), "settings-field-invalid", ("lint", "ignores", 0, "files")) for glob in ("", "/a", "../a")),
    *(
        (ignore(files=glob), "settings-field-invalid", ("lint", "ignores", 0, "files"))
        for glob in ("a/**", "a?", "[a]")
    ),
    (ignore(code="schema-open-objects"), "lint-code-unknown", ("lint", "ignores", 0, "code")),
    (ignore(code=""), "lint-code-unknown", ("lint", "ignores", 0, "code")),
]


@pytest.mark.parametrize(("lint", "code", "at"), BAD, ids=str)
def test_what_is_not_meant_is_refused(lint: Any, code: str, at: Place) -> None:
    with pytest.raises(Faulty) as caught:
        read(lint)
    assert [(fault.code, fault.at) for fault in caught.value.faults] == [(code, at)]


def test_an_unknown_profile_is_refused_with_the_list() -> None:
    with pytest.raises(Faulty) as caught:
        read({"profiles": ["azure"]})
    assert all(profile in caught.value.faults[0].message for profile in PROFILES)


def test_a_misspelt_code_has_a_hint() -> None:
    with pytest.raises(Faulty) as caught:
        read(ignore(code="schema-open-objects"))
    assert caught.value.faults[0].hint == "did you mean schema-open-object?"


@pytest.mark.parametrize("code", sorted(CODES))
def test_only_findings_of_lint_can_be_ignored(code: str) -> None:
    if code in IGNORABLE:
        assert read(ignore(code=code)).ignores[0].code == code
        return
    with pytest.raises(Faulty) as caught:
        read(ignore(code=code))
    assert [fault.code for fault in caught.value.faults] == ["lint-ignore-refused"]


def test_what_is_always_an_error_is_none_of_what_can_be_ignored() -> None:
    errors = {
        "schema-invalid",
        "schema-root-type",
        "schema-ref-remote",
        "schema-ref-dangling",
        "schema-keyword-unknown",
    }
    errors |= {"schema-property-not-schema", "schema-required-unknown", "tool-name-clash", "tool-description-empty"}
    errors |= {"duplicate-key", "rule-failed", "version-reused", "case-failed", "prompt-input-unguarded", *ALWAYS}
    assert errors & IGNORABLE == set()
    assert errors <= set(CODES)


def test_all_faults_are_told_at_once() -> None:
    lint = {"ignores": [{"code": "x", "reason": WHY}, {"code": "schema-invalid", "reason": WHY}]}
    with pytest.raises(Faulty) as caught:
        read(lint)
    assert [fault.code for fault in caught.value.faults] == ["lint-code-unknown", "lint-ignore-refused"]


def test_editors_are_told_of_it() -> None:
    schema = json_schema()
    lint = schema["$defs"]["LintDocument"]["properties"]
    assert lint["profiles"]["items"]["enum"] == list(PROFILES)
    assert set(schema["$defs"]["IgnoreDocument"]["required"]) == {"code", "reason"}


def problem(code: str = "schema-open-object", path: str | None = "procedures/support/a.yaml") -> Problem:
    return Problem(code=code, message="m", severity="warning", path=path)


HERE = Ignore(code="schema-open-object", files="procedures/support/*", reason=WHY)
EVERYWHERE = Ignore(code="schema-open-object", reason=WHY)
CASES = [
    ([problem()], [HERE], 0, []),
    ([problem()], [EVERYWHERE], 0, []),
    ([problem()], [HERE, EVERYWHERE], 0, []),
    ([problem()], [], 1, []),
    ([problem(path="procedures/orders/a.yaml")], [HERE], 1, [0]),
    ([problem(path="procedures/support/deep/a.yaml")], [HERE], 0, []),
    ([problem(path=None)], [HERE], 1, [0]),
    ([problem(path=None)], [EVERYWHERE], 0, []),
    ([problem(code="schema-depth")], [HERE], 1, [0]),
    ([problem(), problem(code="schema-depth")], [HERE], 1, []),
    ([], [HERE, EVERYWHERE], 0, [0, 1]),
]


@pytest.mark.parametrize(("problems", "ignores", "kept", "unused"), CASES)
def test_ignores(problems: list[Problem], ignores: list[Ignore], kept: int, unused: list[int]) -> None:
    applied = apply_ignores(problems, ignores)
    assert len(applied.kept) == kept
    assert len(applied.kept) + len(applied.ignored) == len(problems)
    assert [fault.at for fault in applied.unused] == [("lint", "ignores", index) for index in unused]
    assert {(fault.code, fault.severity) for fault in applied.unused} <= {("lint-ignore-unused", "warning")}


def test_an_ignored_problem_keeps_its_reason() -> None:
    kept, ignored, unused = apply_ignores([problem()], [HERE, EVERYWHERE])
    assert (kept, unused) == ((), ())
    assert [(each.problem, each.ignore) for each in ignored] == [(problem(), HERE)]


def test_errors_of_a_listed_profile_can_be_ignored_and_others_cannot() -> None:
    """Also by settings that nobody judged."""
    error = Problem(code="schema-open-object", message="m", path="a")
    always = Problem(code="tool-name-clash", message="m", path="a")
    ignores = [EVERYWHERE, Ignore(code="tool-name-clash", reason=WHY)]
    assert apply_ignores([error, always], ignores).kept == (always,)
