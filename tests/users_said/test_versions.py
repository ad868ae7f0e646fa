"""What users of other systems said about versions and publishing."""

from __future__ import annotations

import json
import threading

import pytest

from pawl.io.files import replace
from releases.commands import EVERY
from support import FIRST, Shop, in_process, in_subprocess

EXTRA = """kind: prompt
name: support/extra
version: {version}
owner: payments
summary: One more.
changes: {text}
spec: {{messages: [{{role: user, content: {text}}}]}}
"""


@pytest.mark.parametrize("many", [2, pytest.param(50 if EVERY else 15, id="many", marks=pytest.mark.slow)])
def test_langfuse_15923_publishing_one_version_at_once(live: Shop, many: int) -> None:
    """All see equal content at first; then the content is exchanged under them."""
    path = live.root / "procedures/support/extra.yaml"
    path.write_text(EXTRA.format(version="1.0.0", text="one"), encoding="utf-8")
    words = ("-C", str(live.root), "publish", "-o", "json")
    codes: list[int] = []

    def publish() -> None:
        codes.append(in_subprocess(*words).code)

    def at_once() -> None:
        threads = [threading.Thread(target=publish) for _ in range(many)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            if version == "2.0.0":
                for text in ("one", "two"):
                    replace(path, EXTRA.format(version=version, text=text).encode())
            threads[0].join(0.01)
        for thread in threads:
            thread.join()

    version = "1.0.0"
    at_once()
    assert set(codes) == {0}
    codes.clear()
    version = "2.0.0"
    at_once()
    assert set(codes) <= {0, 1, 5}
    assert 0 in codes
    folder = live.root / "registry/versions/support/extra"
    assert sorted(file.name for file in folder.iterdir()) == ["1.0.0.yaml", "2.0.0.yaml"]
    records = sorted(file.name for file in (live.root / "releases/registry").iterdir())
    assert records == [f"{serial:06}.json" for serial in range(1, 5)]
    live.pawl("verify")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("budget: {tokens: 400}", "budget: {tokens: 401}"),
        ("labels: {domain: refunds", "labels: {domain: returns"),
        ("Draft a refund", "Draft one refund"),
        ("owner: payments", "owner: risk"),
        ("  budget:", "  model: {name: other}\n  budget:"),
        ("      amount: {type: number}", "      amount: {type: integer}"),
    ],
)
def test_mlflow_21489_any_changed_value_under_a_published_version(live: Shop, old: str, new: str) -> None:
    live.edit("procedures/support/refund-draft.yaml", (old, new))
    before = live.files()
    assert "version-reused" in live.codes(live.pawl("check", code=1))
    assert live.codes(live.pawl("publish", code=1)) == ["version-reused"]
    assert before == live.files()


def test_mlflow_21489_no_command_edits_a_version(live: Shop) -> None:
    before = live.files("registry/versions")
    live.release_second()
    live.rollback("support/refund")
    live.pawl("bump", "support/refund", "--part", "major")
    live.pawl("yank", FIRST[0], "--reason", "bad")
    live.pawl("revoke", FIRST[1], "--reason", "bad")
    live.pawl("remove", "support/refund", "--channel", "production", "--reason", "gone")
    after = live.files("registry/versions")
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize(
    "version",
    ["1.0.0+a", "1!1.0.0", "1.0.0.post1", "1.0", "v1.0.0", "1.0.0.dev1", "01.0.0", "1.0.0-rc1", "latest", "*"],
)
def test_helm_8739_other_spellings_are_refused(live: Shop, version: str) -> None:
    live.pawl("show", f"support/refund@{version}", code=2)
    live.pawl("promote", f"support/refund@{version}", "--to", "staging", "--reason", "r", code=2)
    live.write("procedures/support/extra.yaml", EXTRA.format(version=json.dumps(version), text="one"))
    assert live.codes(live.pawl("check", code=1)) == ["version-invalid"]


def test_helm_8739_a_ref_is_never_its_neighbour(live: Shop) -> None:
    missing = live.pawl("promote", "support/refund@1.0.1", "--to", "staging", "--reason", "r", code=1)
    assert live.codes(missing) == ["version-unknown"]
    assert "1.0.0" in missing["problems"][0]["message"]


