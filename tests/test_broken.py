"""Broken files through ``pawl check``: each fault is found at its place, and nothing that is written crashes it.

The files in tests/broken/ are named for their fault; each is put in the place of one procedure.
"""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import Shop, in_process

HERE = Path(__file__).parent / "broken"
PLACE = "procedures/broken/it.yaml"
OTHER = """kind: tool
name: broken/other
version: 1.0.0
summary: Another one.
owner: payments
spec: {description: Another one., inputSchema: {type: object}}
"""

FAULTS: list[tuple[str, str, int, int]] = [
    # the syntax
    ("alias", "alias", 4, 9),
    ("anchor", "anchor", 4, 9),
    ("big-integer", "number-too-large", 5, 17),
    ("byte-order-mark", "byte-order-mark", 1, 1),
    ("conflict-markers", "conflict-marker", 4, 1),
    ("duplicate-key", "duplicate-key", 5, 1),
    ("duplicate-key-deep", "duplicate-key", 6, 32),
    ("empty", "empty-document", 1, 1),
    ("list-at-root", "not-a-mapping", 1, 1),
    ("merge-key", "merge-key", 5, 3),
    ("not-a-number", "not-a-number", 5, 24),
    ("not-utf8", "not-utf8", 4, 11),
    ("nul", "control-character", 4, 9),
    ("tab", "tab-indent", 5, 1),
    ("tag", "tag", 4, 8),
    ("two-documents", "several-documents", 7, 1),
    ("unquoted-colon", "unquoted-colon", 4, 16),
    # the shape
    ("bad-role", "procedure-field-invalid", 6, 14),
    ("explicit-null", "procedure-field-invalid", 4, 1),
    ("no-kind", "procedure-field-missing", 1, 1),
    ("no-messages", "procedure-field-invalid", 5, 13),
    ("no-spec", "procedure-field-missing", 1, 1),
    ("null-schema", "procedure-field-invalid", 6, 3),
    ("number-as-owner", "procedure-field-invalid", 4, 8),
    ("unknown-field", "procedure-field-unknown", 4, 1),
    ("unknown-field-deep", "procedure-field-unknown", 6, 32),
    ("unknown-kind", "kind-unknown", 1, 7),
    ("two-bindings", "binding-invalid", 7, 12),
    ("empty-description", "tool-description-empty", 5, 16),
    # names, versions, requirements
    ("name-capitals", "name-invalid", 2, 7),
    ("name-leaves-folder", "name-invalid", 2, 7),
    ("name-not-path", "name-not-path", 2, 7),
    ("unquoted-1.10", "version-invalid", 3, 10),
    ("version-epoch", "version-invalid", 3, 10),
    ("version-local", "version-invalid", 3, 10),
    ("version-post", "version-invalid", 3, 10),
    ("version-short", "version-invalid", 3, 10),
    ("version-with-v", "version-invalid", 3, 10),
    ("missing-requires", "requires-missing", 6, 21),
    ("requires-itself", "requirement-cycle", 4, 12),
    ("requires-no-specifier", "requires-invalid", 4, 26),
    ("requires-nobody", "requirement-unknown", 4, 12),
    # schemas
    ("dangling-ref", "schema-ref-dangling", 6, 54),
    ("file-ref", "schema-ref-remote", 6, 54),
    ("remote-ref", "schema-ref-remote", 6, 54),
    ("schema-look-ahead", "schema-pattern", 6, 57),
    ("schema-nullable", "schema-keyword-unknown", 6, 62),
    ("schema-required-nobody", "schema-required-unknown", 6, 63),
    ("schema-type-as-property", "schema-property-not-schema", 6, 50),
    ("schema-typo", "schema-keyword-unknown", 6, 48),
    ("schema-without-object", "schema-root-type", 6, 16),
    # workflows and templates
    ("bad-expression", "expression-invalid", 7, 45),
    ("unknown-name-in-expression", "expression-unknown-name", 7, 45),
    ("endless-loop", "workflow-loop-unbounded", 6, 3),
    ("no-end", "workflow-no-end", 7, 7),
    ("step-to-nowhere", "workflow-target", 7, 41),
    ("step-twice", "workflow-step-twice", 7, 12),
    ("switch-without-default", "workflow-switch-default", 10, 11),
    ("template-call", "template-forbidden", 7, 29),
    ("template-include", "template-forbidden", 7, 29),
    ("unguarded-input", "prompt-input-unguarded", 7, 29),
]


