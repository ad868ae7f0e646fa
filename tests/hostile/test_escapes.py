"""Nothing leaves the workspace: names, references and file names say no path out of it, and links lead no write out.

Every place that pawl writes to is made a link, or lies behind one, and every writing command is run: what is outside
stays as it was. Cases of single readers stand with them (`tests/operations/test_links.py`, `tests/io/test_files.py`).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from budgets import sweep
from hostile.forging import forge
from support import FIRST, SECOND, Shop, in_process

PLACES = (
    *("procedures", "procedures/support", "procedures/new", "procedures/support/refund.yaml", "conformance"),
    *("registry", "registry/policies", "registry/versions", "registry/versions/support", "registry/channels"),
    *("registry/versions/support/refund", "registry/channels/production.json", "registry/channels/staging.json"),
    *("releases", "releases/registry", "releases/staging", "releases/production", "releases/evidence"),
    *("releases/evidence/support", "releases/production/000002.json", ".pawl", ".pawl/lock", ".pawl/runs.db"),
    *(".pawl/documents", ".pawl/sources", ".pawl/.gitignore"),
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    *(("new", "prompt", "new/prompt"), ("bump", "support/refund"), ("import", "mcp", "TOOLS", "--prefix", "new")),
    *(("policy", "adopt", "--reason", "r"), ("publish",), ("check", "--no-code"), ("status",), ("verify",), ("test",)),
    ("promote", *SECOND, "--to", "staging", "--reason", "r"),
    ("promote", *SECOND, "--to", "production", "--reason", "r"),
    ("rollback", "support/refund", "--channel", "staging", "--reason", "r", "--with-requirements"),
    ("halt", "support/refund", "--channel", "production", "--reason", "r"),
    ("drill", "production", "support/refund"),
    ("deprecate", FIRST[1], "--reason", "r"),
    ("run", "start", "--channel", "production", "--agent", "a"),
    ("resolve", "support/refund-draft", "--channel", "production"),
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace outside of Git with version 1 released and version 2 written."""
    shop = Shop(tmp_path_factory.mktemp("template"))
    shop.start()
    shop.release_first()
    shop.pawl("run", "start", "--channel", "production", "--agent", "a")
    in_process("-C", str(shop.root), "check")
    shop.second()
    return shop.root


@pytest.fixture
def shop(template: Path, tmp_path: Path) -> Shop:
    shutil.copytree(template, tmp_path / "shop")
    return Shop(tmp_path / "shop")


