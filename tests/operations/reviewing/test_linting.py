"""Lint, calls that do not fit, and explanations, through check and publish."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from pawl.lint.codes import CODES
from pawl.operations.session import checked_reason
from support import Shop, in_process, story

SETTINGS = "registry/registry.yaml"
DRAFT = "procedures/support/refund-draft.yaml"
REFUND = "procedures/support/refund.yaml"
TOOL = """\
kind: tool
name: shop/{name}
version: 1.0.0
summary: Finds.
owner: shop
spec:
  name: {exported}
  description: Finds articles.
  inputSchema:
    type: object
    properties: {{word: {{type: string, description: A word., default: shoe}}}}
    additionalProperties: false
  effects: []
"""
USER = """\
kind: workflow
name: shop/use
version: 1.0.0
summary: Uses.
owner: shop
requires: {shop/one: ">=1,<2", shop/two: ">=1,<2"}
spec:
  inputs: {type: object, properties: {word: {type: string}}, required: [word]}
  steps:
    - {id: first, tool: shop/one, with: {word: "${{ inputs.word }}"}, then: second}
    - {id: second, tool: shop/two, with: {}, then: done}
    - {id: done, end: {outcome: done}}
  budget: {max_steps: 4}
"""
SECRET = "AKIA" + "Z7XQ2LMNP4KJHG3T"


def settings(shop: Shop, lint: str) -> None:
    shop.write(SETTINGS, f"{story('registry.yaml')}lint:\n{lint}")


def tools(shop: Shop, second: str = "two") -> None:
    shop.write("procedures/shop/one.yaml", TOOL.format(name="one", exported="One"))
    shop.write("procedures/shop/two.yaml", TOOL.format(name="two", exported=second))
    shop.write("procedures/shop/use.yaml", USER)


def test_a_listed_profile_makes_errors(plain_shop: Shop) -> None:
    path = "procedures/shop/find.yaml"
    plain_shop.write(path, TOOL.format(name="find", exported="find").replace("A word.", "A word." * 200))
    plain_shop.write(path, plain_shop.read(path).replace("Finds articles.", "Finds articles. " * 80))
    assert "tool-description-long" in plain_shop.codes(plain_shop.pawl("check"), "warning")
    settings(plain_shop, "  profiles: [openai]\n")
    answer = plain_shop.pawl("check", code=1)
    (problem,) = [item for item in answer["problems"] if item["severity"] == "error"]
    assert ("tool-description-long", path) == (problem["code"], problem["path"])
    assert plain_shop.codes(plain_shop.pawl("publish", code=1)) == ["tool-description-long"]
    settings(
        plain_shop,
        "  profiles: [openai]\n"
        '  ignores: [{code: tool-description-long, files: "procedures/shop/*", reason: "Our host."}]\n',
    )
    answer = plain_shop.pawl("check")
    assert answer["ignored"] == [{"code": "tool-description-long", "path": path, "reason": "Our host."}]
    plain_shop.pawl("publish")


@pytest.mark.parametrize(
    ("lint", "code"),
    [
        ("  profiles: [opnai]\n", "settings-field-invalid"),
        ("  ignores: [{code: schema-depth}]\n", "settings-field-missing"),
        ('  ignores: [{code: schema-depth, reason: " "}]\n', "settings-field-invalid"),
        ("  ignores: [{code: schema-deepth, reason: typo}]\n", "lint-code-unknown"),
        ("  ignores: [{code: schema-invalid, reason: no}]\n", "lint-ignore-refused"),
        ("  ignores: [{code: bump-too-small, reason: no}]\n", "lint-ignore-refused"),
        ("  ignores: [{code: rule-failed, reason: no}]\n", "lint-ignore-refused"),
        ("  ignore: []\n", "settings-field-unknown"),
    ],
)
def test_settings_that_cannot_be_meant(plain_shop: Shop, lint: str, code: str) -> None:
    settings(plain_shop, lint)
    assert code in plain_shop.codes(plain_shop.pawl("check", code=1))


def test_an_ignore_that_nothing_needs_is_named(plain_shop: Shop) -> None:
    settings(plain_shop, "  ignores: [{code: schema-depth, reason: once}]\n")
    (problem,) = [item for item in plain_shop.pawl("check")["problems"] if item["code"] == "lint-ignore-unused"]
    assert (problem["severity"], problem["path"], problem["line"]) == (
        "warning",
        SETTINGS,
        plain_shop.read(SETTINGS).count("\n"),
    )


def test_a_secret_is_not_published_and_not_printed(plain_shop: Shop) -> None:
    plain_shop.edit(DRAFT, ("You draft refunds", f"The key is {SECRET}. You draft refunds"))
    for words in (("check",), ("publish",)):
        ended = in_process("-C", str(plain_shop.root), *words)
        assert ended.code == 1
        assert "prompt-secret" in ended.out
        assert SECRET not in ended.out + ended.err


SUITE = "conformance/refund-draft.yaml"


@pytest.mark.parametrize(
    ("path", "where"),
    [(SUITE, "support/refund-draft"), ("conformance/strange.yaml", "shop/unknown")],
    ids=["about what is here", "about what is not"],
)
def test_a_secret_in_a_suite_is_named_and_not_printed(plain_shop: Shop, path: str, where: str) -> None:
    case = f'{{id: one, inputs: {{order_id: A1}}, assert: [{{type: contains, value: "{SECRET}"}}]}}'
    plain_shop.write(path, f'suite: made\nabout: {where}\nversions: ">=9.0.0"\ncases:\n  - {case}\n')
    ended = in_process("-C", str(plain_shop.root), "check", "-o", "json")
    found = [problem for problem in json.loads(ended.out)["problems"] if problem["code"] == "prompt-secret"]
    assert [problem["path"] for problem in found] == [path], ended.out
    assert SECRET not in ended.out
    settings(plain_shop, f"  ignores: [{{code: prompt-secret, files: {path}, reason: made up}}]\n")
    ended = in_process("-C", str(plain_shop.root), "check", "-o", "json")
    assert "prompt-secret" not in [problem["code"] for problem in json.loads(ended.out)["problems"]]


@pytest.mark.parametrize("reason", [f"rotate {SECRET}", f"line\nthe key {SECRET}", 'db_password = "tR7-kq92vLx4"'])
def test_a_reason_holds_no_secret(plain_shop: Shop, reason: str) -> None:
    answer = plain_shop.pawl("remove", "a/b", "--channel", "staging", "--reason", reason, code=2)
    assert plain_shop.codes(answer) == ["reason-secret"]
    assert not (plain_shop.root / "releases").exists()


@pytest.mark.parametrize("reason", ["rotate the password", "key: see ticket OPS-12", "token={{ token }} is gone"])
def test_a_reason_may_speak_of_secrets(reason: str) -> None:
    assert checked_reason(reason) == reason


def test_tools_of_one_name_in_one_closure(plain_shop: Shop) -> None:
    tools(plain_shop, second="ONE")
    answer = plain_shop.pawl("check", code=1)
    assert plain_shop.codes(answer) == ["tool-name-clash", "tool-name-clash"]
    assert {item["path"] for item in answer["problems"] if item["severity"] == "error"} == {
        "procedures/shop/one.yaml",
        "procedures/shop/two.yaml",
    }


def test_messages_that_are_blank_once_rendered(plain_shop: Shop) -> None:
    plain_shop.write(
        "procedures/shop/ask.yaml",
        "kind: prompt\nname: shop/ask\nversion: 1.0.0\nsummary: Asks.\nowner: shop\nspec:\n"
        "  inputs: {type: object, properties: {text: {type: string}}, required: [text]}\n"
        '  messages: [{role: user, content: "{{ text }}"}]\n',
    )
    suite = "suite: ask\nabout: shop/ask\ncases:\n  - {id: one, inputs: {text: %s}, assert: [{type: accepted}]}\n"
    plain_shop.write("conformance/ask.yaml", suite % "hello")
    assert "prompt-blank-part" not in str(plain_shop.pawl("check")["problems"])
    plain_shop.write("conformance/ask.yaml", suite % '" "')
    answer = plain_shop.pawl("check", code=1)
    (problem,) = [item for item in answer["problems"] if item["code"] == "prompt-blank-part"]
    assert ("procedures/shop/ask.yaml", True) == (problem["path"], "suite ask, case one" in problem["message"])


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ('with: {word: "${{ inputs.word }}"}', "with: {word: 5}", "call-misfit", 10),
        ('with: {word: "${{ inputs.word }}"}', "with: {wrod: shoe}", "call-misfit", 10),
        ("tool: shop/two", "prompt: shop/two", "call-wrong-kind", 11),
    ],
)
def test_calls_that_do_not_fit_are_errors_of_the_workflow(
    plain_shop: Shop, old: str, new: str, code: str, line: int
) -> None:
    tools(plain_shop)
    assert plain_shop.codes(plain_shop.pawl("check")) == []
    plain_shop.edit("procedures/shop/use.yaml", (old, new))
    (problem,) = [item for item in plain_shop.pawl("check", code=1)["problems"] if item["severity"] == "error"]
    assert (code, "procedures/shop/use.yaml", line) == (problem["code"], problem["path"], problem["line"])


def test_an_argument_that_became_required_shows_at_its_callers(plain_shop: Shop) -> None:
    tools(plain_shop)
    plain_shop.edit(
        "procedures/shop/two.yaml", ("additionalProperties: false", "required: [word]\n    additionalProperties: false")
    )
    (problem,) = [item for item in plain_shop.pawl("check", code=1)["problems"] if item["severity"] == "error"]
    assert ("call-incomplete", "procedures/shop/use.yaml") == (problem["code"], problem["path"])


def test_a_published_version_is_called_where_the_work_tree_is_out_of_range(plain_shop: Shop) -> None:
    plain_shop.adopt()
    tools(plain_shop)
    plain_shop.pawl("publish")
    plain_shop.edit(
        "procedures/shop/two.yaml",
        ("version: 1.0.0", "version: 2.0.0"),
        ("additionalProperties: false", "required: [word]\n    additionalProperties: false"),
    )
    assert plain_shop.codes(plain_shop.pawl("check")) == []  # the workflow still takes 1.0.0
    plain_shop.edit("procedures/shop/use.yaml", ('shop/two: ">=1,<2"', 'shop/two: ">=1"'))
    plain_shop.edit("procedures/shop/use.yaml", ("version: 1.0.0", "version: 1.1.0"))
    assert plain_shop.codes(plain_shop.pawl("check", code=1)) == ["call-incomplete"]


def test_a_scripted_result_that_no_tool_gives_is_a_fault_of_the_suite(plain_shop: Shop) -> None:
    plain_shop.second()
    plain_shop.edit("conformance/refund.yaml", ("{eligible: true}", "{eligible: true, reason: 5}"))
    answer = plain_shop.pawl("check", code=1)
    assert "case-errored" in plain_shop.codes(answer)
    assert "case-errored" in plain_shop.codes(plain_shop.pawl("test", "refund", code=1))


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_explains_itself(code: str) -> None:
    ended = in_process("check", "--explain", code)
    assert ended.code == 0
    assert ended.out.startswith(f"{code}: ")


@pytest.mark.parametrize("written", ["SCHEMA-OPEN-OBJECT", "Schema-Open-Object", " schema-open-object "])
def test_a_code_is_explained_however_it_is_written(written: str) -> None:
    assert in_process("check", "--explain", written).out.startswith("schema-open-object: ")


def test_an_unknown_code_is_no_explanation() -> None:
    ended = in_process("check", "--explain", "bump-to-small", "-o", "json")
    answer = json.loads(ended.out)
    assert (1, "code-unknown") == (ended.code, answer["problems"][0]["code"])
    assert "bump-too-small" in answer["problems"][0]["hint"]
    for words in (("-o", "json", "--explain", "schema-depth"), ("--explain", "schema-depth", "-o", "json")):
        assert json.loads(in_process("check", *words).out)["explanation"]["code"] == "schema-depth"


@pytest.fixture
def tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that counts words is installed."""
    module = ModuleType("rs_bpe.bpe")
    module.openai = SimpleNamespace(o200k_base=lambda: SimpleNamespace(count=lambda text: len(text.split())))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "rs_bpe", ModuleType("rs_bpe"))
    monkeypatch.setitem(sys.modules, "rs_bpe.bpe", module)
    monkeypatch.setattr("importlib.metadata.version", lambda _: "9.9")


