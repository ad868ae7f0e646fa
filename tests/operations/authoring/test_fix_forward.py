"""Fix forward: old content as a new version in the work tree, marked where today's rules object, and nothing lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from pawl.io import files, strict_yaml
from support import Shop, git, in_process, story

REFUND = "support/refund"
FILE = "procedures/support/refund.yaml"
FIRST, DRAFT, TOOL = f"{REFUND}@1.0.0", "support/refund-draft@1.0.0", "support/check-eligibility@1.0.0"
PLAIN = """\
kind: tool
name: {name}
version: 1.0.0
summary: Finds articles.
owner: shop
spec:
  description: Finds articles.
  inputSchema: {{type: object, properties: {{}}, additionalProperties: false}}
  effects: [{effect}]
"""
RULE = """\
policy: shop
owner: compliance
rules:
  - id: {id}
    class: safety
    level: absolute
    applies: {{kinds: [tool]{where}}}
    require: '{require}'
    message: {message}
    tests:
      - {{name: good, procedure: {{kind: tool, spec: {good}}}, expect: allowed{on}}}
      - {{name: bad, procedure: {{kind: tool, spec: {bad}}}, expect: denied{on}}}
"""


@pytest.fixture
def stricter(released: Shop) -> Shop:
    """Version 2 is live everywhere, and policy 2 demands what version 1 lacks; everything is committed."""
    released.release_second()
    released.reach(_stricter)
    return released


def _stricter(shop: Shop) -> None:
    shop.write("registry/policies/refunds.yaml", story("policy-2.yaml"))
    shop.adopt("check first")
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-q", "-m", "stricter")


@pytest.fixture
def bare(plain_shop: Shop) -> Shop:
    """A workspace outside of Git with one channel and one policy, and nothing published."""
    for path in ("procedures", "conformance"):
        for file in sorted((plain_shop.root / path).rglob("*.yaml")):
            file.unlink()
    plain_shop.write("registry/registry.yaml", "format: 1\nchannels:\n  live: {}\n")
    plain_shop.write("registry/policies/refunds.yaml", READ_ONLY)
    return plain_shop


READ_ONLY = RULE.format(
    id="RO-1",
    where="",
    require='!procedure.spec.effects.exists(e, e == "shop:write")',
    message="Tools only read.",
    good="{effects: []}",
    bad='{effects: ["shop:write"]}',
    on="",
)


def publish(shop: Shop, name: str, effect: str = "", text: str = PLAIN) -> Path:
    file = shop.write(f"procedures/{name}.yaml", text.format(name=name, effect=effect))
    shop.pawl("publish", name)
    return file


def fix(shop: Shop, ref: str, *words: str, code: int = 0) -> dict[str, Any]:
    return shop.pawl("fix-forward", ref, *words, code=code)


def test_the_story_from_the_refusal_to_the_way_on(stricter: Shop) -> None:
    shop = stricter
    refused = shop.rollback(REFUND, "--to", "1.0.0", code=3)
    command = next(command for command in refused["remedies"][0]["next"] if "fix-forward" in command)
    before = shop.files()
    answer = shop.pawl(*command.split()[1:])
    assert before == shop.files()
    assert (answer["from"], answer["to"], answer["path"]) == ("1.0.0", "3.0.0", FILE)
    (mark,) = answer["marks"]
    assert (mark["rule"], mark["policy"], mark["channels"]) == ("REF-1", 2, ["production"])
    lines = shop.read(FILE).split("\n")
    assert lines[mark["line"] - 1].startswith("  # pawl: REF-1 (policy 2): Every refund workflow checks eligibility")
    assert "draft, drafted" in lines[mark["line"] - 1]
    assert lines[mark["line"]] == "  steps:"
    assert "version: 3.0.0" in lines
    assert 'changes: "Brings back 1.0.0, mended for REF-1 of policy 2."' in lines
    assert git(shop.root, "status", "--porcelain").split() == ["M", FILE]

    shop.write(
        FILE,
        story("refund-2.yaml")
        .replace("version: 2.0.0", "version: 3.0.0")
        .replace("changes: Checks eligibility before it drafts.", "changes: Brings back 1.0.0, which checks first now.")
        .replace("max_steps: 6", "max_steps: 5"),
    )
    git(shop.root, "commit", "-q", "-a", "-m", "fix")
    for step in answer["next"]:
        words = step.replace('"..."', "fixed").split()[1:]
        if words[0] == "promote":
            shop.pawl("promote", f"{REFUND}@3.0.0", "--to", "staging", "--reason", "fixed")
        shop.pawl(*words)
    assert shop.version(REFUND) == "3.0.0"


def test_the_text_ends_with_the_next_steps(stricter: Shop) -> None:
    ended = in_process("-C", str(stricter.root), "fix-forward", FIRST, "--channel", "production")
    assert ended.code == 0
    assert ended.out.split("next:\n")[1].split("\n") == [
        f"  mend {FILE} where it is marked, and take the marks out",
        "  pawl check --base main",
        "  pawl publish support/refund",
        '  pawl promote support/refund@3.0.0 --to staging --reason "..."',
        '  pawl promote support/refund@3.0.0 --to production --reason "..."',
        "done",
        "",
    ]


def test_check_and_publish_meet_the_same_rules(stricter: Shop) -> None:
    """The marks are comments: the file reads, and what they say is what check says."""
    fix(stricter, FIRST)
    answer = stricter.pawl("check", code=1)
    assert "REF-1" in str(answer)
    assert not [row for row in answer["problems"] if row["code"].startswith("procedure-")]


def test_without_a_channel_every_adopted_one_is_asked_and_said_once(stricter: Shop) -> None:
    answer = fix(stricter, FIRST)
    assert [mark["channels"] for mark in answer["marks"]] == [["staging", "production"]] or [
        sorted(mark["channels"]) for mark in answer["marks"]
    ] == [["production", "staging"]]
    assert stricter.read(FILE).count("# pawl:") == 1
    assert " (on " not in stricter.read(FILE)


def test_again_is_unchanged(stricter: Shop) -> None:
    first = fix(stricter, FIRST)
    data = (stricter.root / FILE).read_bytes()
    again = fix(stricter, FIRST)
    assert (again["status"], again["marks"], again["to"]) == ("unchanged", first["marks"], "3.0.0")
    assert (stricter.root / FILE).read_bytes() == data


def test_what_is_newest_and_breaks_nothing_needs_no_new_version(stricter: Shop) -> None:
    answer = fix(stricter, f"{REFUND}@2.0.0")
    assert (answer["status"], answer["to"], answer["marks"], answer["next"]) == ("unchanged", "2.0.0", [], [])


def test_old_content_that_breaks_nothing_comes_back_unmarked(released: Shop) -> None:
    released.release_second()
    answer = fix(released, FIRST)
    assert (answer["status"], answer["to"], answer["marks"]) == ("done", "3.0.0", [])
    assert 'changes: "Brings back 1.0.0."' in released.read(FILE)
    assert "# pawl:" not in released.read(FILE)


def test_the_newest_version_gets_the_next_patch_where_a_rule_objects(bare: Shop) -> None:
    publish(bare, "shop/find", '"shop:write"')
    bare.adopt()
    answer = fix(bare, "shop/find@1.0.0")
    assert answer["to"] == "1.0.1"
    text = bare.read("procedures/shop/find.yaml").split("\n")
    assert text[2:4] == ["version: 1.0.1", 'changes: "Brings back 1.0.0, mended for RO-1 of policy 1."']
    assert text[answer["marks"][0]["line"]].startswith("  effects: [")


@pytest.mark.parametrize(
    ("require", "good", "bad", "document", "above"),
    [
        ("procedure.spec.timeout <= 9", "{timeout: 3}", "{timeout: 30}", "effects: []", "spec:"),
        ("has(procedure.labels) && size(procedure.labels) > 0", "{}", "{}", "effects: []", "name: shop/find"),
        ("channel != \"live\"", "{}", "{}", "effects: []", "name: shop/find"),
        (
            "procedure.spec.effects.all(e, e.startsWith(\"shop:\"))",
            "{effects: [\"shop:a\"]}",
            "{effects: [b]}",
            "effects:\n    - \"shop:a\"\n    - bad\n    - worse",
            "    - bad",
        ),
    ],
)  # fmt: skip
def test_marks_stand_above_what_the_rule_looked_at(
    bare: Shop, require: str, good: str, bad: str, document: str, above: str
) -> None:
    """A place that is not there is marked at what would hold it, and at the top where nothing would."""
    rule = RULE.format(id="R-1", where="", require=require, message="As it must be.", good=good, bad=bad, on="")
    publish(bare, "shop/find", text=PLAIN.replace("effects: [{effect}]", document))
    bare.write("registry/policies/refunds.yaml", rule[: rule.index("    tests:")])
    bare.adopt()
    answer = fix(bare, "shop/find@1.0.0")
    lines = bare.read("procedures/shop/find.yaml").split("\n")
    first = answer["marks"][0]["line"]
    assert lines[first - 1].lstrip().startswith("# pawl: R-1 (policy 1): As it must be; ")
    following = next(line for line in lines[first:] if "# pawl" not in line)
    assert following == above


def test_each_item_that_is_wrong_has_its_mark(bare: Shop) -> None:
    require = 'procedure.spec.effects.all(e, e.startsWith("shop:"))'
    rule = RULE.format(id="R-1", where="", require=require, message="Ours.", good="{}", bad="{}", on="")
    publish(bare, "shop/find", text=PLAIN.replace("[{effect}]", '\n    - "shop:a"\n    - bad\n    - worse'))
    bare.write("registry/policies/refunds.yaml", rule[: rule.index("    tests:")])
    bare.adopt()
    answer = fix(bare, "shop/find@1.0.0")
    lines = bare.read("procedures/shop/find.yaml").split("\n")
    assert [lines[mark["line"]].strip() for mark in answer["marks"]] == ["- bad", "- worse"]
    assert [lines[mark["line"] - 1][:8] for mark in answer["marks"]] == ["    # pa"] * 2


def test_old_marks_that_were_published_go(bare: Shop) -> None:
    publish(bare, "shop/find", '"shop:write"')
    bare.adopt()
    fix(bare, "shop/find@1.0.0")
    bare.pawl("publish", "shop/find")
    answer = fix(bare, "shop/find@1.0.1")
    assert answer["to"] == "1.0.2"
    assert bare.read("procedures/shop/find.yaml").count("# pawl:") == 1


# What somebody wrote


def test_changes_that_nobody_else_has_are_not_replaced(stricter: Shop) -> None:
    stricter.edit(FILE, ("summary: From", "summary: Mine, from"))
    mine = stricter.read(FILE)
    answer = fix(stricter, FIRST, code=1)
    assert stricter.codes(answer) == ["work-tree-differs"]
    assert stricter.read(FILE) == mine
    answer = fix(stricter, FIRST, "--replace")
    assert answer["to"] == "3.0.0"
    assert stricter.read(answer["kept"]) == mine
    assert answer["kept"].startswith(".pawl/replaced/support/refund.")


def test_committed_and_not_published_is_not_replaced_either(stricter: Shop) -> None:
    stricter.edit(FILE, ("version: 2.0.0", "version: 2.0.1"), ("summary: From", "summary: Mine, from"))
    git(stricter.root, "commit", "-q", "-a", "-m", "mine")
    assert stricter.codes(fix(stricter, FIRST, code=1)) == ["work-tree-differs"]
    assert "kept" not in fix(stricter, FIRST, "--replace")  # Git has it


def test_a_comment_that_is_committed_may_go_and_another_may_not(stricter: Shop) -> None:
    stricter.write(FILE, stricter.read(FILE) + "# remember\n")
    assert stricter.codes(fix(stricter, FIRST, code=1)) == ["work-tree-differs"]
    git(stricter.root, "commit", "-q", "-a", "-m", "a comment")
    assert fix(stricter, FIRST)["status"] == "done"


def test_outside_of_git_only_published_bytes_are_replaced(bare: Shop) -> None:
    file = publish(bare, "shop/find", '"shop:write"')
    bare.adopt()
    file.write_text(file.read_text() + "# remember\n")
    assert bare.codes(fix(bare, "shop/find@1.0.0", code=1)) == ["work-tree-differs"]


def test_a_file_that_does_not_read_is_somebodys_too(stricter: Shop) -> None:
    stricter.write(FILE, "<<<<<<< mine\n")
    assert stricter.codes(fix(stricter, FIRST, code=1)) == ["work-tree-differs"]
    kept = fix(stricter, FIRST, "--replace")["kept"]
    assert stricter.read(kept) == "<<<<<<< mine\n"


def test_a_file_that_is_gone_is_written(stricter: Shop) -> None:
    (stricter.root / FILE).unlink()
    assert fix(stricter, FIRST)["status"] == "done"
    assert "version: 3.0.0" in stricter.read(FILE)


# What is hostile


def test_a_revoked_version_is_refused_and_an_unknown_one_is_not_found(stricter: Shop) -> None:
    stricter.pawl("revoke", FIRST, "--reason", "leaks")
    before = stricter.read(FILE)
    assert stricter.codes(fix(stricter, FIRST, code=7)) == ["revoked"]
    assert stricter.codes(fix(stricter, f"{REFUND}@9.9.9", code=1)) == ["version-unknown"]
    assert stricter.codes(fix(stricter, "no/such@1.0.0", code=1)) == ["name-unknown"]
    assert stricter.codes(fix(stricter, f"{REFUND}@2.0.0", "--channel", "nowhere", code=1)) == ["channel-unknown"]
    assert stricter.read(FILE) == before


def test_a_frozen_copy_that_was_changed_is_never_brought_back(stricter: Shop) -> None:
    path = "registry/versions/support/refund/1.0.0.yaml"
    stricter.write(path, stricter.read(path) + "# x\n")
    assert stricter.codes(fix(stricter, FIRST, code=6)) == ["frozen-changed"]


def test_a_name_of_many_segments(bare: Shop) -> None:
    name = "/".join("abcdefgh"[index % 8] * 3 for index in range(30))
    file = publish(bare, name, '"shop:write"')
    bare.adopt()
    assert len(name) > 100
    file.write_text("mine\n")
    answer = fix(bare, f"{name}@1.0.0", "--replace")
    assert bare.read(answer["kept"]) == "mine\n"
    assert "# pawl: RO-1" in file.read_text()


def test_crlf_and_comments_stay(bare: Shop) -> None:
    text = PLAIN.format(name="shop/find", effect='"shop:write"').replace("owner: shop", "owner: shop  # " + "é" * 5000)
    file = bare.root / "procedures/shop/find.yaml"
    file.parent.mkdir(parents=True)
    file.write_bytes(("# first\n" + text).replace("\n", "\r\n").encode())
    bare.pawl("publish", "shop/find")
    bare.adopt()
    answer = fix(bare, "shop/find@1.0.0")
    data = file.read_bytes().decode()
    assert data.count("\r\n") == data.count("\n")
    lines = data.split("\r\n")
    assert lines[answer["marks"][0]["line"]].startswith("  effects")
    kept = [line for line in lines if "# pawl" not in line and not line.startswith(("changes", "version"))]
    assert kept == [line for line in ("# first\n" + text).split("\n") if not line.startswith("version")]


def test_one_line_of_flow_style_is_marked_above(bare: Shop) -> None:
    text = (
        '{{kind: tool, name: {name}, version: 1.0.0, summary: x, owner: y, spec: {{description: "a\n\n  b", '
        "inputSchema: {{type: object, properties: {{}}, additionalProperties: false}}, effects: [{effect}]}}}}\n"
    )
    file = publish(bare, "shop/find", '"shop:write"', text)
    bare.adopt()
    answer = fix(bare, "shop/find@1.0.0")
    assert answer["marks"][0]["line"] == 1
    second = file.read_text().split("\n")[1]
    assert second.startswith('{kind: tool, name: shop/find, version: 1.0.1, changes: "Brings back')
    assert bare.pawl("publish", "shop/find")["published"][0]["version"] == "1.0.1"


def test_a_message_cannot_leave_its_comment(bare: Shop) -> None:
    effect = '"shop:write\\nversion: 9.9.9\\u2028x"'
    require = "procedure.spec.effects.all(e, size(e) < 11)"
    rule = RULE.format(id="R-1", where="", require=require, message="Short.", good="{}", bad="{}", on="")
    file = publish(bare, "shop/find", effect)
    bare.write("registry/policies/refunds.yaml", rule[: rule.index("    tests:")])
    bare.adopt()
    assert fix(bare, "shop/find@1.0.0")["to"] == "1.0.1"
    assert bare.pawl("publish", "shop/find")["published"][0]["version"] == "1.0.1"
    assert "version: 9.9.9\n" not in file.read_text()


def test_a_file_without_room_for_a_mark_is_written_without(bare: Shop) -> None:
    text = PLAIN.format(name="shop/find", effect='"shop:write"')
    room = 256 * 1024 - len(text.encode()) - 120
    file = publish(bare, "shop/find", text=(text + "#" + "x" * room + "\n").replace("{", "{{").replace("}", "}}"))
    bare.adopt()
    answer = fix(bare, "shop/find@1.0.0")
    assert [mark["line"] for mark in answer["marks"]] == [None]
    assert "# pawl" not in file.read_text()


def test_links_and_folders_in_the_way_are_left_alone(bare: Shop, tmp_path: Path) -> None:
    file = publish(bare, "shop/find", '"shop:write"')
    bare.adopt()
    outside = tmp_path / "outside.yaml"
    outside.write_text("precious\n")
    file.unlink()
    file.symlink_to(outside)
    for words in ((), ("--replace",)):
        assert bare.codes(fix(bare, "shop/find@1.0.0", *words, code=1)) in (["not-a-file"], ["path-outside"])
    assert outside.read_text() == "precious\n"
    file.unlink()
    file.symlink_to(file.parent / "gone.yaml")
    assert bare.codes(fix(bare, "shop/find@1.0.0", "--replace", code=1)) == ["not-a-file"]
    file.unlink()
    file.mkdir()
    assert bare.codes(fix(bare, "shop/find@1.0.0", "--replace", code=1)) == ["not-a-file"]


def test_a_folder_that_cannot_be_written(bare: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    file = publish(bare, "shop/find", '"shop:write"')
    bare.adopt()
    before = file.read_bytes()

    def refuse(*_: Any, **__: Any) -> Path:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(files, "_write_temporary", refuse)  # a superuser could write where nobody else can
    assert bare.codes(fix(bare, "shop/find@1.0.0", code=1)) == ["cannot-write"]
    assert file.read_bytes() == before


def test_what_today_is_too_lax_is_written_and_told(bare: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(bare, "shop/find", '"shop:write"')
    bare.adopt()
    bare.pawl("fix-forward", "shop/find@1.0.0")  # its document is known from now on
    monkeypatch.setattr(strict_yaml, "MAX_DEPTH", 3)
    answer = fix(bare, "shop/find@1.0.0", "--replace")
    assert (answer["to"], answer["marks"], bare.codes(answer, "warning")) == ("2.0.0", [], ["too-deep"])
    assert "version: 2.0.0" in bare.read("procedures/shop/find.yaml")
    assert "too-deep" in bare.codes(bare.pawl("check", code=1))


def test_what_would_stand_in_the_way_beside_rules_is_told(released: Shop) -> None:
    released.release_second()
    released.pawl("reject", FIRST, "--channel", "staging", "--reason", "slow")
    answer = fix(released, FIRST)
    assert released.codes(answer, "warning") == ["rejected"]


def test_without_a_policy_nothing_is_marked_and_it_says_so(bare: Shop) -> None:
    publish(bare, "shop/find", '"shop:write"')
    publish(bare, "shop/find", '"shop:read"', PLAIN.replace("version: 1.0.0", "version: 2.0.0"))
    answer = fix(bare, "shop/find@1.0.0")
    assert (answer["marks"], bare.codes(answer, "warning")) == ([], ["no-policy"])


def test_a_pre_release_leads_to_its_final_version(bare: Shop) -> None:
    publish(bare, "shop/find", '"shop:write"', PLAIN.replace("version: 1.0.0", "version: 1.0.0rc1"))
    bare.adopt()
    assert fix(bare, "shop/find@1.0.0rc1")["to"] == "1.0.0"
