"""A workspace on disk: what is read is checked, what is missing is said, and nothing outside of it is followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pawl.canonical import record_bytes
from pawl.errors import IntegrityError, InvalidError, NotFoundError
from pawl.ids import REGISTRY_JOURNAL, Channel, Name, parse_ref
from pawl.registry.channels import empty_channel, projection
from pawl.workspace import Workspace, find_workspace
from registry.make import STAGING, Line, pin
from support import FIRST, Shop

A1, A2 = pin("a", "1.0.0"), pin("a", "2.0.0")


def written(root: Path, line: Line, behind: int = 0) -> Workspace:
    """Write a channel's journal with the projection of its newest record, or of one ``behind`` it."""
    workspace = Workspace(root)
    for record in line.records:
        path = workspace.record_file(line.channel, record.serial)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(record.data)
    earlier = Line()
    earlier.records = line.records[: len(line.records) - behind]
    workspace.projections.mkdir(parents=True)
    workspace.projection_file(line.channel).write_bytes(record_bytes(projection(earlier.state)))
    return workspace


def test_what_is_served_is_the_projection_that_the_newest_record_vouches_for(tmp_path: Path) -> None:
    line = Line().pinned(A1).halted("a").pinned(A2)
    served = written(tmp_path, line).served(STAGING)
    assert (served.pins, served.halts, served.head) == (line.state.pins, line.state.halts, line.state.head)


def test_without_an_index_the_projection_alone_says_what_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    line = Line().pinned(A1).halted("a").pinned(A2)
    served = written(tmp_path, line).served(STAGING)
    assert (served.pins, served.halts, served.head) == (line.state.pins, line.state.halts, line.state.head)
    assert (served.past, served.evidence) == ({}, ())


def test_a_missing_projection_is_made_up_from_the_journal(tmp_path: Path) -> None:
    line = Line().pinned(A1).pinned(A2)
    workspace = written(tmp_path, line)
    workspace.projection_file(STAGING).unlink()
    assert workspace.served(STAGING) == line.state


def test_a_projection_behind_its_journal_is_passed_over(tmp_path: Path) -> None:
    line = Line().pinned(A1).pinned(A2)
    assert written(tmp_path, line, behind=1).served(STAGING) == line.state


def test_a_projection_ahead_of_its_journal_is_damage(tmp_path: Path) -> None:
    line = Line().pinned(A1).pinned(A2)
    workspace = written(tmp_path, line)
    workspace.record_file(STAGING, 2).unlink()
    with pytest.raises(IntegrityError):
        workspace.served(STAGING)
    workspace.record_file(STAGING, 1).unlink()
    with pytest.raises(IntegrityError):
        workspace.served(STAGING)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"', "<<<<<<< ours\n", '{"serial": "1"}', '{"serial": 2}'])
def test_a_projection_that_says_anything_else_is_damage(tmp_path: Path, text: str) -> None:
    workspace = written(tmp_path, Line().pinned(A1).pinned(A2))
    workspace.projection_file(STAGING).write_text(text, encoding="utf-8")
    with pytest.raises(IntegrityError):
        workspace.served(STAGING)


def test_a_channel_without_records_is_empty(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    assert workspace.served(STAGING) == workspace.channel(STAGING) == empty_channel(STAGING)
    assert (workspace.newest(STAGING), workspace.journal(STAGING), workspace.channels()) == (None, (), ())


STRANGERS = ["000001.json.bak", "1.json", "0000002.json", "notes.txt", "000002.yaml", "00000\u0662.json", "latest.json"]


@pytest.mark.parametrize("name", STRANGERS)
def test_a_stranger_among_the_records_is_damage(tmp_path: Path, name: str) -> None:
    workspace = written(tmp_path, Line().pinned(A1))
    (workspace.releases / STAGING / name).write_bytes(b"{}")
    with pytest.raises(IntegrityError, match="no record of it"):
        workspace.journal(STAGING)
    with pytest.raises(IntegrityError):
        workspace.served(STAGING)


def test_what_is_hidden_is_a_temporary_file_and_passed_over(tmp_path: Path) -> None:
    workspace = written(tmp_path, Line().pinned(A1))
    (workspace.releases / STAGING / ".pawl-tmp-1-abc").write_bytes(b"half")
    assert len(workspace.journal(STAGING)) == 1


def test_a_record_that_is_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "w"
    workspace = written(root, Line().pinned(A1))
    path = workspace.record_file(STAGING, 1)
    outside = tmp_path / "outside.json"
    outside.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(outside)
    with pytest.raises(IntegrityError):
        workspace.journal(STAGING)


def test_a_folder_in_place_of_a_record_is_damage(tmp_path: Path) -> None:
    workspace = written(tmp_path, Line().pinned(A1))
    workspace.record_file(STAGING, 2).mkdir()
    with pytest.raises(IntegrityError):
        workspace.journal(STAGING)


def test_channels_are_the_folders_that_can_be_one(tmp_path: Path) -> None:
    for name in ("staging", "production", "registry", "evidence", "Upper", ".hidden", "a b"):
        (tmp_path / "releases" / name).mkdir(parents=True)
    (tmp_path / "releases" / "file").write_text("", encoding="utf-8")
    assert Workspace(tmp_path).channels() == (Channel("production"), Channel("staging"))


def test_a_workspace_is_found_from_below_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "w" / "registry").mkdir(parents=True)
    (tmp_path / "w" / "registry" / "registry.yaml").write_text("", encoding="utf-8")
    deep = tmp_path / "w" / "procedures" / "support"
    deep.mkdir(parents=True)
    assert find_workspace(deep).root == (tmp_path / "w").resolve()
    with pytest.raises(NotFoundError):
        find_workspace(tmp_path)


