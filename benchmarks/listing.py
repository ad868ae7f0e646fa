"""Every benchmark under its name; a new one is one entry here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.check import CHECK
from benchmarks.classify import CLASSIFY
from benchmarks.cli_start import CLI_START
from benchmarks.growth import GROWTH
from benchmarks.harness import Benchmark
from benchmarks.read import READ
from benchmarks.release import PROMOTE, PUBLISH
from benchmarks.resolve import RESOLVE, RESOLVE_COLD
from benchmarks.rollback import ROLLBACK
from benchmarks.run import RUN

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {
        "read": READ,
        "resolve": RESOLVE,
        "resolve-cold": RESOLVE_COLD,
        "run": RUN,
        "promote": PROMOTE,
        "publish": PUBLISH,
        "rollback": ROLLBACK,
        "check": CHECK,
        "classify": CLASSIFY,
        "cli-start": CLI_START,
        "growth": GROWTH,
    }
)
