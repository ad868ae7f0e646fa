"""What is read of a repository without asking Git is what Git says, and Git is asked wherever it is kept otherwise."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from gits import git_in_front
from pawl.errors import InvalidError
from pawl.io.git import Repository, find
from pawl.io.git.loose import head_of, is_plain, loose
from pawl.io.git.objects import Objects
from pawl.io.git.place import Place, locate
from pawl.io.git.staged import Staged

GitCommand = Callable[..., str]


@pytest.fixture
def place(repository: Repository) -> Place:
    found = locate(repository.root)
    assert found is not None
    return found


def filled(root: Path, git: GitCommand) -> None:
    for name in ("a", "deep/er/b", "deep/er-b", "deep/er.b", "é/x y"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
    (root / "link").symlink_to("a")
    git("add", "-A")
    git("commit", "-q", "-m", "filled")


def packed(place: Place, git: GitCommand) -> None:
    git("gc", "-q", "--prune=now")
    assert not list((place.common / "objects").glob("??/*"))


def nothing(_place: Place, _git: GitCommand) -> None:
    """Everything in files of its own."""


def detached(_place: Place, git: GitCommand) -> None:
    git("checkout", "-q", "--detach")


def borrowed(place: Place, _git: GitCommand) -> None:
    objects = place.common / "objects"
    (place.common / "elsewhere").mkdir()
    for folder in objects.glob("??"):
        folder.rename(place.common / "elsewhere" / folder.name)
    (objects / "info").mkdir(exist_ok=True)
    (objects / "info" / "alternates").write_text(f"{place.common / 'elsewhere'}\n", encoding="utf-8")


@pytest.mark.parametrize("kept", [nothing, packed, detached, borrowed], ids=lambda kept: kept.__name__)
def test_what_head_holds_is_what_git_says(place: Place, git: GitCommand, kept: Callable[..., None]) -> None:
    filled(place.root, git)
    kept(place, git)
    objects = Objects(place)
    head = objects.head()
    assert head is not None
    assert head.id == git("rev-parse", "HEAD").strip()
    tree = git("rev-parse", "HEAD^{tree}").strip()
    for row in git("ls-tree", "-r", "-t", "-z", "HEAD").split("\x00"):
        about, _, name = row.partition("\t")
        if name:
            mode, _, object_id = about.split()
            assert objects.entry(tree, name.encode()) == (mode.removeprefix("0").encode(), object_id)
    for missing in (b"missing", b"deep/missing", b"a/below", b"link/x", b"deep/er/", b"", b"dee"):
        assert objects.entry(tree, missing) is None
    objects.close()


def test_loose_objects_are_read_without_git_and_packed_ones_are_not(place: Place, git: GitCommand) -> None:
    filled(place.root, git)
    ids = git("rev-list", "--objects", "--no-object-names", "HEAD").split()
    for object_id in ids:
        found = loose(place, object_id)
        assert found is not None
        assert (found.kind, len(found.data)) == (
            git("cat-file", "-t", object_id).strip(),
            int(git("cat-file", "-s", object_id)),
        )
    assert head_of(place) == ids[0]
    packed(place, git)
    assert [loose(place, object_id) for object_id in ids] == [None] * len(ids)
    assert head_of(place) is None


@pytest.mark.parametrize("odd", ["other", "cut", "longer", "no object", "empty", "large"])
def test_a_damaged_object_is_never_believed(
    place: Place, git: GitCommand, odd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(place.root, git)
    tree = git("rev-parse", "HEAD:deep").strip()
    path = place.common / "objects" / tree[:2] / tree[2:]
    other = git("rev-parse", "HEAD:deep/er").strip()
    whole = zlib.decompress(path.read_bytes())
    if odd == "large":
        monkeypatch.setattr("pawl.io.git.loose._MOST_BYTES", len(whole) - 1)
        assert loose(place, tree) is None
        return
    path.chmod(0o644)
    path.write_bytes(
        {
            "other": (place.common / "objects" / other[:2] / other[2:]).read_bytes(),
            "cut": path.read_bytes()[:-6],
            "longer": zlib.compress(whole + b"x"),
            "no object": zlib.compress(b"folder 3\x00abc"),
            "empty": b"",
        }[odd]
    )
    assert loose(place, tree) is None
    if odd == "other":  # Git itself believes it
        return
    repository = find(place.root)
    assert repository is not None
    (place.root / "deep" / "er" / "b").write_bytes(b"2")
    head = repository.head()
    with pytest.raises(InvalidError):
        repository.commit([Path("deep/er/b")], "m")
    assert repository.head() == head


@pytest.mark.parametrize("kept", ["loose", "packed"])
def test_objects_that_stand_for_others_are_for_git_to_read(place: Place, git: GitCommand, kept: str) -> None:
    filled(place.root, git)
    assert is_plain(place)
    head = git("rev-parse", "HEAD").strip()
    git("replace", head, git("commit-tree", "HEAD~1^{tree}", "-m", "other").strip())
    if kept == "packed":
        git("pack-refs", "--all", "--prune")
    assert not is_plain(place)
    objects = Objects(place)
    found = objects.head()
    objects.close()
    assert found is not None
    assert found.data.endswith(b"\n\nother\n")


@pytest.mark.parametrize("text", ["ref: refs/heads/missing\n", "ref: refs/tags/x\n", "nothing\n", "0" * 39, ""])
def test_a_head_that_names_no_commit_by_a_file_is_for_git(place: Place, text: str) -> None:
    (place.git_dir / "HEAD").write_text(text, encoding="utf-8")
    assert head_of(place) is None


def test_a_branch_that_stands_for_another_is_for_git(place: Place, git: GitCommand) -> None:
    git("branch", "real")
    git("symbolic-ref", "refs/heads/main", "refs/heads/real")
    assert head_of(place) is None
    repository = find(place.root)
    assert repository is not None
    (place.root / "a").write_bytes(b"1")
    new = repository.commit([Path("a")], "m")
    assert git("rev-parse", "real").strip() == new


# --- the index


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("format_", ["sha1", "sha256"])
def test_entries_of_an_index_are_those_that_git_shows(home: Path, tmp_path: Path, version: str, format_: str) -> None:
    root = tmp_path / "indexed"
    subprocess.run(["git", "init", "-q", f"--object-format={format_}", str(root)], check=True)

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout

    for number in range(300):
        (root / f"folder{number % 7}").mkdir(exist_ok=True)
        (root / f"folder{number % 7}" / ("n" * (number % 90) + str(number))).write_bytes(str(number).encode())
    git("add", "-A")
    if version == "3":
        (root / "later").touch()
        git("add", "--intent-to-add", "later")
    git("update-index", f"--index-version={version}")
    place = locate(root)
    assert place is not None
    staged = Staged(place, 20 if format_ == "sha1" else 32)
    assert staged.whole == (version != "4")
    for row in git("ls-files", "--stage", "-z").split("\x00"):
        about, _, name = row.partition("\t")
        if name and name != "later":
            assert staged.blob(name.encode()) == (about.split()[1] if staged.whole else None)
    assert staged.blob(b"later") is None
    assert staged.blob(b"folder1") is None
    assert staged.blob(b"older1/1") is None
    assert staged.blob(b"x" * 5000) is None


def test_entries_that_are_like_no_others_are_for_git(place: Place, git: GitCommand) -> None:
    assert Staged(place, 20).blob(b"first") is not None
    for assumed in ("--assume-unchanged", "--skip-worktree"):
        git("update-index", assumed, "first")
        assert Staged(place, 20).blob(b"first") is None
        git("update-index", assumed.replace("--", "--no-"), "first")
    assert Staged(place, 20).blob(b"first") is not None
    (place.git_dir / "index").unlink()
    assert (Staged(place, 20).whole, Staged(place, 20).blob(b"first")) == (True, None)
    (place.git_dir / "index").mkdir()
    assert (Staged(place, 20).whole, Staged(place, 20).blob(b"first")) == (False, None)


@pytest.mark.parametrize("size", [0, 10, 60, 73, 75, 90, 140])
def test_an_index_that_is_cut_off_is_for_git_to_judge(place: Place, git: GitCommand, size: int) -> None:
    git("update-index", "--skip-worktree", "first")
    many = [b"first", *(b"%d" % number for number in range(50))]
    assert [entry.name for entry in Staged(place, 20).hidden(many)] == [b"first"]
    index = place.git_dir / "index"
    index.write_bytes(index.read_bytes()[:size])
    for names in (many, [b"first"]):
        assert [entry.name for entry in Staged(place, 20).hidden(names)] in ([], [b"first"])


def sparse(git: GitCommand) -> None:
    git("sparse-checkout", "set", "--cone", "--sparse-index", "a")


def split(git: GitCommand) -> None:
    git("update-index", "--split-index")


def shorter(git: GitCommand) -> None:
    git("update-index", "--index-version=4")


@pytest.mark.parametrize("form", [sparse, split, shorter], ids=lambda form: form.__name__)
def test_settled_files_are_seen_in_every_form_of_an_index(
    place: Place, git: GitCommand, form: Callable[[GitCommand], None]
) -> None:
    for name in ("a/x", "b/c/x"):
        (place.root / name).parent.mkdir(parents=True)
        (place.root / name).write_bytes(name.encode())
    git("add", "-A")
    git("commit", "-q", "-m", "two folders")
    form(git)
    repository = find(place.root)
    assert repository is not None
    assert not Staged(place, 20).whole
    assert repository.unsettled([place.root / "a" / "x"]) == ()
    assert repository.unsettled([place.root / "a" / "y", place.root / "first"]) == (place.root / "a" / "y",)
    (place.root / "a" / "x").write_bytes(b"changed")
    assert repository.unsettled([place.root / "a" / "x"]) == (place.root / "a" / "x",)
    repository.close()


def test_reading_starts_no_process_in_a_usual_repository(
    place: Place, git: GitCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(place.root, git)
    repository = find(place.root)
    assert repository is not None
    calls = git_in_front(tmp_path / "front", monkeypatch)
    assert repository.unsettled([place.root / "deep/er/b", place.root / "a"]) == ()
    assert repository.holds("deep/er/b")
    assert repository.holds("link")
    assert not repository.holds("deep/er")
    assert not repository.holds("deep/missing")
    calls.stop()
    assert calls.commands() == []


def test_before_the_first_commit_nothing_is_settled_or_held(root: Path) -> None:
    repository = find(root)
    assert repository is not None
    (root / "a").write_bytes(b"1")
    assert repository.unsettled([root / "a"]) == (root / "a",)
    assert not repository.holds("a")
    repository.close()


@pytest.mark.parametrize("name", ["first", "new", "ignored", "deep/new"])
def test_files_unlike_head_are_told_without_git_where_their_bytes_decide(
    repository: Repository, git: GitCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = repository.root / name
    path.parent.mkdir(exist_ok=True)
    (repository.root / ".git" / "info" / "exclude").write_text("ignored\n", encoding="utf-8")
    path.write_bytes(b"other\n")
    calls = git_in_front(tmp_path / "front", monkeypatch)
    kept = repository.root / "kept"
    assert repository.unlike_head([path, kept]) == (path,) == repository.uncommitted([path, kept])
    assert repository.unlike_head([kept]) == ()
    calls.stop()
    assert calls.commands().count("status") == 1  # that of the comparison
    git("add", "-f", name)
    assert repository.unlike_head([path, kept]) == (path,)
    git("commit", "-q", "-m", "m")
    assert repository.unlike_head([path, kept]) == ()


def test_files_unlike_head_are_asked_of_git_where_more_than_bytes_counts(
    repository: Repository, git: GitCommand
) -> None:
    root = repository.root
    git("config", "filter.loud.clean", "tr a-z A-Z")
    git("config", "core.autocrlf", "true")
    (root / ".gitattributes").write_text("loud filter=loud\n", encoding="utf-8")
    (root / "loud").write_bytes(b"quiet\n")
    (root / "lines").write_bytes(b"a\r\nb\r\n")
    git("add", "-A")
    git("commit", "-q", "-m", "m")
    paths = [root / name for name in ("loud", "lines")]
    assert repository.unsettled(paths) == tuple(paths)
    assert repository.unlike_head(paths) == ()
    (root / "lines").unlink()
    (root / "loud").write_bytes(b"noisy\n")
    assert repository.unlike_head(paths) == (root / "lines", root / "loud")