def test_frozen_files_are_checked_byte_by_byte_and_the_cache_is_not_believed(plain_shop: Shop) -> None:
    plain_shop.release_first()
    workspace = Workspace(plain_shop.root)
    ref = parse_ref(FIRST[1])
    published = workspace.catalog().published[ref]
    document = workspace.procedure(published).document
    (cached,) = (workspace.private / "documents").glob(f"{published.digest[7:]}*")
    cached.write_bytes(json.dumps({**document, "owner": "somebody"}).encode())
    assert workspace.procedure(published).document == document
    cached.unlink()
    assert workspace.procedure(published).document == document
    path = workspace.frozen_file(ref)
    data = path.read_bytes()
    for changed in (data + b"\n", data[:-1], b"", data.replace(b"payments", b"Payments"), b"# c\n" + data):
        path.write_bytes(changed)
        with pytest.raises(IntegrityError) as found:
            workspace.procedure(published)
        assert found.value.problems[0].path == f"registry/versions/{ref.name}/{ref.version}.yaml"
    path.unlink()
    with pytest.raises(IntegrityError, match="gone"):
        workspace.procedure(published)


def test_the_private_folder_hides_itself_and_can_go_at_any_time(plain_shop: Shop) -> None:
    import shutil  # noqa: PLC0415 - for this one test

    plain_shop.release_first()
    workspace = Workspace(plain_shop.root)
    assert (workspace.private / ".gitignore").read_text(encoding="utf-8") == "*\n"
    shutil.rmtree(workspace.private)
    assert plain_shop.version("support/refund") == "1.0.0"
    plain_shop.pawl("verify")


def test_sources_are_files_and_links_in_a_stable_order_without_hidden_ones(tmp_path: Path) -> None:
    folder = tmp_path / "procedures"
    for name in ("b.yaml", "a/z.yaml", ".hidden.yaml", ".git/x.yaml", "a.yaml"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    (folder / "link").symlink_to(tmp_path)
    workspace = Workspace(tmp_path)
    assert [workspace.relative(path) for path in workspace.sources(folder)] == [
        "procedures/a.yaml",
        "procedures/b.yaml",
        "procedures/link",
        "procedures/a/z.yaml",
    ]


def test_a_source_that_leads_out_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "procedures").mkdir(parents=True)
    (tmp_path / "secret.yaml").write_text("kind: prompt\n", encoding="utf-8")
    (root / "procedures" / "a.yaml").symlink_to(tmp_path / "secret.yaml")
    with pytest.raises(InvalidError):
        Workspace(root).read_source(root / "procedures" / "a.yaml")


def test_places_are_derived_from_names_alone() -> None:
    workspace = Workspace(Path("/w"))
    ref = parse_ref("support/refund@1.0.0rc1")
    places = {
        workspace.procedure_file(Name("support/refund")): "procedures/support/refund.yaml",
        workspace.frozen_file(ref): "registry/versions/support/refund/1.0.0rc1.yaml",
        workspace.projection_file(STAGING): "registry/channels/staging.json",
        workspace.record_file(REGISTRY_JOURNAL, 12): "releases/registry/000012.json",
        workspace.record_file(STAGING, 1_234_567): "releases/staging/1234567.json",
        workspace.ledger_file: ".pawl/runs.db",
    }
    assert {workspace.relative(path): path for path in places} == {text: path for path, text in places.items()}
