"""The command lines of pawl in scripts and pages, and whether the real command line takes them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click

from pawl.cli.group import cli

_OPERATORS = re.compile(r"[;&|()<>]+\Z")
_BEFORE = {"if", "then", "else", "do", "!", "{", "$"}
_NESTED = re.compile(r"\$\((pawl [^)]*)\)")


def pawl_lines(script: str) -> Iterator[list[str]]:
    """Yield the words after ``pawl`` of each of its commands in a script; ``"$@"`` stands for nothing."""
    for line in script.replace("\\\n", " ").split("\n"):
        for nested in _NESTED.findall(line):
            yield from pawl_lines(nested)
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        command: list[str] = []
        for word in [*lexer, ";"]:
            if _OPERATORS.match(word):
                if command[:1] == ["pawl"]:
                    yield command[1:]
                command = []
            elif word != "$@" and not (not command and word in _BEFORE):
                command.append(word)


def parse(words: list[str]) -> str:
    """Return the command that a line calls; ``click.UsageError`` where pawl would not take the line."""
    if words[:1] == ["-C"]:
        words = words[2:]
    context = click.Context(cli, info_name="pawl")
    group: click.Group = cli
    path: list[str] = []
    while True:
        if not words:
            raise click.UsageError("no command")
        command = group.get_command(context, words[0])
        if command is None:
            raise click.UsageError(f"no such command: {words[0]}")
        path.append(words[0])
        words = words[1:]
        if not isinstance(command, click.Group):
            command.make_context(path[-1], list(words), parent=context)
            return " ".join(path)
        group = command
