"""What check remembers of files: it saves time, changes no answer, and is never believed where it was brought along."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pawl.io import strict_yaml
from pawl.operations import sources
from pawl.operations.source_cache import open_cache
from pawl.workspace import Workspace
from support import Shop, git

DRAFT = "procedures/support/refund-draft.yaml"
CACHE = ".pawl/sources"
EVIL = "kind: prompt\nkind: tool\n"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every file that is parsed."""
    seen: list[bytes] = []
    load = strict_yaml.load

    def counted(data: bytes) -> object:
        seen.append(data)
        return load(data)

    monkeypatch.setattr(sources, "load", counted)
    return seen


def parsed(shop: Shop, reads: list[bytes], *words: str, code: int = 0) -> set[str]:
    """Return the files below procedures/ and conformance/ that a command parses."""
    reads.clear()
    shop.pawl(*words, code=code)
    files = {path: data for path, data in shop.files("procedures", "conformance").items() if data in reads}
    return set(files)


def test_only_what_changed_is_parsed_again(shop: Shop, reads: list[bytes]) -> None:
    assert len(parsed(shop, reads, "check")) == 4
    assert parsed(shop, reads, "check") == set()
    shop.edit(DRAFT, ("You draft", "You write"))
    assert parsed(shop, reads, "check") == {DRAFT}
    assert parsed(shop, reads, "check") == set()


def test_answers_are_the_same_with_it(shop: Shop) -> None:
    shop.second()
    shop.edit("conformance/refund.yaml", ("{eligible: true}", "{eligible: true, reason: 5}"))
    first = shop.pawl("check", code=1)
    assert (shop.root / CACHE).exists()
    assert first == shop.pawl("check", code=1)


def test_what_writes_reads_everything_itself(shop: Shop, reads: list[bytes]) -> None:
    shop.adopt()
    shop.pawl("check")
    assert len(parsed(shop, reads, "publish")) == 4


def test_a_file_that_does_not_read_is_never_remembered(shop: Shop) -> None:
    shop.write("procedures/support/broken.yaml", EVIL)
    assert shop.codes(shop.pawl("check", code=1)) == shop.codes(shop.pawl("check", code=1)) == ["duplicate-key"]


def poison(shop: Shop) -> None:
    """Have the cache say that a broken file is the draft."""
    shop.pawl("check")
    cache = open_cache(Workspace(shop.root))
    good = cache.get("procedure", shop.read(DRAFT).encode())
    assert good is not None
    cache.add("procedure", EVIL.encode(), good)
    cache.save(Workspace(shop.root))
    shop.write(DRAFT, EVIL)


def tracked(shop: Shop) -> None:
    git(shop.root, "add", "-f", CACHE)
    git(shop.root, "commit", "-q", "-m", "mine")


def tracked_in_capitals(shop: Shop) -> None:
    text = git(shop.root, "hash-object", "-w", CACHE).strip()
    git(shop.root, "update-index", "--add", "--cacheinfo", f"100644,{text},.PAWL/sources")
    git(shop.root, "commit", "-q", "-m", "mine")


def linked(shop: Shop) -> None:
    (shop.root / ".pawl").rename(shop.root / "elsewhere")
    (shop.root / ".pawl").symlink_to("elsewhere")


def linked_file(shop: Shop) -> None:
    (shop.root / CACHE).rename(shop.root / "elsewhere")
    (shop.root / CACHE).symlink_to(shop.root / "elsewhere")


@pytest.mark.parametrize("brought", [tracked, tracked_in_capitals, linked, linked_file])
def test_a_cache_that_was_brought_along_is_not_believed(shop: Shop, brought: Callable[[Shop], None]) -> None:
    poison(shop)
    shop.pawl("check")  # what the cache of this very machine says is believed, which is why the next lines matter
    brought(shop)
    assert "duplicate-key" in shop.codes(shop.pawl("check", code=1))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"support/refund-draft", b"support/refund-drift"),
        lambda data: data.replace(b"\t", b" "),
        lambda data: data.replace(b"pawl ", b"pawl 0", 1),
        lambda data: data[:0],
        lambda data: b"\xff\xfe\n" * len(data),
        lambda data: data + b"\n\n\t\t\t\n",
    ],
    ids=["cut", "changed", "no-fields", "another-pawl", "empty", "no-text", "more"],
)
def test_damage_costs_time_alone(shop: Shop, damage: Callable[[bytes], bytes]) -> None:
    first = shop.pawl("check")
    path = shop.root / CACHE
    path.write_bytes(damage(path.read_bytes()))
    assert first == shop.pawl("check")
    assert first == shop.pawl("check")


def test_a_folder_that_cannot_be_written_is_no_error(shop: Shop) -> None:
    (shop.root / ".pawl").mkdir()
    (shop.root / CACHE).mkdir()
    assert shop.pawl("check")["status"] == "passed"


def test_files_that_are_gone_are_forgotten(plain_shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(plain_shop.root / CACHE)
    sizes = []
    for number in range(40):
        padding = "x" * 5_000
        text = plain_shop.read(DRAFT).partition("# ")[0]
        plain_shop.write(DRAFT, f"{text}# {number} {padding}\n")
        plain_shop.pawl("check")
        sizes.append(len(path.read_bytes().splitlines()))
    assert sizes[-1] < 60