@pytest.fixture
def bench(plain_shop: Shop) -> Shop:
    """A workspace with one procedure more, beside which the broken ones are put."""
    plain_shop.write("procedures/broken/other.yaml", OTHER)
    return plain_shop


def checked(shop: Shop, data: bytes, place: str = PLACE) -> list[dict[str, Any]]:
    """Put bytes into a file, check, and return the errors of that file; no other file may have any."""
    path = shop.root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    ended = in_process("-C", str(shop.root), "check", "-o", "json")
    answer = json.loads(ended.out)
    errors = [problem for problem in answer["problems"] if problem["severity"] == "error"]
    assert (1 if errors else 0) == ended.code == answer["exit_code"]
    assert {problem.get("path") for problem in errors} <= {place}
    assert answer["files"] == answer["read"] + answer["unread"]
    assert "Traceback" not in ended.out + ended.err
    return errors


@pytest.mark.parametrize(("fault", "code", "line", "column"), FAULTS, ids=[row[0] for row in FAULTS])
def test_a_broken_file_is_named_with_its_place(bench: Shop, fault: str, code: str, line: int, column: int) -> None:
    found = checked(bench, (HERE / f"{fault}.yaml").read_bytes())
    assert [(problem["code"], problem["line"], problem["column"]) for problem in found] == [(code, line, column)]


def test_every_broken_file_has_its_row() -> None:
    assert sorted(path.stem for path in HERE.glob("*.yaml")) == sorted([*(row[0] for row in FAULTS), "crlf"])


def test_carriage_returns_are_read_as_line_ends(bench: Shop) -> None:
    assert checked(bench, (HERE / "crlf.yaml").read_bytes()) == []


def test_a_duplicate_key_names_both_lines(bench: Shop) -> None:
    (found,) = checked(bench, (HERE / "duplicate-key.yaml").read_bytes())
    assert "line 4" in found["message"]
    assert found["line"] == 5


def test_a_version_that_reads_as_a_number_is_shown_as_written(bench: Shop) -> None:
    (found,) = checked(bench, (HERE / "unquoted-1.10.yaml").read_bytes())
    assert "1.10" in found["message"]


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_broken_file_is_used_by_no_command(bench: Shop, step: int) -> None:
    bench.adopt()
    for fault, *_ in FAULTS[::step]:
        bench.write(PLACE, "")
        (bench.root / PLACE).write_bytes((HERE / f"{fault}.yaml").read_bytes())
        assert in_process("-C", str(bench.root), "publish", "-o", "json").code == 1, fault
        assert in_process("-C", str(bench.root), "test", "broken/it", "-o", "json").code == 1, fault
    assert not (bench.root / "registry/versions").exists()


def test_all_faults_of_all_files_come_in_one_run(bench: Shop) -> None:
    for fault, *_ in FAULTS:
        (bench.root / f"procedures/broken/{fault.replace('.', '-')}.yaml").write_bytes(
            (HERE / f"{fault}.yaml").read_bytes()
        )
    answer = bench.pawl("check", code=1)
    named = {problem["path"] for problem in answer["problems"] if problem["severity"] == "error"}
    assert len(named) == len(FAULTS)


# Sizes and depths


def nested(opening: str, closing: str, levels: int) -> bytes:
    start = b"kind: prompt\nname: broken/it\nversion: 1.0.0\nextensions: {a: "
    return start + opening.encode() * levels + b"1" + closing.encode() * levels + b"}\nspec: {messages: []}\n"


