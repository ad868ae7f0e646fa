"""The Git edge, against real repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gits import git_in_front
from pawl.errors import ConflictError, InvalidError, NotFoundError, PawlError
from pawl.io import steps
from pawl.io.files import read_bounded
from pawl.io.git import Repository, find
from pawl.io.git import index as git_index
from pawl.io.git import objects as git_objects

GitCommand = Callable[..., str]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_index, "INDEX_LOCK_SECONDS", 0.1)


def code_of(action: Callable[[], object], kind: type[PawlError]) -> str:
    with pytest.raises(kind) as caught:
        action()
    return caught.value.problems[0].code


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


# --- finding a repository


def test_outside_of_git_there_is_none(tmp_path: Path, home: Path) -> None:
    assert find(tmp_path) is None
    assert find(tmp_path / "not" / "there") is None


def test_the_root_is_found_from_anywhere_inside(root: Path, tmp_path: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    linked = tmp_path / "linked"
    linked.symlink_to(root / "a")
    for folder in (root, root / "a" / "b", root / "a" / "missing" / "below", linked / "b"):
        found = find(folder)
        assert found is not None
        assert found.root == root


def test_a_bare_repository_and_the_inside_of_git_are_no_work_tree(root: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare.git")], check=True)
    assert find(tmp_path / "bare.git") is None
    assert find(root / ".git") is None


def test_a_repository_that_git_refuses_is_not_taken_for_none(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / ".git").write_text("gitdir: /nowhere\n", encoding="utf-8")
    assert code_of(lambda: find(folder), InvalidError) == "git-failed"
    (folder / ".git").unlink()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".git" / "config").write_text("[core\n", encoding="utf-8")
    assert code_of(lambda: find(folder), InvalidError) == "git-failed"


def test_git_that_is_not_installed_is_said(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert code_of(lambda: find(root), InvalidError) == "git-missing"


# --- who and where


@pytest.mark.parametrize(
    "name", ["Ada Example", "O'Brien; rm -rf $HOME", "--author=x", "Ægir Ünïcode 😀", 'a "b" \\c', "%s"]
)
def test_the_identity_is_as_git_has_it(repository: Repository, git: GitCommand, name: str) -> None:
    git("config", "user.name", name)
    git("config", "user.email", "a+b@example.invalid")
    assert repository.identity() == (name, "a+b@example.invalid")
    write(repository.root, "first", "x\n")
    repository.commit([Path("first")], "m")
    assert git("log", "-1", "--format=%an <%ae> %cn") == f"{name} <a+b@example.invalid> {name}\n"


def test_the_environment_may_say_who_commits(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Grace Example")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "grace@example.invalid")
    assert repository.identity() == ("Grace Example", "grace@example.invalid")


def test_an_address_from_the_environment_is_one(
    root: Path, home: Path, git: GitCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".gitconfig").write_text("[user]\n\tname = Ada Example\n", encoding="utf-8")
    monkeypatch.setenv("EMAIL", "ada@elsewhere.invalid")
    found = find(root)
    assert found is not None
    assert found.identity() == ("Ada Example", "ada@elsewhere.invalid")
    found.commit([write(root, "a", "1")], "m")
    assert git("log", "-1", "--format=%an %ae %ce") == "Ada Example ada@elsewhere.invalid ada@elsewhere.invalid\n"


def test_git_is_asked_once_what_it_is_set_to(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = git_in_front(tmp_path / "front", monkeypatch)
    assert repository.identity() is not None
    for text in ("1", "2"):
        repository.commit([write(repository.root, "a", text)], "m")
    calls.stop()
    assert calls.commands().count("var") == 1


def test_nobody_is_not_guessed(repository: Repository, home: Path) -> None:
    (home / ".gitconfig").write_text("", encoding="utf-8")
    assert repository.identity() is None
    head = repository.head()
    write(repository.root, "first", "x\n")
    assert code_of(lambda: repository.commit([Path("first")], "m"), InvalidError) == "git-no-identity"
    assert repository.head() == head


def test_branch_and_head(root: Path, git: GitCommand) -> None:
    repository = find(root)
    assert repository is not None
    assert (repository.branch(), repository.head()) == ("main", None)
    write(root, "a", "1")
    first = repository.commit([root / "a"], "first")
    assert (repository.branch(), repository.head()) == ("main", first)
    git("checkout", "-q", "-b", "feature/ümlaut")
    assert repository.branch() == "feature/ümlaut"
    git("checkout", "-q", "--detach")
    assert (repository.branch(), repository.head()) == (None, first)


# --- commits


def test_exactly_the_named_files_are_committed(repository: Repository, git: GitCommand) -> None:
    root = repository.root
    write(root, "staged", "staged\n")
    git("add", "staged")
    write(root, "kept", "staged\n")
    git("add", "kept")
    write(root, "kept", "and changed again\n")
    write(root, "untracked", "x")
    changed = write(root, "first", "changed\n")
    added_name = "rel eases/ä/000001.json"
    added = write(root, added_name, "{}\n")
    new = repository.commit([changed, added, Path("never-there")], "Release\n\nwith a body")
    assert new == repository.head()
    assert git("show", "--name-only", "--format=", "-z", new).split("\x00") == ["first", added_name, ""]
    assert git("log", "-1", "--format=%B").strip() == "Release\n\nwith a body"
    assert git("status", "--porcelain") == "MM kept\nA  staged\n?? untracked\n"


def test_deleted_files_are_deleted(repository: Repository, git: GitCommand) -> None:
    (repository.root / "first").unlink()
    repository.commit([repository.root / "first"], "gone")
    assert git("ls-tree", "--name-only", "HEAD") == "kept\n"
    assert git("status", "--porcelain") == ""


def test_the_first_commit(root: Path, git: GitCommand) -> None:
    repository = find(root)
    assert repository is not None
    write(root, "other", "staged")
    git("add", "other")
    assert code_of(lambda: repository.commit([Path("missing")], "m"), NotFoundError) == "file-not-found"
    assert repository.head() is None
    new = repository.commit([write(root, "a", "1")], "first")
    assert git("log", "--format=%H %P", "main").split() == [new]
    assert git("ls-tree", "--name-only", "HEAD") == "a\n"
    assert git("status", "--porcelain") == "A  other\n"


def test_a_detached_head_moves_alone(repository: Repository, git: GitCommand) -> None:
    main = git("rev-parse", "main")
    git("checkout", "-q", "--detach")
    new = repository.commit([write(repository.root, "a", "1")], "m")
    assert git("rev-parse", "HEAD").strip() == new
    assert git("rev-parse", "main") == main
    assert git("status", "--porcelain") == ""


def test_a_linked_work_tree_has_its_own_branch_and_index(
    repository: Repository, git: GitCommand, tmp_path: Path
) -> None:
    other = tmp_path / "other tree"
    git("worktree", "add", "-q", "-b", "side", str(other))
    linked = find(other)
    assert linked is not None
    main = git("rev-parse", "main")
    new = linked.commit([write(other, "a", "1")], "m")
    assert git("rev-parse", "side").strip() == new
    assert git("rev-parse", "main") == main
    assert git("status", "--porcelain", folder=other) == ""
    assert git("status", "--porcelain") == ""


def test_nothing_to_commit_is_no_commit(repository: Repository, git: GitCommand) -> None:
    head = repository.head()
    assert repository.commit([Path("first")], "m") == head
    assert repository.commit([], "m") == head
    assert git("rev-list", "--count", "HEAD") == "1\n"


def test_the_executable_bit_is_kept(repository: Repository, git: GitCommand) -> None:
    path = write(repository.root, "run", "#!/bin/sh\n")
    path.chmod(0o755)
    repository.commit([path], "m")
    assert git("ls-tree", "HEAD", "run").startswith("100755")


def test_no_hook_is_run(repository: Repository, git: GitCommand) -> None:
    hooks = repository.root / ".git" / "hooks"
    for name in (
        "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change",
    ):  # fmt: skip
        hook = write(hooks, name, f"#!/bin/sh\ntouch '{repository.root}/ran-{name}'\nexit 1\n")
        hook.chmod(0o755)
    new = repository.commit([write(repository.root, "a", "1")], "m")
    assert repository.head() == new
    assert list(repository.root.glob("ran-*")) == []
    assert repository.uncommitted([Path("a")]) == ()


def test_what_a_calling_hook_sets_is_not_followed(
    repository: Repository, git: GitCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    subprocess.run(["git", "init", "-q", str(elsewhere)], check=True)
    before = sorted(str(path) for path in elsewhere.rglob("*"))
    for name, value in {
        "GIT_DIR": str(elsewhere / ".git"),
        "GIT_WORK_TREE": str(elsewhere),
        "GIT_INDEX_FILE": str(elsewhere / ".git" / "other-index"),
        "GIT_OBJECT_DIRECTORY": str(elsewhere / ".git" / "objects"),
        "GIT_COMMON_DIR": str(elsewhere / ".git"),
        "GIT_NAMESPACE": "x",
        "GIT_PREFIX": "sub/",
        "GIT_LITERAL_PATHSPECS": "0",
        "GIT_CONFIG_PARAMETERS": "'user.name=Mallory'",
    }.items():
        monkeypatch.setenv(name, value)
    found = find(repository.root)
    assert found is not None
    assert found.root == repository.root
    assert found.identity() == ("Ada Example", "ada@example.invalid")
    path = write(repository.root, "a", "1")
    assert found.uncommitted([path]) == (path,)
    new = found.commit([path], "m")
    assert found.read_at(new, "a") == b"1"
    found.close()
    monkeypatch.undo()
    assert sorted(str(path) for path in elsewhere.rglob("*")) == before


def test_a_commit_from_inside_a_running_commit_is_a_conflict(repository: Repository, git: GitCommand) -> None:
    script = (
        "import sys; from pathlib import Path; from pawl.errors import ConflictError\n"
        "from pawl.io import git\n"
        "from pawl.io.git import index\n"
        "index.INDEX_LOCK_SECONDS = 0.1\n"
        "try:\n    git.find(Path('.')).commit([Path('other')], 'm')\n"
        "except ConflictError as error:\n    Path('said').write_text(error.problems[0].code)\n"
    )
    write(repository.root, "script.py", script)
    hook = write(repository.root / ".git" / "hooks", "pre-commit", f"#!/bin/sh\nexec '{sys.executable}' script.py\n")
    hook.chmod(0o755)
    write(repository.root, "other", "x")
    write(repository.root, "first", "changed\n")
    git("commit", "-q", "-a", "-m", "theirs")
    assert (repository.root / "said").read_text(encoding="utf-8") == "git-index-locked"
    assert git("log", "--format=%s") == "theirs\nstart\n"


@pytest.mark.parametrize(
    "name", ["-f", "--all", ":(glob)*", "*", "a\nb", "a\tb", 'q"uote', "sp ace", "üñï", "[a]", "\\back", "~x"]
)
def test_odd_file_names_are_only_names(repository: Repository, git: GitCommand, name: str) -> None:
    write(repository.root, "untouched", "x")
    path = write(repository.root, f"folder/{name}", "1")
    assert repository.uncommitted([path]) == (path,)
    new = repository.commit([path], "m")
    assert set(git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\x00")) == {
        "",
        "first",
        "kept",
        f"folder/{name}",
    }
    assert repository.uncommitted([path]) == ()
    assert repository.read_at(new, path) == b"1"
    assert repository.files_at(new, "folder") == (f"folder/{name}",)
    path.unlink()
    repository.commit([Path(f"folder/{name}")], "m")
    assert repository.read_at("HEAD", path) is None


def test_names_that_are_no_utf8(repository: Repository) -> None:
    name = os.fsdecode(b"odd-\xff")
    path = write(repository.root, name, "1")
    new = repository.commit([path], "m")
    assert repository.read_at(new, name) == b"1"
    assert name in repository.files_at(new)


@pytest.mark.parametrize(
    "message", ["-m", "--amend", "# comment", "a\x00b", "", "\ud800", "é\n\n\n", "x" * 100_000, "%s\r\n"]
)
def test_odd_messages_are_only_messages(repository: Repository, git: GitCommand, message: str) -> None:
    new = repository.commit([write(repository.root, "a", "1")], message)
    assert repository.head() == new
    assert git("rev-list", "--count", "HEAD") == "2\n"


def test_what_cannot_be_committed(repository: Repository, git: GitCommand, tmp_path: Path) -> None:
    root = repository.root
    (root / "link").symlink_to("first")
    (root / "folder").mkdir()
    (root / "out").symlink_to(tmp_path)
    write(tmp_path, "outside", "x")
    cases: list[tuple[Path, str]] = [
        (root / "link", "not-a-file"),
        (root / "folder", "not-a-file"),
        (root, "not-a-file"),
        (tmp_path / "outside", "path-outside"),
        (Path("../outside"), "path-outside"),
        (Path("out/outside"), "path-outside"),
        (Path(".git/config"), "path-outside"),
        (Path("a\x00b"), "path-outside"),
    ]
    head = repository.head()
    write(root, "first", "changed\n")
    for path, code in cases:
        assert code == code_of(lambda path=path: repository.commit([Path("first"), path], "m"), InvalidError)  # type: ignore[misc]
    assert repository.head() == head
    assert git("status", "--porcelain", "--untracked-files=no") == " M first\n"


def test_files_of_a_nested_repository_are_not_ours(repository: Repository, git: GitCommand) -> None:
    nested = repository.root / "nested"
    subprocess.run(["git", "init", "-q", str(nested)], check=True)
    path = write(nested, "deep/a", "1")
    assert code_of(lambda: repository.commit([path], "m"), InvalidError) == "nested-repository"
    write(nested, "a", "1")
    git("add", "a", folder=nested)
    git("commit", "-q", "-m", "theirs", folder=nested)
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(nested), "module")
    assert code_of(lambda: repository.commit([Path("module/a")], "m"), InvalidError) == "nested-repository"
    new = repository.commit([write(repository.root, "b", "1")], "m")
    assert repository.files_at(new) == ("b", "first", "kept")
    inner = find(nested / "deep")
    assert inner is not None
    assert inner.root == nested


def test_bytes_survive_line_end_conversion_where_attributes_say_so(repository: Repository, git: GitCommand) -> None:
    git("config", "core.autocrlf", "true")
    git("config", "core.safecrlf", "true")
    frozen = "a: |\r\n  x\r\nb: 1\n"
    paths = [
        write(repository.root, ".gitattributes", "registry/versions/** -text\n"),
        write(repository.root, "registry/versions/a/1.0.0.yaml", frozen),
        write(repository.root, "registry/versions/a/1.0.1.yaml", "a: 1\n"),
    ]
    new = repository.commit(paths, "m")
    assert repository.read_at(new, "registry/versions/a/1.0.0.yaml") == frozen.encode()
    assert repository.read_at(new, "registry/versions/a/1.0.1.yaml") == b"a: 1\n"
    assert repository.uncommitted(paths) == ()
    for path in paths[1:]:
        path.unlink()
    git("checkout", "-q", "--", ".")
    assert read_bounded(paths[1], limit=100) == frozen.encode()
    assert read_bounded(paths[2], limit=100) == b"a: 1\n"


def test_a_signed_commit_where_git_is_told_to_sign(repository: Repository, git: GitCommand, tmp_path: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("no ssh-keygen here")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for name, value in {"gpg.format": "ssh", "user.signingKey": f"{key}.pub", "commit.gpgSign": "true"}.items():
        git("config", name, value)
    new = repository.commit([write(repository.root, "a", "1")], "m")
    assert "\ngpgsig -----BEGIN SSH SIGNATURE-----" in git("cat-file", "commit", new)
    git("config", "user.signingKey", str(tmp_path / "missing.pub"))
    write(repository.root, "a", "2")
    assert code_of(lambda: repository.commit([Path("a")], "m"), InvalidError) == "git-failed"
    assert repository.head() == new


def test_other_object_formats(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "sha256"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(folder)], check=True)
    repository = find(folder)
    assert repository is not None
    first = repository.commit([write(folder, "a", "1")], "m")
    second = repository.commit([write(folder, "a", "2")], "m")
    assert (len(first), repository.head()) == (64, second)
    assert repository.read_at(first, "a") == b"1"
    repository.close()


def test_many_files_in_one_commit(repository: Repository) -> None:
    paths = [write(repository.root, f"many/{'x' * 100}{number}", "1") for number in range(1200)]
    assert repository.uncommitted(paths) == tuple(sorted(paths))
    new = repository.commit(paths, "m")
    assert len(repository.files_at(new, "many")) == 1200
    assert repository.uncommitted(paths) == ()


# --- conflicts, failures and kills


def test_a_held_index_is_a_conflict_and_nothing_is_written(repository: Repository, git: GitCommand) -> None:
    head = repository.head()
    path = write(repository.root, "a", "1")
    lock = repository.root / ".git" / "index.lock"
    lock.touch()
    assert code_of(lambda: repository.commit([path], "m"), ConflictError) == "git-index-locked"
    assert repository.head() == head
    lock.unlink()
    assert repository.uncommitted([path]) == (path,)
    repository.commit([path], "m")
    assert git("status", "--porcelain") == ""


@pytest.mark.parametrize("unborn", [False, True])
def test_the_branch_moves_back_if_the_index_cannot_follow(root: Path, git: GitCommand, unborn: bool) -> None:
    repository = find(root)
    assert repository is not None
    if not unborn:
        repository.commit([write(root, "first", "1")], "start")
    head = repository.head()
    path = write(root, "a", "1")
    lock = root / ".git" / "index.lock"

    def hold(name: str) -> None:
        if name == "git.update-index":
            lock.touch()

    steps.hook = hold
    assert code_of(lambda: repository.commit([path], "m"), ConflictError) == "git-index-locked"
    steps.hook = None
    lock.unlink()
    assert repository.head() == head
    assert repository.uncommitted([path]) == (path,)


def test_a_branch_that_moved_meanwhile_is_a_conflict(repository: Repository, git: GitCommand) -> None:
    path = write(repository.root, "a", "1")

    def move(name: str) -> None:
        if name == "git.update-ref":
            git("commit", "-q", "--allow-empty", "-m", "theirs")

    steps.hook = move
    assert code_of(lambda: repository.commit([path], "m"), ConflictError) == "git-branch-moved"
    steps.hook = None
    assert git("log", "--format=%s") == "theirs\nstart\n"
    assert repository.uncommitted([path]) == (path,)


def test_an_unfinished_merge_is_a_conflict(repository: Repository, git: GitCommand) -> None:
    git("checkout", "-q", "-b", "side")
    repository.commit([write(repository.root, "first", "side\n")], "side")
    git("checkout", "-q", "main")
    repository.commit([write(repository.root, "first", "main\n")], "main")
    git("merge", "side", check=False)
    path = write(repository.root, "a", "1")
    assert code_of(lambda: repository.commit([path], "m"), ConflictError) == "git-unfinished"
    git("merge", "--abort")
    repository.commit([path], "m")


def test_a_kill_at_any_step_leaves_the_old_or_the_new_commit(
    repository: Repository,
    git: GitCommand,
    steps_of: Callable[[Callable[[], object]], list[str]],
    killed_at: Callable[[int, Callable[[], object]], bool],
) -> None:
    def paths(number: int) -> list[Path]:
        return [write(repository.root, f"n{number}", "1"), write(repository.root, "first", f"{number}\n")]

    first = paths(1000)
    names = steps_of(lambda: repository.commit(first, "m"))
    assert names == [
        "git.write-blobs", "git.write-tree", "git.commit-tree", "git.update-ref", "git.update-index",
    ]  # fmt: skip
    for number in range(len(names)):
        old, changed = repository.head(), paths(number)
        assert killed_at(number, lambda changed=changed: repository.commit(changed, "m"))  # type: ignore[misc]
        moved = repository.head() != old
        assert moved == (names[number] == "git.update-index")
        assert set(repository.uncommitted(changed)) == set(changed)
        again = repository.commit(changed, "m")
        assert git("rev-parse", f"{again}^").strip() == old
        assert git("status", "--porcelain") == ""
    assert "dangling" not in git("fsck", "--no-dangling")


# --- reading


def test_reading_as_of_a_revision(repository: Repository, git: GitCommand) -> None:
    root = repository.root
    first = repository.commit([write(root, "a/b", "one"), write(root, "a/c", ""), write(root, "ab", "x")], "m")
    git("tag", "v1")
    second = repository.commit([write(root, "a/b", "two\n\n")], "m")
    for rev in (first, "v1", "HEAD^", "HEAD~1", first[:12], "main~1"):
        assert repository.read_at(rev, "a/b") == b"one"
    assert repository.read_at(second, root / "a" / "b") == b"two\n\n"
    assert repository.read_at("HEAD", "a/c") == b""
    assert repository.read_at("HEAD", "missing") is None
    assert repository.read_at("HEAD", "a") is None
    assert repository.read_at("HEAD", "a/b/below") is None
    assert repository.read_at("HEAD", "a/b") == b"two\n\n"
    assert repository.files_at("v1", "a") == ("a/b", "a/c")
    assert repository.files_at("v1") == ("a/b", "a/c", "ab", "first", "kept")
    assert repository.files_at("HEAD", "nowhere") == ()
    assert code_of(lambda: repository.read_at("HEAD", "../x"), InvalidError) == "path-outside"


def test_reading_is_bounded(repository: Repository) -> None:
    new = repository.commit([write(repository.root, "large", "x" * 1000), write(repository.root, "small", "x")], "m")
    assert code_of(lambda: repository.read_at(new, "large", limit=999), InvalidError) == "too-large"
    assert repository.read_at(new, "small", limit=1) == b"x"
    assert repository.read_at(new, "large", limit=1000) == b"x" * 1000
    new = repository.commit([write(repository.root, "line\nbreak", "x" * 10)], "m")
    assert code_of(lambda: repository.read_at(new, "line\nbreak", limit=9), InvalidError) == "too-large"


def test_a_reader_that_was_cut_off_starts_again(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    new = repository.commit([write(repository.root, "a", "1" * 100_000)], "m")
    assert repository.read_at(new, "first") == b"first\n"

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(git_objects, "refuse_larger", interrupt)
        with pytest.raises(KeyboardInterrupt):
            repository.read_at(new, "a")
    assert repository.read_at(new, "first") == b"first\n"


def test_a_commit_is_seen_by_the_process_that_is_kept(repository: Repository, git: GitCommand) -> None:
    assert repository.read_at("HEAD", "first") == b"first\n"
    repository.commit([write(repository.root, "first", "new\n")], "m")
    assert repository.read_at("HEAD", "first") == b"new\n"
    git("gc", "-q")
    assert repository.read_at("HEAD", "first") == b"new\n"
    repository.close()
    repository.close()
    assert repository.read_at("HEAD", "first") == b"new\n"


@pytest.mark.parametrize(
    "rev",
    ["", "-h", "--all", "--output=x", "missing", "HEAD:first", "HEAD..main", "a\nb", "\x00", "0" * 39, "x" * 10_000],
)
def test_revisions_that_name_no_commit(repository: Repository, rev: str) -> None:
    assert repository.resolve(rev) is None
    assert code_of(lambda: repository.read_at(rev, "first"), NotFoundError) == "unknown-revision"
    assert code_of(lambda: repository.files_at(rev), NotFoundError) == "unknown-revision"


def test_a_commit_that_is_not_here(repository: Repository) -> None:
    assert repository.read_at("0" * 40, "first") is None
    assert code_of(lambda: repository.files_at("0" * 40), InvalidError) == "git-failed"


def test_uncommitted_files(repository: Repository, git: GitCommand) -> None:
    root = repository.root
    write(root, ".gitignore", "ignored\n")
    git("add", ".gitignore")
    git("commit", "-q", "-m", "m")
    new = write(root, "folder/new", "1")
    ignored = write(root, "folder/ignored", "1")
    changed = write(root, "first", "changed\n")
    staged = write(root, "folder/staged", "1")
    git("add", "folder/staged")
    (root / "kept").unlink()
    assert repository.uncommitted([root / "folder"]) == (ignored, new, staged)
    assert repository.uncommitted([changed, Path("kept"), Path("missing"), Path(".gitignore")]) == (
        changed,
        root / "kept",
    )
    assert repository.uncommitted([]) == ()
    assert len(repository.uncommitted([root])) == 5
