"""What was recorded of copies is remembered while the record that said so is in the registry, and saves questions."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from pawl.operations.authoring import publishing
from pawl.operations.sources.recorded import copy_path, recorded_before
from pawl.workspace import Workspace
from support import Shop

DRAFT = "procedures/support/refund-draft.yaml"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember from one version on."""
    monkeypatch.setattr(publishing, "MANY", 1)


def before(shop: Shop) -> dict[str, str]:
    workspace = Workspace(shop.root)
    return dict(recorded_before(workspace, workspace.catalog()))


@pytest.fixture
def published(plain_shop: Shop) -> Shop:
    """A shop that published twice, the second time with its files known by their bytes."""
    plain_shop.adopt()
    plain_shop.pawl("publish")
    plain_shop.pawl("publish")
    return plain_shop


def test_it_is_what_the_registry_says(published: Shop) -> None:
    versions = Workspace(published.root).catalog().published
    assert before(published) == {copy_path(ref.name, ref.version): item.file for ref, item in versions.items()}


def test_it_holds_after_more_was_published(published: Shop) -> None:
    first = before(published)
    published.second()
    published.pawl("publish")
    assert first.items() <= before(published).items()


def test_nothing_of_a_registry_that_was_set_back_is_believed(published: Shop) -> None:
    records = sorted((published.root / "releases" / "registry").iterdir())
    records[-1].unlink()
    shutil.rmtree(published.root / "registry" / "versions")
    assert before(published) == {}
    assert len(published.pawl("publish")["published"]) == len(published.files("procedures"))


def test_what_was_changed_under_its_seal_is_not_believed(published: Shop) -> None:
    with sqlite3.connect(published.root / ".pawl" / "sources.db") as connection:
        text = "CAST(replace(data, 'support', 'suppert') AS BLOB)"
        where = "kind = 'recorded' AND name = 'path'"
        assert connection.execute(f"UPDATE columns SET data = {text} WHERE {where}").rowcount == 1  # noqa: S608
    connection.close()
    assert before(published) == {}


def test_changed_content_under_an_old_version_is_refused_with_it(published: Shop) -> None:
    assert before(published)
    published.edit(DRAFT, ("You draft", "You write"))
    assert "version-reused" in published.codes(published.pawl("publish", code=1))
