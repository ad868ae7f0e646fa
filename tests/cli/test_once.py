"""Single options are given once, and no output goes where another goes: a value that is lost is lost in silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pawl.cli.commands import COMMANDS
from pawl.cli.group import cli
from support import Shop, in_process


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            inner = command.get_command(click.Context(command), name)
            assert inner is not None
            yield from leaves(inner, (*path, name))


SINGLE = [
    (path, max(option.opts, key=len))
    for path, command in leaves(cli)
    for option in command.params
    if isinstance(option, click.Option) and not (option.multiple or option.is_flag or option.count)
]


def test_there_are_single_options_of_most_commands() -> None:
    assert len({path[0] for path, _ in SINGLE if path}) > len(COMMANDS) // 2


@pytest.mark.parametrize(("path", "option"), SINGLE, ids=lambda part: " ".join(part) if part != () else "pawl")
def test_an_option_with_one_value_is_given_once(path: tuple[str, ...], option: str) -> None:
    ended = in_process(*path, option, "1", option, "2")
    assert ended.code == 2
    assert f"{option} is given once" in ended.err


def test_the_short_form_and_the_one_with_an_equals_sign_count_too(plain_shop: Shop) -> None:
    answer = plain_shop.pawl("check", "--base=main", "--base", "HEAD", code=2)
    assert answer["problems"][0]["message"] == "--base is given once, not several times"


def test_flags_and_options_with_several_values_may_come_again(plain_shop: Shop) -> None:
    assert in_process("-C", str(plain_shop.root), "test", "--case", "a", "--case", "b").code != 2
    assert in_process("-C", str(plain_shop.root), "list", "-o", "json").code == 0


@pytest.mark.parametrize("other", ["out.x", "./out.x", "in/../out.x", "linked.x"])
def test_two_outputs_do_not_share_a_file(
    plain_shop: Shop, tmp_path: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir(exist_ok=True)
    (tmp_path / "linked.x").symlink_to("out.x")
    monkeypatch.chdir(tmp_path)
    words = ("-C", str(plain_shop.root), "check", "-o", "junit=out.x", "-o", f"sarif={other}", "-o", "json")
    ended = in_process(*words)
    assert (ended.code, json.loads(ended.out)["problems"][0]["code"]) == (2, "usage")
    assert "same file" in ended.out
    assert not (tmp_path / "out.x").exists()