def test_helm_8739_a_pre_release_is_pinned_by_its_exact_version_only(live: Shop) -> None:
    path = "procedures/support/refund-draft.yaml"
    live.edit(path, ("version: 1.0.0", "version: 1.1.0rc1"), ("tokens: 400", "tokens: 410"))
    live.second()
    live.pawl("publish")
    words = ("promote", "support/refund@2.0.0", "--to", "staging", "--reason", "r", "--with-requirements")
    live.pawl(*words)
    assert live.version("support/refund-draft", "staging") == "1.0.0"
    live.promote("support/refund-draft@1.1.0rc1", to="staging")
    assert live.version("support/refund-draft", "staging") == "1.1.0rc1"


def test_argo_cd_3082_a_changed_frozen_byte_is_6_for_everybody(moved: Shop) -> None:
    digest = moved.pawl("show", FIRST[0])["file"]
    path = moved.root / "registry/versions/support/refund/1.0.0.yaml"
    path.write_bytes(path.read_bytes().replace(b"First", b"Worst"))
    found = (
        moved.pawl("verify", code=6),
        moved.pawl("promote", *FIRST, "--to", "staging", "--reason", "r", code=6),
        moved.rollback("support/refund", "--to", "1.0.0", code=6),
        moved.pawl("render", FIRST[0], code=6),
    )
    for answer in found:
        text = str(answer["problems"])
        assert digest in text
        assert text.count("sha256:") >= 2
    assert moved.pawl("history", "production")["records"][0]["moves"][0]["to"] == "1.0.0"
    live_path = moved.root / "registry/versions/support/refund/2.0.0.yaml"
    live_path.write_bytes(live_path.read_bytes() + b"# more\n")
    moved.pawl("resolve", "support/refund", "--channel", "production", code=6)


def test_langfuse_14879_publishing_reaches_no_channel(live: Shop) -> None:
    live.second()
    before = live.files("releases/staging", "releases/production", "registry/channels")
    live.pawl("publish")
    live.pawl("bump", "support/refund", "--to", "3.0.0")
    live.pawl("publish", "support/refund")
    assert before == live.files("releases/staging", "releases/production", "registry/channels")
    text = in_process("publish", "--help").out
    assert "--to" not in text
    assert "--channel" not in text


def test_apollographql_federation_2754_a_backport_moves_nothing(live: Shop) -> None:
    for version in ("1.9.0", "1.8.1"):
        live.write("procedures/support/extra.yaml", EXTRA.format(version=version, text="one"))
        live.write(
            "conformance/extra.yaml",
            "suite: extra\nabout: support/extra\n"
            "cases: [{id: one, inputs: {}, assert: [{type: equals, value: one}]}]\n",
        )
        live.pawl("publish")
        if version == "1.9.0":
            live.everywhere("support/extra@1.9.0")
    assert live.version("support/extra") == "1.9.0"
    for words in (
        ("promote", "support/extra", "--to", "staging", "--reason", "r"),
        ("yank", "support/extra", "--reason", "r"),
        ("reject", "support/extra", "--channel", "staging", "--reason", "r"),
        ("runs", "affected", "support/extra"),
        ("show", "support/extra@latest"),
        ("render", "support/extra"),
    ):
        assert in_process("-C", str(live.root), *words, "-o", "json").code == 2, words


def test_latitude_dev_latitude_llm_1304_every_blocking_file_in_one_run(live: Shop) -> None:
    live.write("procedures/support/a.yaml", "kind: nothing\n")
    live.write("procedures/support/b.yaml", "a: [\n")
    live.edit("procedures/support/refund.yaml", ("First version.", "Changed."))
    for words in (("check",), ("publish",), ("publish", "support/refund-draft")):
        answer = live.pawl(*words, code=1)
        paths = {problem["path"] for problem in answer["problems"] if problem["severity"] == "error"}
        wanted = {"procedures/support/a.yaml", "procedures/support/b.yaml", "procedures/support/refund.yaml"}
        assert wanted - paths <= ({"procedures/support/refund.yaml"} if len(words) > 1 else set())
