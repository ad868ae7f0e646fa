"""pawl demo."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import assert_never

import click

from pawl.cli.output import paint
from pawl.demo.story import STORY, Say, Type, Write

PERSON = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.invalid",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.invalid",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
"""Nobody's own Git settings take part in the story."""


@click.command("demo")
@click.option("--keep", is_flag=True, help="Leave the temporary workspace behind to look around in.")
def command(keep: bool) -> None:
    """Tell the refund story in a temporary workspace: each command as it is typed, with its real output.

    It goes from the first file up to a rollback that policy refuses, and the way out.
    """
    with _folder(keep=keep) as folder:
        tell(folder)
        if keep:
            click.echo(f"\nThe workspace is kept in {folder}")


@contextmanager
def _folder(*, keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pawl-demo-"))
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def tell(folder: Path) -> None:
    """Tell the story in ``folder``; a command that does not end as it must ends the demo with exit code 70."""
    environment = {**os.environ, **PERSON, "PYTHONUNBUFFERED": "1"}
    for words in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "Ada"),
        ("config", "user.email", "ada@example.invalid"),
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env=environment)
    for scene in STORY:
        match scene:
            case Say():
                click.echo("\n" + paint(f"# {scene.text}", "cyan", bold=True))
            case Write():
                _write(folder, scene)
            case Type():
                _type(folder, scene, environment)
            case _:
                assert_never(scene)


def _write(folder: Path, scene: Write) -> None:
    text = resources.files("pawl.demo").joinpath("files", scene.source).read_text(encoding="utf-8")
    for old, new in scene.words:
        text = text.replace(old, new)
    path = folder / scene.path
    path.parent.mkdir(parents=True, exist_ok=True)
    verb = "edits" if path.exists() else "writes"
    path.write_text(text, encoding="utf-8")
    click.echo(paint(f"  Ada {verb} {scene.path}", None))


def _type(folder: Path, scene: Type, environment: dict[str, str]) -> None:
    click.echo("\n" + paint(f"$ pawl {shlex.join(scene.words)}", None, bold=True))
    sys.stdout.flush()
    done = subprocess.run([sys.executable, "-m", "pawl", *scene.words], cwd=folder, env=environment, check=False)
    if done.returncode != scene.code:
        text = f"the demo went astray: pawl {shlex.join(scene.words)} ended with {done.returncode}, not {scene.code}"
        raise RuntimeError(text)
