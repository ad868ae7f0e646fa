"""Canonical digests: what a document says counts, how it is written does not."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pawl.canonical import canonical_bytes, content_digest, digest_of
from pawl.io.dump import yaml_bytes
from pawl.io.strict_yaml import load

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029\x85\ufeff"),
    max_size=12,
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)
DOCUMENTS = st.dictionaries(TEXT, VALUES, min_size=1, max_size=5)


def shuffled(value: Any) -> Any:
    """Return the same value with every mapping's keys in the opposite order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(list(value))}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(DOCUMENTS)
def test_key_order_and_layout_do_not_count(document: dict[str, Any]) -> None:
    assert digest_of(document) == digest_of(shuffled(document))
    written = json.dumps(document, indent=3).encode()
    assert digest_of(document) == digest_of(json.loads(written))


@given(DOCUMENTS)
def test_comments_and_writing_it_again_do_not_count(document: dict[str, Any]) -> None:
    text = b"# a comment\n" + yaml_bytes(document) + b"\n# another\n"
    assert digest_of(document) == digest_of(load(text))


@given(DOCUMENTS, VALUES)
def test_any_other_value_counts(document: dict[str, Any], value: Any) -> None:
    key = next(iter(document))
    changed = {**document, key: value}
    assert (digest_of(changed) == digest_of(document)) == (canonical_bytes(value) == canonical_bytes(document[key]))


@given(DOCUMENTS, TEXT)
def test_content_leaves_out_the_version_and_nothing_else(document: dict[str, Any], text: str) -> None:
    numbered = {**document, "version": "1.0.0", "changes": text}
    assert content_digest(numbered) == content_digest({**document, "version": "2.0.0"})
    assert content_digest({**numbered, "owner": "x"}) != content_digest({**numbered, "owner": "y"})
