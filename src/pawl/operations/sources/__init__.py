"""What people write: read with all faults in one run, remembered by marks, and opened where somebody asks."""

from __future__ import annotations

from pawl.operations.sources.reading import (
    read_one,
    read_policies,
    read_settings_file,
    read_sources,
    read_suites,
)
from pawl.operations.sources.values import Source, Sources

__all__ = ["Source", "Sources", "read_one", "read_policies", "read_settings_file", "read_sources", "read_suites"]
