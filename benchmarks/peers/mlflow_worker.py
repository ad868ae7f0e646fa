"""MLflow's prompt registry on a local SQLite file, with its telemetry off."""

from __future__ import annotations

import importlib
import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.peers.wire import serve

NAME = "shop-prompt"
TEXT = "Write about {{amount}} for order {{order_id}}."


def _registry(folder: str) -> Any:
    """Return MLflow's prompt functions on a registry of its own in a folder."""
    logging.disable(logging.INFO)
    Path(folder).mkdir(parents=True, exist_ok=True)
    mlflow = importlib.import_module("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    return mlflow.genai


def load(*, folder: str, cached: bool, versions: int = 1, text: str = TEXT) -> Callable[[], str]:
    """Load a pinned version, by its number: cached as it comes, or never."""
    genai = _registry(folder)
    for _ in range(versions):
        genai.register_prompt(NAME, text)
    uri = f"prompts:/{NAME}/{versions}"
    if cached:
        return lambda: str(genai.load_prompt(uri).template)
    return lambda: str(genai.load_prompt(uri, cache_ttl_seconds=0).template)


def alias(*, folder: str, versions: int = 2) -> Callable[[], int]:
    """Move an alias, between the first two versions in turn."""
    genai = _registry(folder)
    for _ in range(versions):
        genai.register_prompt(NAME, TEXT)
    turns = 0

    def move() -> int:
        nonlocal turns
        turns += 1
        version = 1 + turns % 2
        genai.set_prompt_alias(NAME, "staging", version)
        return version

    return move


def register(*, folder: str, versions: int = 0) -> Callable[[], int]:
    """Register a version of a prompt that has ``versions`` already."""
    genai = _registry(folder)
    for _ in range(versions):
        genai.register_prompt(NAME, TEXT)
    return lambda: int(genai.register_prompt(NAME, TEXT).version)


def search(*, folder: str, names: int, part: str) -> Callable[[], int]:
    """Search prompts by a part of their names; the answer is how many there are.

    One prompt is registered and its rows are copied under the other names: registering 10,000 takes MLflow minutes.
    """
    genai = _registry(folder)
    every = [f"shop-{'tool' if number % 3 == 2 else 'prompt'}-{number:05d}" for number in range(names)]
    genai.register_prompt(every[0], TEXT)
    with closing(sqlite3.connect(f"{folder}/mlflow.db")) as connection:
        _copy(connection, every[0], every[1:])
        connection.commit()
    words = f"name LIKE '%{part}%'" if part else None
    return lambda: len(genai.search_prompts(filter_string=words, max_results=names))


def _copy(connection: sqlite3.Connection, old: str, new: list[str]) -> None:
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        if "name" in columns:
            others = [f'"{column}"' for column in columns if column != "name"]
            into, said = ", ".join(("name", *others)), ", ".join(("?", *others))
            query = f"INSERT INTO {table} ({into}) SELECT {said} FROM {table} WHERE name = ?"  # noqa: S608 - its own words
            connection.executemany(query, [(name, old) for name in new])


if __name__ == "__main__":
    serve({"load": load, "alias": alias, "register": register, "search": search})
