"""The corpus of real schemas is no part of the repository: its tests are collected only where there is one."""

from __future__ import annotations

from changes.corpus import CORPUS

collect_ignore = [] if CORPUS is not None else ["test_corpus.py"]
