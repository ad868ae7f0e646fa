"""A workspace at a Git revision, against real repositories."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pawl.errors import IntegrityError, InvalidError, NotFoundError, PawlError
from pawl.ids import Name, Ref, parse_version
from pawl.operations.reviewing.revisions import Revision, at_revision, folder_in_git
from pawl.workspace import Workspace
from support import Shop, git

DRAFT = Name("support/refund-draft")
REFUND = Name("support/refund")
FILE = "procedures/support/refund-draft.yaml"


def commit(shop: Shop, message: str = "next") -> str:
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-q", "-m", message)
    return git(shop.root, "rev-parse", "HEAD").strip()


def at(shop: Shop, ref: str, *, fork: bool = False) -> Revision:
    return at_revision(Workspace(shop.root.resolve()), ref, fork=fork)


def problem_of(action: Callable[[], object], kind: type[PawlError]) -> tuple[str, str, str]:
    """Return code, path and hint of the first problem."""
    with pytest.raises(kind) as caught:
        action()
    problem = caught.value.problems[0]
    return problem.code, problem.path or "", problem.hint or ""


def version_of(revision: Revision, name: Name) -> str | None:
    procedure = revision.procedure(name)
    return procedure.version if procedure else None


def test_files_are_read_as_they_stood(shop: Shop) -> None:
    first = git(shop.root, "rev-parse", "HEAD").strip()
    shop.edit(FILE, ("version: 1.0.0", "version: 1.1.0"))
    commit(shop)
    shop.edit(FILE, ("version: 1.1.0", "version: 1.2.0"))
    assert (version_of(at(shop, first), DRAFT), version_of(at(shop, "HEAD"), DRAFT)) == ("1.0.0", "1.1.0")
    assert at(shop, "HEAD~1").commit == first
    assert set(at(shop, "HEAD").files) == {DRAFT, REFUND}
    assert at(shop, "HEAD").procedure(Name("no/such")) is None


@pytest.mark.parametrize("ending", ["LF", "CRLF"])
def test_same_bytes_are_seen_without_reading(shop: Shop, ending: str) -> None:
    data = shop.read(FILE).encode()
    changed = data.replace(b"\n", b"\r\n") if ending == "CRLF" else data
    assert at(shop, "HEAD").same(DRAFT, changed) == (ending == "LF")
    assert not at(shop, "HEAD").same(Name("no/such"), data)


def test_a_workspace_may_be_a_subfolder(tmp_path: Path, shop: Shop) -> None:
    outer = tmp_path / "outer repo"
    inner = outer / "teams" / "shöp"
    inner.parent.mkdir(parents=True)
    (shop.root / ".git").rename(tmp_path / "gone")
    shop.root.rename(inner)
    git(tmp_path, "init", "-q", "-b", "main", str(outer))
    (outer / "README.md").write_text("outside\n", encoding="utf-8")
    moved = Shop(inner)
    commit(moved)
    moved.edit(FILE, ("version: 1.0.0", "version: 1.1.0"))
    (outer / "README.md").write_text("changed outside\n", encoding="utf-8")
    moved.write("procedures/new one.yaml", "x: 1\n")
    revision = at(moved, "HEAD")
    assert version_of(revision, DRAFT) == "1.0.0"
    assert revision.changed_paths() == ("procedures/new one.yaml", FILE)
    assert folder_in_git(Workspace(inner)) == "teams/shöp"


def test_changed_paths_are_those_of_the_work_tree(shop: Shop) -> None:
    shop.write("notes/ignored.txt", "x")
    shop.write("notes/kept.txt", "x")
    shop.write(".gitignore", "ignored*\n")
    commit(shop)
    assert at(shop, "HEAD").changed_paths() == ()
    shop.edit(FILE, ("version: 1.0.0", "version: 1.1.0"))
    git(shop.root, "add", FILE)
    (shop.root / "conformance/refund.yaml").unlink()
    shop.write("procedures/fresh.yaml", "a: 1\n")
    shop.write("procedures/ignored.yaml", "a: 1\n")
    shop.write("notes/kept.txt", "y")
    shop.write("notes/ignored-too.txt", "y")
    expected = ("conformance/refund.yaml", "notes/kept.txt", "procedures/fresh.yaml", "procedures/ignored.yaml", FILE)
    assert at(shop, "HEAD").changed_paths() == expected


def test_with_the_fork_what_others_did_since_is_no_change_of_ours(shop: Shop) -> None:
    forked = git(shop.root, "rev-parse", "HEAD").strip()
    git(shop.root, "checkout", "-q", "-b", "work")
    shop.edit(FILE, ("version: 1.0.0", "version: 1.1.0"))
    commit(shop)
    git(shop.root, "checkout", "-q", "main")
    shop.write("procedures/theirs.yaml", shop.read(FILE).replace("support/refund-draft", "theirs"))
    theirs = commit(shop)
    git(shop.root, "checkout", "-q", "work")
    plain, fork = at(shop, "main"), at(shop, "main", fork=True)
    assert (plain.commit, plain.tip) == (theirs, theirs)
    assert (fork.commit, fork.tip) == (forked, theirs)
    assert plain.changed_paths() == (FILE, "procedures/theirs.yaml")
    assert fork.changed_paths() == (FILE,)
    assert (Name("theirs") in plain.files, Name("theirs") in fork.files) == (True, False)


def test_what_is_published_is_read_at_the_tip(released: Shop) -> None:
    git(released.root, "checkout", "-q", "-b", "work", "HEAD")
    git(released.root, "checkout", "-q", "main")
    released.release_second()
    git(released.root, "checkout", "-q", "-f", "work")
    git(released.root, "clean", "-q", "-fd", "procedures", "conformance")
    ref = Ref(REFUND, parse_version("2.0.0"))
    assert ref not in Workspace(released.root).catalog().published
    revision = at(released, "main", fork=True)
    published = revision.catalog().published[ref]
    assert revision.published(published).document["version"] == "2.0.0"
    assert version_of(revision, REFUND) == "1.0.0"


def test_a_revision_from_before_the_workspace_holds_nothing(shop: Shop) -> None:
    empty = git(shop.root, "commit-tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "-m", "empty").strip()
    git(shop.root, "hash-object", "-t", "tree", "-w", "/dev/null")
    revision = at(shop, empty)
    assert (dict(revision.files), dict(revision.catalog().published)) == ({}, {})
    assert FILE in revision.changed_paths()


FAULTS = {
    "not-utf8": (b"\xff\xfe broken", "byte-order-mark"),
    "duplicate-key": (b"kind: prompt\nkind: tool\n", "duplicate-key"),
    "unknown-kind": (b"kind: spell\nname: support/refund-draft\nversion: 1.0.0\nspec: {}\n", "kind-unknown"),
    "too-large": (b"#" * (256 * 1024 + 1), "too-large"),
    "empty": (b"", "empty-document"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_does_not_read_there_is_named_with_the_revision(shop: Shop, fault: str) -> None:
    data, code = FAULTS[fault]
    good = shop.read(FILE)
    (shop.root / FILE).write_bytes(data)
    commit(shop)
    shop.write(FILE, good)
    assert problem_of(lambda: at(shop, "HEAD").procedure(DRAFT), InvalidError)[:2] == (code, f"HEAD:{FILE}")


def test_other_files_in_the_place_of_a_procedure(shop: Shop) -> None:
    good = shop.read(FILE)
    (shop.root / FILE).unlink()
    (shop.root / FILE).symlink_to("refund.yaml")
    shop.write("procedures/misplaced.yaml", good)
    shop.write("procedures/No Name.yaml", good)
    commit(shop)
    revision = at(shop, "HEAD")
    assert problem_of(lambda: revision.procedure(DRAFT), InvalidError)[:2] == ("not-a-file", f"HEAD:{FILE}")
    assert problem_of(lambda: revision.procedure(Name("misplaced")), InvalidError)[0] == "name-not-path"
    assert set(revision.files) == {DRAFT, REFUND, Name("misplaced")}


def test_a_link_that_stands_there_now_leads_nowhere_else(shop: Shop, tmp_path: Path) -> None:
    (shop.root / "procedures/support").rename(tmp_path / "elsewhere")
    (shop.root / "procedures/support").symlink_to(tmp_path / "elsewhere")
    assert version_of(at(shop, "HEAD"), DRAFT) == "1.0.0"


@pytest.mark.parametrize(
    "ref", ["nowhere", "--output=x", "-h", "", "main..main", "HEAD\n", "HEAD:procedures", "x" * 9_999]
)
def test_a_ref_that_names_no_commit_is_no_option(shop: Shop, ref: str) -> None:
    assert problem_of(lambda: at(shop, ref), NotFoundError)[0] == "unknown-revision"
    assert not (shop.root / "x").exists()


@pytest.mark.parametrize(
    ("ref", "command"),
    [
        ("origin/main", "git fetch origin main; in a workflow of GitHub: fetch-depth: 0"),
        ("refs/remotes/up/release/1.x", "git fetch up release/1.x; in a workflow of GitHub: fetch-depth: 0"),
        ("v1.0", "git fetch --all --tags"),
        ("feature/#12", "git fetch --all --tags"),
        ("HEAD~40", "git fetch --all --tags"),
        ("0a1b2c3d", "git fetch --all --tags"),
        ("a b;rm -rf $HOME", ""),
        ("../x", ""),
        ("../../main", ""),
        ("./main", ""),
        ("/somewhere/main", ""),
        ("main..x/y", ""),
        ("-x/y", ""),
        ("", ""),
    ],
)
def test_the_hint_fetches_what_is_missing(shop: Shop, ref: str, command: str) -> None:
    assert problem_of(lambda: at(shop, ref), NotFoundError)[2] == command


def test_a_shallow_clone_says_what_to_fetch(shop: Shop, tmp_path: Path) -> None:
    git(shop.root, "checkout", "-q", "-b", "work")
    shop.edit(FILE, ("version: 1.0.0", "version: 1.1.0"))
    commit(shop)
    git(shop.root, "checkout", "-q", "main")
    shop.write("notes.md", "x")
    commit(shop)
    clone = tmp_path / "clone"
    options = ("--depth=1", "--no-single-branch", "--branch=work")
    subprocess.run(["git", "clone", "-q", *options, shop.root.as_uri(), str(clone)], check=True)
    code, _, hint = problem_of(lambda: at(Shop(clone), "origin/main", fork=True), NotFoundError)
    assert (code, hint) == ("no-merge-base", "git fetch --unshallow; in a workflow of GitHub: fetch-depth: 0")
    assert version_of(at(Shop(clone), "origin/main"), DRAFT) == "1.0.0"
    git(clone, "fetch", "-q", "--unshallow")
    assert version_of(at(Shop(clone), "origin/main", fork=True), DRAFT) == "1.0.0"


def test_histories_without_a_common_commit(shop: Shop) -> None:
    other = git(shop.root, "commit-tree", "HEAD^{tree}", "-m", "alone").strip()
    code, _, hint = problem_of(lambda: at(shop, other, fork=True), NotFoundError)
    assert (code, hint) == ("no-merge-base", f"merge {other} first")


def test_without_git_there_is_no_revision(plain_shop: Shop) -> None:
    assert problem_of(lambda: at(plain_shop, "HEAD"), NotFoundError)[0] == "no-repository"
    assert folder_in_git(Workspace(plain_shop.root)) == ""


def damage_record(shop: Shop) -> None:
    shop.edit("releases/registry/000001.json", ("rules", "rulez"))


def drop_record(shop: Shop) -> None:
    (shop.root / "releases/registry/000001.json").unlink()


def link_record(shop: Shop) -> None:
    path = shop.root / "releases/registry/000001.json"
    path.rename(shop.root / "moved.json")
    path.symlink_to("../../moved.json")


def add_stranger(shop: Shop) -> None:
    shop.write("releases/registry/notes.txt", "x")


@pytest.mark.parametrize("damage", [damage_record, drop_record, link_record, add_stranger])
def test_a_damaged_journal_there_is_named_with_the_revision(released: Shop, damage: Callable[[Shop], None]) -> None:
    damage(released)
    commit(released)
    code, path, _ = problem_of(lambda: at(released, "HEAD").catalog(), IntegrityError)
    assert (code, path) == ("journal-damaged", "HEAD:releases/registry/000001.json")


@pytest.mark.parametrize("gone", [False, True])
def test_a_frozen_copy_there_is_checked(released: Shop, gone: bool) -> None:
    path = "registry/versions/support/refund/1.0.0.yaml"
    released.edit(path, ("refund", "refunt"))
    if gone:
        (released.root / path).unlink()
    commit(released)
    revision = at(released, "HEAD")
    published = revision.catalog().published[Ref(REFUND, parse_version("1.0.0"))]
    found = problem_of(lambda: revision.published(published), IntegrityError)
    assert found[:2] == ("frozen-changed", f"HEAD:{path}")