@pytest.mark.parametrize("levels", [80, 5_000, 60_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}")])
def test_deep_nesting_is_refused(bench: Shop, opening: str, closing: str, levels: int) -> None:
    found = checked(bench, nested(opening, closing, levels)[:250_000])
    assert [problem["code"] for problem in found] == ["too-deep"]


def test_a_huge_file_is_refused(bench: Shop) -> None:
    found = checked(bench, (HERE / "crlf.yaml").read_bytes() + b"# much\n" * 60_000)
    assert [problem["code"] for problem in found] == ["too-large"]


@pytest.mark.parametrize(
    "text",
    ["{" * 100_000, "- " * 60_000, "a: " * 60_000, "? " * 50_000, "&a " * 10_000, "!" * 200_000, "'" * 100_001, "|\n"],
    ids=["braces", "dashes", "colons", "question marks", "anchors", "exclamation marks", "quotes", "bar"],
)
def test_a_flood_of_one_sign_is_refused(bench: Shop, text: str) -> None:
    assert checked(bench, text.encode()) != []


# Places


@pytest.mark.parametrize("ending", ["yml", "YAML", "json"])
def test_other_endings_are_no_way_to_be_passed_over(bench: Shop, ending: str) -> None:
    (found,) = checked(bench, (HERE / "crlf.yaml").read_bytes(), f"procedures/broken/it.{ending}")
    assert found["code"] == "file-ending"


def test_a_folder_named_like_a_file(bench: Shop) -> None:
    bench.write("procedures/broken/it.yaml/inner.yaml", "kind: prompt\n")
    answer = bench.pawl("check", code=1)
    assert [(problem["code"], problem["path"]) for problem in answer["problems"] if problem["severity"] == "error"] == [
        ("not-a-file", PLACE)
    ]


def test_a_pipe_does_not_hang(bench: Shop) -> None:
    os.mkfifo(bench.root / PLACE)
    assert bench.codes(bench.pawl("check", code=1)) == ["not-a-file"]


@pytest.mark.parametrize("place", [PLACE, "conformance/it.yaml", "registry/policies/it.yaml"])
def test_a_link_that_leads_outside_is_refused(bench: Shop, tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_bytes((HERE / "crlf.yaml").read_bytes())
    (bench.root / place).symlink_to(outside)
    answer = bench.pawl("check", code=1)
    assert ("path-outside", place) in [(problem["code"], problem.get("path")) for problem in answer["problems"]]


@pytest.mark.parametrize("target", ["outside", "it"])
def test_a_linked_folder_is_named(bench: Shop, tmp_path: Path, target: str) -> None:
    """One that leads outside, and one that leads to itself."""
    (tmp_path / "outside").mkdir()
    link = bench.root / "procedures/broken/it"
    link.symlink_to(tmp_path / "outside" if target == "outside" else link)
    answer = bench.pawl("check", code=1)
    assert ("path-outside", "procedures/broken/it") in [(row["code"], row.get("path")) for row in answer["problems"]]


def test_a_file_that_cannot_be_opened_is_named(bench: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def denied(path: Any, *more: Any, **named: Any) -> int:
        if str(path).endswith("it.yaml"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *more, **named)

    monkeypatch.setattr(os, "open", denied)
    (found,) = checked(bench, (HERE / "crlf.yaml").read_bytes())
    assert (found["code"], "Permission denied" in found["message"]) == ("cannot-read", True)


def test_a_registry_yaml_that_does_not_read_is_named(bench: Shop) -> None:
    bench.write("registry/registry.yaml", "format: 1\nformat: 1\nchannels: {}\n")
    (problem,) = bench.pawl("check", code=1)["problems"]
    assert ("duplicate-key", "registry/registry.yaml", 2) == (problem["code"], problem["path"], problem["line"])


# Nothing is fetched


def test_no_command_opens_a_connection(bench: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        port = server.getsockname()[1]
        text = (HERE / "remote-ref.yaml").read_text(encoding="utf-8").replace(":9/", f":{port}/")
        bench.write(PLACE, text)
        for words in (("check",), ("publish",), ("test",), ("diff", "broken/it"), ("list",), ("policy", "test")):
            assert in_process("-C", str(bench.root), *words, "-o", "json").code in {0, 1}
        with pytest.raises(TimeoutError):
            server.accept()


# Anything at all


def mutations() -> Iterator[bytes]:
    for path in sorted(HERE.glob("*.yaml")):
        yield path.read_bytes()


@given(
    data=st.one_of(
        st.binary(max_size=300),
        st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.builds(
            lambda base, place, more: base[: place % (len(base) + 1)] + more + base[place % (len(base) + 1) :],
            st.sampled_from(list(mutations())),
            st.integers(0, 400),
            st.binary(max_size=6),
        ),
    )
)
def test_nothing_that_is_written_crashes_check(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.getbasetemp() / "anything"
    shop = Shop(root)
    if not root.exists():
        root.mkdir()
        shop.start()
        shop.write("procedures/broken/other.yaml", OTHER)
    checked(shop, data)
