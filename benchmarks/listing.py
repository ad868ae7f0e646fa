"""Every benchmark under its name; a new one is one entry here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.cases import TEST
from benchmarks.check import CHECK
from benchmarks.classify import CLASSIFY
from benchmarks.cli_start import CLI_START, FIRST_PROMPT, MEMORY
from benchmarks.growth import GROWTH
from benchmarks.harness import Benchmark
from benchmarks.read import READ
from benchmarks.release import PROMOTE, PUBLISH
from benchmarks.resolve import RESOLVE, RESOLVE_COLD
from benchmarks.rollback import ROLLBACK
from benchmarks.run import RUN
from benchmarks.search import SEARCH

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {
        "resolve": RESOLVE,
        "resolve-cold": RESOLVE_COLD,
        "first-prompt": FIRST_PROMPT,
        "cli-start": CLI_START,
        "promote": PROMOTE,
        "rollback": ROLLBACK,
        "publish": PUBLISH,
        "growth": GROWTH,
        "test": TEST,
        "run": RUN,
        "check": CHECK,
        "search": SEARCH,
        "memory": MEMORY,
        "read": READ,
        "classify": CLASSIFY,
    }
)
"""In the order of the table in README.md."""

IN_RATCHET = tuple(BENCHMARKS)
"""The benchmarks that have bounds."""
