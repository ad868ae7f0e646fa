"""Counting tokens without a network: an estimate that is above the true count for prose, or exactly where asked.

- The estimate needs nothing and is the same everywhere, so it is what budgets are held against.
- Exact counting needs the extra ``tokens`` (rs-bpe), which carries the encodings in itself and fetches nothing. It
  takes special tokens for the text that they are. No such package knows the current encodings of other vendors.
- What was counted says how: method, encoding, package and its version. Counts never enter a digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pawl.values import dataclass

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from typing import Any, Literal

BYTES_PER_TOKEN = 3
"""Prose has about 4.3 bytes a token in cl100k and o200k; dense JSON about 1.8, for which the estimate is too low."""
ENCODINGS = ("o200k_base", "cl100k_base")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """How many tokens texts have, and how that was found out; what messages cost beside their text is not counted."""

    tokens: int
    method: Literal["estimate", "exact"]
    encoding: str | None = None
    package: str | None = None
    package_version: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "tokens": self.tokens,
            "method": self.method,
            "encoding": self.encoding,
            "package": self.package,
            "package_version": self.package_version,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """A way of counting."""

    count: Callable[[str], int]
    method: Literal["estimate", "exact"]
    encoding: str | None = None
    package: str | None = None
    package_version: str | None = None

    def total(self, texts: Iterable[str]) -> TokenCount:
        """Return the tokens of several texts, each counted by itself."""
        return TokenCount(
            tokens=sum(self.count(text) for text in texts),
            method=self.method,
            encoding=self.encoding,
            package=self.package,
            package_version=self.package_version,
        )


def estimate(text: str) -> int:
    """Return the UTF-8 length divided by three, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


ESTIMATE = Counter(count=estimate, method="estimate")


def exact_counter(encoding: str = ENCODINGS[0]) -> Counter | None:
    """Return a way of counting exactly, or None without the extra ``tokens``; ``ValueError`` for another encoding."""
    from importlib import import_module  # noqa: PLC0415 - as below
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow, and estimates need none

    if encoding not in ENCODINGS:
        raise ValueError(f"{encoding[:60]!r} is no encoding that is known here: {', '.join(ENCODINGS)}")
    try:
        encodings = import_module("rs_bpe.bpe").openai
        installed = version("rs-bpe")
    except (ImportError, AttributeError, PackageNotFoundError):
        return None
    tokenizer = getattr(encodings, encoding)()

    def count(text: str) -> int:
        # Half of a surrogate pair has no bytes; it counts as the character that stands for what cannot be shown.
        return int(tokenizer.count(text.encode("utf-8", "replace").decode("utf-8")))

    return Counter(count=count, method="exact", encoding=encoding, package="rs-bpe", package_version=installed)
