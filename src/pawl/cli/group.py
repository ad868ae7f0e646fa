"""The group of all commands: global options, and commands that are imported when they are called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pawl._version import __version__
from pawl.cli.commands import COMMANDS
from pawl.cli.once import refuse_repeated
from pawl.cli.shell import Shell

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and knows its line without importing it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"pawl.cli.{COMMANDS[cmd_name][0]}")
        several: Mapping[str, click.Command] = getattr(module, "commands", {})
        command: click.Command = several[cmd_name] if several else module.command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only for shells

        found = [CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415 - only for a typing error

            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise click.UsageError(f"no such command: {args[0]}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "-C",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Work in this folder; the workspace is it or one above it.",
)
@click.version_option(__version__, "-V", "--version", message="pawl %(version)s")
@click.pass_context
def cli(ctx: click.Context, folder: Path) -> None:
    """Versions, gates, pins and rollbacks for the prompts, tools and workflows of AI agents.

    Exit codes: 0 done, 1 findings, 2 usage, 3 refused by policy, channel order or an unmet requirement, 4 evidence
    missing or failing, 5 conflict, 6 integrity, 7 halted, rejected or withdrawn, 8 approval needed, 70 crash,
    130 stopped.
    """
    ctx.obj = Shell(folder)
