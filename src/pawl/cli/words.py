"""Options that take words of a fixed set, several times or with commas."""

from __future__ import annotations

from collections.abc import Iterable

import click


def words_of(values: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words in ``values``, each once; one that is not known is a usage error."""
    found = tuple(dict.fromkeys(word.strip() for value in values for word in value.split(",")))
    for word in found:
        if word not in known:
            raise click.UsageError(f"{word!r} is none of {', '.join(known)}")
    return found
