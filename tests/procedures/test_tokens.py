"""Counting tokens: an estimate that needs nothing, and exact counting where a package is there for it."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pawl.procedures.tokens import ENCODINGS, ESTIMATE, TokenCount, estimate, exact_counter


class Tokenizer:
    """Counts words, and refuses what is no text that UTF-8 can hold, as the real ones do."""

    def count(self, text: str) -> int:
        text.encode()
        return len(text.split())


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of tokenizers that is installed."""
    module = ModuleType("rs_bpe.bpe")
    module.openai = SimpleNamespace(**dict.fromkeys(ENCODINGS, Tokenizer))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "rs_bpe", ModuleType("rs_bpe"))
    monkeypatch.setitem(sys.modules, "rs_bpe.bpe", module)
    monkeypatch.setattr("importlib.metadata.version", lambda _: "9.9")


@pytest.mark.parametrize(
    ("text", "wanted"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("é", 1), ("😀", 2), ("\ud800", 1)]
)
def test_the_estimate_is_a_third_of_the_bytes_rounded_up(text: str, wanted: int) -> None:
    assert estimate(text) == wanted


@given(st.text(), st.text())
def test_the_estimate_never_falls_when_text_is_added(first: str, second: str) -> None:
    assert max(estimate(first), estimate(second)) <= estimate(first + second) <= estimate(first) + estimate(second)


def test_a_count_says_how_it_was_found_out() -> None:
    assert ESTIMATE.total(["abcd", "a"]).as_dict() == {
        "tokens": 3,
        "method": "estimate",
        "encoding": None,
        "package": None,
        "package_version": None,
    }


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_exact_counting_names_encoding_and_package(encoding: str) -> None:
    counter = exact_counter(encoding)
    assert counter is not None
    assert counter.total(["one two", "three"]) == TokenCount(
        tokens=3, method="exact", encoding=encoding, package="rs-bpe", package_version="9.9"
    )


@pytest.mark.usefixtures("package")
def test_text_that_utf_8_cannot_hold_is_counted_too() -> None:
    counter = exact_counter()
    assert counter is not None
    assert counter.count("one \ud800 two") == 3


def test_without_the_package_there_is_no_exact_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rs_bpe", None)
    monkeypatch.setitem(sys.modules, "rs_bpe.bpe", None)
    assert exact_counter() is None


@pytest.mark.usefixtures("package")
def test_a_module_of_no_known_package_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr("importlib.metadata.version", missing)
    assert exact_counter() is None


@pytest.mark.parametrize("encoding", ["", "gpt2", "O200K_BASE", "__class__"])
def test_another_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(ValueError, match="no encoding that is known here: o200k_base, cl100k_base"):
        exact_counter(encoding)


def test_the_real_package_agrees_with_known_counts() -> None:
    pytest.importorskip("rs_bpe.bpe")
    counter = exact_counter()
    assert counter is not None
    assert (counter.method, counter.package) == ("exact", "rs-bpe")
    assert counter.count("hello world") == 2
    assert counter.count("<|endoftext|>") > 1
    assert counter.count("") == 0
