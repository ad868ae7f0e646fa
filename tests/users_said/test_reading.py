"""What users of other systems said about reading files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pawl
from support import Shop, in_process

COLON = "kind: prompt\nname: support/extra\nversion: 1.0.0\nsummary: Drafts: a refund\nspec: {messages: []}\n"


@pytest.mark.parametrize("place", ["procedures/support/extra.yaml", "conformance/extra.yaml"])
def test_mattpocock_skills_908_a_file_that_does_not_parse_never_vanishes(live: Shop, place: str) -> None:
    live.write(place, COLON)
    answer = live.pawl("check", code=1)
    (error,) = [problem for problem in answer["problems"] if problem["severity"] == "error"]
    assert (place, 4, 16) == (error["path"], error["line"], error["column"])
    named = {problem["path"] for problem in answer["problems"] if problem["severity"] == "error"}
    assert answer["files"] == answer["read"] + len(named)


@pytest.mark.parametrize("more", [(), ("--no-commit",), ("--dry-run",)])
def test_jaredrhod_ai_marketing_skills_3_a_file_that_does_not_parse_is_used_under_no_flag(
    live: Shop, more: tuple[str, ...]
) -> None:
    live.write("procedures/support/extra.yaml", COLON)
    before = live.files()
    live.pawl("publish", *more, code=1)
    live.pawl("publish", "support/extra", *more, code=1)
    live.pawl("publish", "support/refund", *more, code=1)
    live.pawl("test", "support/extra", code=1)
    live.pawl("test", "support/extra", "--no-code", code=1)
    live.pawl("render", "support/extra@1.0.0", code=1)
    live.pawl("resolve", "support/extra", "--channel", "production", code=1)
    assert before == live.files()


def test_yaml_pyyaml_41_nothing_stands_twice(live: Shop) -> None:
    live.edit("procedures/support/refund.yaml", ("owner: payments", "owner: payments\nowner: risk"))
    (problem,) = [row for row in live.pawl("check", code=1)["problems"] if row["code"] == "duplicate-key"]
    assert (problem["line"], "line 5" in problem["message"]) == (6, True)
    live.edit("procedures/support/refund.yaml", ("\nowner: risk", ""), ("name: support/refund", "name: support/other"))
    assert "name-not-path" in live.codes(live.pawl("check", code=1))
    live.edit("procedures/support/refund.yaml", ("name: support/other", "name: support/refund"))
    live.write("conformance/again.yaml", live.read("conformance/refund.yaml"))
    (twice,) = [row for row in live.pawl("check", code=1)["problems"] if row["code"] == "suite-name-twice"]
    assert "conformance/again.yaml and conformance/refund.yaml" in twice["message"]


WORDS = """kind: tool
name: words
version: 1.10.0
owner: payments
summary: Takes words that some readers take for something else.
spec:
  description: Takes a word.
  inputSchema:
    type: object
    properties:
      word:
        enum:
        - no
        - on
        - 22:30
        - 2026-12-15
        - 1.10.0
"""


def test_refgenie_refgenie_104_values_keep_their_types(live: Shop) -> None:
    live.write("procedures/words.yaml", WORDS)
    live.pawl("publish", "words")
    assert [row["version"] for row in live.pawl("show", "words")["versions"]] == ["1.10.0"]
    words = live.pawl("show", "words@1.10.0")["document"]["spec"]["inputSchema"]["properties"]["word"]["enum"]
    assert words == ["no", "on", "22:30", "2026-12-15", "1.10.0"]
    live.write("procedures/words.yaml", WORDS.replace("1.10.0\nowner", "1.10\nowner"))
    assert live.codes(live.pawl("check", code=1)) == ["version-invalid"]
    live.pawl("show", "words@1.1.0", code=1)


def test_prettier_prettier_19764_layout_is_no_change_and_a_line_end_is_one(live: Shop) -> None:
    path = "procedures/support/refund-draft.yaml"
    live.edit(
        path,
        ("kind: prompt\n", "# a prompt\n"),
        ("      order_id: {type: string}", "      order_id:   {'type':   string}   # an order"),
    )
    live.write(path, live.read(path) + "kind: prompt\n")
    assert live.pawl("publish")["status"] == "unchanged"
    assert live.pawl("diff", "support/refund-draft")["changes"] == []
    live.edit(path, ("content: |\n", "content: |+\n"), ('"text": ...}\n', '"text": ...}\n\n'))
    changes = live.pawl("diff", "support/refund-draft")
    assert "messages" in json.dumps(changes["changes"])
    assert live.codes(live.pawl("check", code=1)) == ["version-reused"]


PROMPT = """kind: prompt
name: {name}
version: 1.0.0
owner: payments
spec: {{messages: [{{role: user, content: hello}}]}}
"""
SUITE = """suite: {suite}
about: {name}
cases: [{{id: hello, inputs: {{}}, assert: [{{type: equals, value: hello}}]}}]
"""


@pytest.mark.parametrize("name", ["draft", "a/b", "a/b/c/d-e/f_g/h", "0/1", "versions/1", "runs/show"])
def test_langfuse_7961_names_of_many_segments_go_through_everything(live: Shop, tmp_path: Path, name: str) -> None:
    live.write(f"procedures/{name}.yaml", PROMPT.format(name=name))
    live.write("conformance/deep/named.yaml", SUITE.format(suite="named", name=name))
    ref = f"{name}@1.0.0"
    live.pawl("check")
    live.pawl("publish", name)
    assert (live.root / f"registry/versions/{name}/1.0.0.yaml").exists()
    live.everywhere(ref)
    assert live.version(name) == "1.0.0"
    assert live.pawl("render", name, "--channel", "production")["messages"][0]["content"] == "hello"
    assert live.pawl("render", ref)["name"] == name
    assert name in [row["name"] for row in live.pawl("list")["procedures"]]
    assert live.pawl("show", ref)["pinned_on"] == ["production", "staging"]
    out = tmp_path / "snapshot.json"
    live.pawl("snapshot", "production", "--out", str(out))
    with pawl.open("production", snapshot=out, ledger=live.root / ".pawl/runs.db").run(agent="support") as run:
        assert run.prompt(name)[0]["content"] == "hello"
        run.end("ok")
    assert [row["run_id"] for row in live.pawl("runs", "affected", ref)["used"]] == [run.id]
    assert live.pawl("targets", name, "--channel", "production")["targets"] == []
    live.pawl("verify")


@pytest.mark.parametrize(
    "name", ["a/../b", "a//b", "/a", "a/", "A/b", "a b", "a%2Fb", "", ".", "a/.b", "-a", "ä", "a\\b"]
)
def test_langfuse_7961_other_names_are_refused(live: Shop, name: str) -> None:
    for words in (
        ("show", f"{name}@1.0.0"),
        ("promote", f"{name}@1.0.0", "--to", "staging", "--reason", "r"),
        ("resolve", name, "--channel", "production"),
        ("new", "prompt", name),
    ):
        assert in_process("-C", str(live.root), *words, "-o", "json").code == 2, words
    live.write("procedures/support/extra.yaml", PROMPT.format(name=json.dumps(name)))
    assert set(live.codes(live.pawl("check", code=1))) <= {"name-invalid"}
