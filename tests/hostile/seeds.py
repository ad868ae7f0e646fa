"""Good files to spoil: those of this repository's own workspace, of the refund story, and of every broken/ folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pawl.io import strict_yaml
from pawl.io.text import Unreadable

REPOSITORY = Path(__file__).parents[2]
_STORY = ("registry.yaml", "policy-1.yaml", "policy-2.yaml", "refund-1.yaml", "refund-2.yaml", "refund-draft.yaml")


@cache
def files(*patterns: str) -> tuple[bytes, ...]:
    """Return the bytes of the repository's files that fit, smallest first."""
    found = {path for pattern in patterns for path in REPOSITORY.glob(pattern) if path.is_file()}
    return tuple(sorted((path.read_bytes() for path in found), key=lambda data: (len(data), data)))


@cache
def story(prefix: str) -> tuple[bytes, ...]:
    """Return the files of the refund story whose names begin so."""
    folder = resources.files("pawl.demo").joinpath("files")
    return tuple(item.read_bytes() for item in sorted(folder.iterdir(), key=str) if item.name.startswith(prefix))


def documents(seeds: Sequence[bytes]) -> tuple[dict[str, Any], ...]:
    """Return those of some files that read, parsed."""
    return tuple(_read(seeds))


def _read(seeds: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    for data in seeds:
        try:
            yield strict_yaml.load(data)
        except Unreadable:
            continue


def procedures() -> tuple[bytes, ...]:
    return (
        *files("procedures/**/*.yaml", "tests/broken/*.yaml", "tests/lint/found/*.yaml"),
        *story("refund"),
        *story("check"),
    )


def suites() -> tuple[bytes, ...]:
    return (*files("conformance/**/*.yaml", "tests/conformance/broken/*.yaml"), *story("suite"))


def policies() -> tuple[bytes, ...]:
    return (*files("registry/policies/*.yaml"), *story("policy"))


def settings() -> tuple[bytes, ...]:
    return (*files("registry/registry.yaml"), *story("registry"))


def all_yaml() -> tuple[bytes, ...]:
    return (*procedures(), *suites(), *policies(), *settings(), *files("tests/io/broken/*.yaml"))


@cache
def journal(name: str) -> list[dict[str, Any]]:
    """Return the fields of this repository's own records of a journal, in order."""
    paths = sorted((REPOSITORY / "releases" / name).glob("*.json"))
    return [json.loads(path.read_bytes()) for path in paths]
