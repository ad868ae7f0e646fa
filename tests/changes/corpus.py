"""Where a corpus of real tool schemas is: ``PAWL_CORPUS``, or the folder shared/corpus beside the repository."""

from __future__ import annotations

import os
from pathlib import Path


def _find() -> Path | None:
    named = os.environ.get("PAWL_CORPUS")
    found = Path(named) if named else Path(__file__).parents[3] / "shared" / "corpus"
    return found if (found / "schema-pairs").is_dir() else None


CORPUS = _find()
