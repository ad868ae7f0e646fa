"""OpenFeature with its provider in memory: a string flag that says the version."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from benchmarks.peers.wire import serve

NAME = "shop/prompt-00000"


def evaluate(*, folder: str, version: str) -> Callable[[], str]:  # noqa: ARG001 - it keeps nothing
    """Evaluate one flag."""
    memory = importlib.import_module("openfeature.provider.in_memory_provider")
    api = importlib.import_module("openfeature.api")
    api.set_provider(memory.InMemoryProvider({NAME: memory.InMemoryFlag("pinned", {"pinned": version})}))
    client = api.get_client()
    return lambda: str(client.get_string_value(NAME, "none"))


if __name__ == "__main__":
    serve({"evaluate": evaluate})
