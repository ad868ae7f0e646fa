"""The branch's own history is an anchor: what was recorded is never changed or removed by any commit that led here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hostile.forging import forge
from support import FIRST, Shop, git

HEAD = "releases/production/000001.json"


def commit(shop: Shop, message: str = "tidy") -> str:
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-q", "--allow-empty", "-m", message)
    return git(shop.root, "rev-parse", "HEAD").strip()


def altered(shop: Shop, code: int = 6) -> dict[str, str]:
    """Return the message for each path that the history speaks against."""
    rows = shop.pawl("verify", code=code)["problems"]
    return {row["path"]: row["message"] for row in rows if row["code"] == "history-altered"}


def notes(shop: Shop) -> list[str]:
    return shop.codes(shop.pawl("verify"), "note")


def rewrite(rows: list[dict[str, Any]]) -> None:
    rows[-1]["reason"] = "somebody else's"


def test_a_head_record_that_is_written_again_with_all_that_fits_it(released: Shop) -> None:
    assert [] == notes(released)
    forge(released, "production", rewrite)
    made = commit(released)
    assert made[:12] in altered(released)[HEAD]


def test_a_journal_that_is_cut_off_with_its_projection(released: Shop) -> None:
    released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    forge(released, "production", list.pop)
    made = commit(released)
    assert {"releases/production/000002.json": f"commit {made[:12]} removed"} == {
        path: message[: len("commit  removed") + 12] for path, message in altered(released).items()
    }


@pytest.mark.parametrize("how", ["revert", "rm"])
def test_a_removed_record_is_told_until_it_is_put_back(released: Shop, how: str) -> None:
    released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    before = released.files()
    if how == "revert":
        git(released.root, "revert", "--no-edit", "HEAD")
    else:
        git(released.root, "rm", "-q", "releases/production/000002.json")
        forge(released, "production", lambda _: None)
        commit(released)
    (row,) = [row for row in released.pawl("verify", code=6)["problems"] if row["code"] == "history-altered"]
    blob = row["hint"].partition("git cat-file blob ")[2].partition(" ")[0]
    assert before["releases/production/000002.json"].decode() == git(released.root, "cat-file", "blob", blob)
    for path, data in before.items():
        (released.root / path).write_bytes(data)
    commit(released, "put back")
    assert ["history-mended"] == notes(released)


def test_a_record_that_was_changed_and_changed_back_is_whole(released: Shop) -> None:
    before = released.files()
    forge(released, "production", rewrite)
    commit(released)
    for path, data in before.items():
        (released.root / path).write_bytes(data)
    commit(released)
    assert ["history-mended"] == notes(released)


def test_another_record_in_the_place_of_a_removed_one(released: Shop) -> None:
    released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    git(released.root, "revert", "--no-edit", "HEAD")
    released.pawl("reject", "support/refund@1.0.0", "--channel", "production", "--reason", "no")
    assert {"releases/production/000002.json"} == set(altered(released))


def test_evidence_and_frozen_versions_count_too(released: Shop) -> None:
    changed = [path for path in released.files() if path.startswith(("releases/evidence", "registry/versions"))]
    before = released.files()
    for path in changed:
        (released.root / path).unlink()
    commit(released)
    assert set(changed) == set(altered(released))
    for path in changed:
        (released.root / path).write_bytes(before[path])
    commit(released)
    assert {"history-mended"} == set(notes(released))


def test_files_that_no_record_speaks_of_come_and_go(released: Shop) -> None:
    released.write("registry/versions/support/other/1.0.0.yaml", "kind: tool\n")
    released.write("releases/README.md", "what this is\n")
    commit(released)
    released.write("releases/README.md", "what else this is\n")
    (released.root / "registry/versions/support/other/1.0.0.yaml").unlink()
    commit(released)
    assert [] == notes(released)


@pytest.mark.parametrize("dropped", ["theirs", "ours"])
def test_a_merge_that_drops_a_record(released: Shop, dropped: str) -> None:
    """Whichever parent comes first: a branch that never had the record becomes the trunk, or takes its side."""
    git(released.root, "branch", "side")
    released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    git(released.root, "checkout", "-q", "side")
    released.write("notes.txt", "x")
    commit(released)
    if dropped == "theirs":
        git(released.root, "merge", "-q", "-s", "ours", "-m", "merge", "main")
    else:
        tree = git(released.root, "rev-parse", "HEAD^{tree}").strip()
        made = git(released.root, "commit-tree", tree, "-p", "main", "-p", "side", "-m", "merge").strip()
        git(released.root, "reset", "-q", "--hard", made)
    assert {"releases/production/000002.json"} == set(altered(released))


def test_ordinary_merges_are_fine(released: Shop) -> None:
    git(released.root, "checkout", "-q", "-b", "side")
    released.write("notes.txt", "x")
    commit(released)
    git(released.root, "checkout", "-q", "main")
    released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    git(released.root, "merge", "-q", "--no-ff", "-m", "merge", "side")
    assert [] == notes(released)
    git(released.root, "checkout", "-q", "side")
    git(released.root, "merge", "-q", "--no-ff", "-m", "back", "main")
    assert [] == notes(released)


def test_a_fork_that_was_merged_is_told(released: Shop) -> None:
    git(released.root, "branch", "side")
    released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    git(released.root, "checkout", "-q", "side")
    released.pawl("reject", "support/refund@1.0.0", "--channel", "production", "--reason", "no")
    git(released.root, "merge", "-q", "-s", "ours", "-m", "merge", "main")
    assert {"releases/production/000002.json"} == set(altered(released))


def test_a_reset_to_a_remote_that_never_had_a_record_is_no_tampering(released: Shop) -> None:
    released.pawl("halt", "support/refund", "--channel", "production", "--reason", "stop")
    git(released.root, "reset", "-q", "--hard", "HEAD~1")
    assert [] == notes(released)
    released.pawl("reject", "support/refund@1.0.0", "--channel", "production", "--reason", "no")
    assert [] == notes(released)


def test_permissions_are_no_change(released: Shop) -> None:
    (released.root / HEAD).chmod(0o755)
    commit(released)
    assert [] == notes(released)


def test_a_record_that_becomes_a_link_is_one(released: Shop) -> None:
    (released.root / HEAD).rename(released.root / "kept.json")
    (released.root / HEAD).symlink_to("../../kept.json")
    commit(released)
    assert HEAD in altered(released)


def test_replaced_objects_hide_nothing(released: Shop) -> None:
    honest = git(released.root, "rev-parse", "HEAD").strip()
    forge(released, "production", rewrite)
    made = commit(released)
    git(released.root, "replace", honest, made)
    assert HEAD in altered(released)


def test_a_shallow_clone_says_what_it_did_not_see(released: Shop, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", released.root.as_uri(), "shallow")
    assert ["history-shallow"] == notes(Shop(tmp_path / "shallow"))


def test_a_workspace_in_a_folder_of_its_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    shop = Shop(tmp_path / "inner" / "shop")
    shop.root.mkdir(parents=True)
    shop.start()
    shop.publish_first()
    shop.promote(*FIRST, to="staging")
    assert [] == notes(shop)
    forge(shop, "staging", rewrite)
    commit(shop)
    assert {"releases/staging/000001.json"} == set(altered(shop))