def everything(folder: Path) -> dict[str, bytes | None]:
    """Return every file below a folder with its bytes, and every folder."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def run_all(shop: Shop, tools: Path) -> None:
    for words in COMMANDS:
        ended = in_process("-C", str(shop.root), *(str(tools) if word == "TOOLS" else word for word in words))
        assert ended.code in range(9), (words, ended.err)


CHOSEN = (
    *("procedures/support", "procedures/new", "procedures/support/refund.yaml", "registry/policies"),
    *("registry/versions", "registry/channels/production.json", "releases", "releases/evidence/support"),
    *("releases/production/000002.json", ".pawl", ".pawl/lock", ".pawl/runs.db", ".pawl/documents", ".pawl/sources"),
)
KINDS = ("moved", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("empty", "dangling", "loop")))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", sweep(PLACES, *CHOSEN))
def test_no_command_writes_through_a_link(shop: Shop, tmp_path: Path, place: str, kind: str) -> None:
    """The link leads to what was there, to an empty folder or file, to nothing yet, or round in a circle."""
    outside = tmp_path / "outside"
    outside.mkdir()
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}}]))
    path, target = shop.root / place, outside / "it"
    is_file = path.is_file() or "." in Path(place).name[1:]
    if path.exists():
        path.rename(target if kind == "moved" else tmp_path / "away")
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "empty":
        target.write_bytes(b"") if is_file else target.mkdir()
    path.symlink_to(path if kind == "loop" else target)
    before = everything(outside)
    run_all(shop, tools)
    assert before == everything(outside)


NAMES = (
    *(
        "../x",
        "/etc/passwd",
        "a/../../x",
        "a//b",
        "a/./b",
        ".",
        "..",
        "",
        "a\\b",
        "a\x00b",
        "A",
        "a b",
        "a/",
        "/a",
        "~/x",
    ),
    *("a\nb", "-C", "a@1.0.0", "a/.git/config", "é", "a%2e%2e/b", "file:///etc/passwd", "a" * 129, "\udcff"),
)
WITH_NAME: tuple[tuple[str, ...], ...] = (
    *(("new", "prompt", "NAME"), ("bump", "NAME"), ("export", "NAME", "--format", "mcp"), ("publish", "NAME")),
    *(("resolve", "NAME", "--channel", "staging"), ("resolve", "support/refund", "--channel", "NAME")),
    *(("show", "NAME@1.0.0"), ("show", "support/refund@NAME"), ("render", "NAME@1.0.0"), ("diff", "NAME@1.0.0")),
    *(
        ("targets", "NAME", "--channel", "staging"),
        ("history", "NAME"),
        ("snapshot", "NAME"),
        ("audit", "--channel", "NAME"),
    ),
    ("promote", "NAME@1.0.0", "--to", "staging", "--reason", "r"),
    ("promote", FIRST[0], "--to", "NAME", "--reason", "r"),
    ("rollback", "NAME", "--channel", "staging", "--reason", "r"),
    ("rollback", "support/refund", "--channel", "staging", "--to", "NAME", "--reason", "r"),
    ("halt", "NAME", "--channel", "staging", "--reason", "r"),
    ("freeze", "NAME", "--until", "2999-01-01", "--reason", "r"),
    ("remove", "NAME", "--channel", "staging", "--reason", "r"),
    ("deprecate", "NAME@1.0.0", "--reason", "r"),
    ("import", "mcp", "TOOLS", "--prefix", "NAME"),
    ("run", "start", "--channel", "NAME", "--agent", "a"),
    ("runs", "affected", "NAME@1.0.0"),
)


@pytest.mark.parametrize("words", WITH_NAME, ids=lambda words: "-".join(words[:3]).replace("/", "."))
def test_no_name_is_a_path_out(shop: Shop, tmp_path: Path, words: tuple[str, ...]) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}}]))
    before = {**everything(shop.root), **everything(tmp_path)}
    for name in NAMES:
        line = [word.replace("NAME", name).replace("TOOLS", str(tools)) for word in words]
        ended = in_process("-C", str(shop.root), *line)
        assert ended.code in {1, 2, 3}, (line, ended)
    after = {**everything(shop.root), **everything(tmp_path)}
    private = str(shop.root / ".pawl")
    assert {path: data for path, data in before.items() if not path.startswith(private)} == {
        path: data for path, data in after.items() if not path.startswith(private)
    }


PATHS = ("../outside.json", "/etc/passwd", "a/../../../registry/registry.yaml", "..", "", "a\x00b")


@pytest.mark.parametrize("file", [*PATHS, 1, None, ["a"], {"a": 1}], ids=repr)
@pytest.mark.parametrize("command", ["verify", "status", "why", "promote"])
def test_no_record_names_evidence_outside(shop: Shop, file: object, command: str) -> None:
    forge(shop, "staging", lambda rows: rows[0]["evidence"][0].update(file=file))
    words = {
        "why": ("why", FIRST[0], "--channel", "staging"),
        "promote": ("promote", *FIRST, "--to", "production", "--reason", "r"),
    }.get(command, (command,))
    ended = in_process("-C", str(shop.root), *words, "-o", "json")
    assert ended.code in range(9), ended.err
    if command == "verify":
        assert ended.code == 6
        assert {"releases/staging/000001.json"} == {
            row["path"] for row in json.loads(ended.out)["problems"] if row["severity"] == "error"
        }


@pytest.mark.parametrize(
    "reference", ["../x.json", "file:///etc/passwd", "https://example.invalid/s", "/etc/passwd", "x"]
)
def test_no_schema_refers_to_a_file(shop: Shop, reference: str) -> None:
    shop.edit("procedures/support/check-eligibility.yaml", ("type: object", f'$ref: "{reference}"'))
    assert shop.pawl("check", "--no-code", code=1)["problems"]


@pytest.mark.parametrize("folder", ["..", "/usr", "a/../..", ""])
def test_no_implementation_is_imported_from_outside(shop: Shop, folder: str) -> None:
    shop.edit("registry/registry.yaml", ("format: 1", f'format: 1\npython_path: ["{folder}"]'))
    answer = shop.pawl("check", code=1)
    assert {"registry/registry.yaml"} == {row["path"] for row in answer["problems"] if row["severity"] == "error"}


def test_no_implementation_is_imported_through_a_link(shop: Shop, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    marker = tmp_path / "was-run"
    code = f"from pathlib import Path\nPath({str(marker)!r}).write_text('x')\ndef check(**_):\n    return {{}}\n"
    (outside / "mine.py").write_text(code, encoding="utf-8")
    (shop.root / "tools").symlink_to(outside)
    shop.edit("registry/registry.yaml", ("format: 1", 'format: 1\npython_path: ["tools"]'))
    text = shop.read("procedures/support/check-eligibility.yaml")
    shop.write("procedures/support/check-eligibility.yaml", f"{text}  binding: {{python: 'mine:check'}}\n")
    in_process("-C", str(shop.root), "test")
    in_process("-C", str(shop.root), "check")
    assert not marker.exists()


def test_signers_are_not_read_through_a_link(shop: Shop, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("ada@example.invalid ssh-ed25519 AAAA\n", encoding="utf-8")
    (shop.root / "registry/allowed_signers").symlink_to(secret)
    answer = shop.pawl("policy", "adopt", "--reason", "keys", code=1)
    assert "AAAA" not in str(answer)
    assert "AAAA" not in str(shop.files("releases"))


@pytest.mark.parametrize(
    "words", [("snapshot", "production", "--out", "OUT"), ("check", "--no-code", "-o", "json=OUT")]
)
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_outputs_do_not_reach_the_workspace_by_a_link(
    shop: Shop, tmp_path: Path, words: tuple[str, ...], kind: str
) -> None:
    before = shop.files("registry", "releases", "procedures")
    link = tmp_path / "link"
    inner = shop.root / "releases/production/000001.json"
    link.symlink_to(inner if kind == "file" else inner.parent)
    out = link if kind == "file" else link / inner.name
    line = [word.replace("OUT", str(out)) for word in words]
    in_process("-C", str(shop.root), *line)
    assert before == shop.files("registry", "releases", "procedures")