def asking(shop: Shop, budget: int) -> None:
    """A prompt whose text is short in bytes and long in words, and a suite that renders it."""
    shop.write(
        "procedures/shop/ask.yaml",
        "kind: prompt\nname: shop/ask\nversion: 1.0.0\nsummary: Asks.\nowner: shop\nspec:\n"
        "  inputs: {type: object, properties: {text: {type: string}}, required: [text]}\n"
        f'  messages: [{{role: user, content: "a b c d {{{{ text }}}}"}}]\n  budget: {{tokens: {budget}}}\n',
    )
    shop.write(
        "conformance/ask.yaml",
        "suite: ask\nabout: shop/ask\ncases: [{id: long, inputs: {text: a b c d e f}, assert: [{type: accepted}]}]\n",
    )


@pytest.mark.usefixtures("tokenizer")
def test_budgets_hold_by_the_exact_count_too_where_registry_yaml_says_so(plain_shop: Shop) -> None:
    asking(plain_shop, 9)  # seven by the estimate, ten by the words
    plain_shop.pawl("check")
    settings(plain_shop, "  encoding: o200k_base\n")
    answer = plain_shop.pawl("check", code=1)
    (problem,) = [item for item in answer["problems"] if item["severity"] == "error"]
    assert (problem["code"], problem["path"], problem["line"]) == ("prompt-budget", "procedures/shop/ask.yaml", 9)
    assert "10 tokens (counted with o200k_base), and the budget is 9 (suite ask, case long)" in problem["message"]
    asking(plain_shop, 3)
    for words in (("check",), ("publish",)):
        assert "prompt-budget" in plain_shop.codes(plain_shop.pawl(*words, code=1))
    asking(plain_shop, 10)
    plain_shop.pawl("check")


def test_what_nobody_counted_fits_no_budget(plain_shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rs_bpe", None)
    monkeypatch.setitem(sys.modules, "rs_bpe.bpe", None)
    settings(plain_shop, "  encoding: cl100k_base\n")
    before = plain_shop.files()
    for words in (("check",), ("publish",)):
        answer = plain_shop.pawl(*words, code=1)
        (problem,) = [item for item in answer["problems"] if item["severity"] == "error"]
        assert (problem["code"], problem["path"]) == ("tokens-uncounted", SETTINGS)
        assert "pawl-release[tokens]" in problem["hint"]
    assert before == plain_shop.files()
    settings(plain_shop, "  encoding: gpt2\n")
    assert "settings-field-invalid" in plain_shop.codes(plain_shop.pawl("check", code=1))
