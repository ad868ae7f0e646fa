"""The entry point: global options, commands that are imported when they are called, and what becomes of errors."""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from pawl._version import __version__
from pawl.cli.once import CodedUsageError, refuse_repeated
from pawl.cli.shell import CRASH, INTERRUPTED, USAGE, Shell

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = MappingProxyType(
    {
        "init": ("init", "Make a workspace that passes check."),
        "new": ("new", "Write a procedure, a suite or a policy to start from."),
        "demo": ("demo", "Tell the refund story in a temporary workspace."),
        "check": ("check", "What CI runs on a pull request: read, validate, lint, versions, suites, policy."),
        "test": ("test", "Run conformance suites only; store nothing."),
        "diff": ("diff", "What changed between two versions, or the work tree and the newest version."),
        "publish": ("publish", "Freeze new versions, all under one record."),
        "bump": ("bump", "Set a procedure's version in its file, keeping comments."),
        "import": ("import_", "Bring procedures in from another format."),
        "schema": ("schema", "Print the JSON Schema of a kind of file, for editors."),
        "completion": ("completion", "Print the script that completes pawl in bash, zsh or fish."),
        "promote": ("promote", "Gate exact versions and pin them on a channel, all or none."),
        "rollback": ("rollback", "Go back to the newest earlier version that passes today's policy."),
        "fix-forward": ("fix_forward", "Open a new version with old content, marked where today's rules object."),
        "remove": ("remove", "Take pins off a channel."),
        "targets": ("targets", "Every earlier version with its verdict as of now."),
        "why": ("why", "The whole verdict on one version: every check and rule, with reasons."),
        "drill": ("drill", "Run today's suites on the ways back of a channel, and store what they come to."),
        "audit": ("audit", "What is live against today's policy, and which pins have no way back."),
        "halt": ("halts", "Stop serving a procedure on a channel."),
        "resume": ("halts", "Serve a halted procedure again."),
        "reject": ("reject", "Keep a version's content off a channel."),
        "unreject": ("unreject", "Let rejected or rolled-back content come back."),
        "freeze": ("freeze", "Let a channel stand still until an end."),
        "unfreeze": ("freeze", "Let a channel move again."),
        "approve": ("approve", "Say yes to exact versions, or to a waiver."),
        "waive": ("waive", "Ask for an exception from one rule, for a time."),
        "deprecate": ("withdrawals", "Warn of a version, everywhere."),
        "yank": ("withdrawals", "Allow no new pins of a version."),
        "revoke": ("withdrawals", "Refuse a version even where it is pinned; final."),
        "restore": ("withdrawals", "Take a deprecation or a yank back."),
        "policy": ("policy", "Show, test, plan and adopt policy."),
        "status": ("status", "Every channel's pins and what somebody should know of them."),
        "list": ("list_", "Published procedures."),
        "show": ("show", "One published version, or all versions of a name."),
        "history": ("history", "Every attempt on a channel, refused ones too."),
        "verify": ("verify", "Recompute every digest and chain."),
        "snapshot": ("snapshot", "The one file that agents load."),
        "resolve": ("resolve", "Which version a channel serves under a name."),
        "render": ("render", "A prompt's messages, as an agent would get them."),
        "run": ("run", "Start a run, use procedures in it, end it."),
        "runs": ("runs", "Look into the ledger of runs."),
    }
)
"""Command -> the module of ``pawl.cli`` that holds it, and its line in the overview."""


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
    missing or failing, 5 conflict, 6 integrity, 7 halted, rejected or withdrawn, 8 approval needed, 70 crash.
    """
    ctx.obj = Shell(folder)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # JSON is UTF-8 whatever the locale; what cannot be written is escaped
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if instruction := os.environ.get("_PAWL_COMPLETE"):
        from pawl.cli.completion import answer  # noqa: PLC0415 - only for shells

        raise SystemExit(answer(cli, instruction))
    try:
        cli.main(args=words, prog_name="pawl", standalone_mode=False)
    except click.exceptions.Exit as error:
        raise SystemExit(error.exit_code) from None
    except click.ClickException as error:
        _usage(error, words)
    except (KeyboardInterrupt, click.Abort):
        _stop("pawl: stopped", INTERRUPTED, words, "interrupted")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except Exception as error:
        if os.environ.get("PAWL_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        text = f"pawl: a fault of pawl itself ({what}); PAWL_TRACEBACK=1 shows where, please report it"
        _stop(text, CRASH, words, "crash")


def _usage(error: click.ClickException, words: Sequence[str]) -> None:
    context = getattr(error, "ctx", None)
    code = error.code if isinstance(error, CodedUsageError) else "usage"
    usage = f"{context.get_usage()}\n" if context is not None else ""
    help_text = f"\nTry: {context.command_path} --help" if context is not None else ""
    _stop(f"{usage}pawl: {error.format_message()}{help_text}", USAGE, words, code, message=error.format_message())


def _stop(text: str, code: int, words: Sequence[str], problem: str, *, message: str | None = None) -> None:
    if wants_json(words):
        command = next((word for word in words if word in COMMANDS), "")
        row = {"code": problem, "severity": "error", "message": message or text}
        fields: dict[str, Any] = {"command": command, "status": "failed", "exit_code": code, "problems": [row]}
        sys.stdout.write(json.dumps(fields, ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stderr.write(text + "\n")
    raise SystemExit(code)


def wants_json(words: Sequence[str]) -> bool:
    """Whether the command line asks for JSON, even where it could not be parsed."""
    pairs = zip(words, [*words[1:], ""], strict=False)
    return any(
        (word in {"-o", "--output"} and following == "json") or word in {"-ojson", "--output=json"}
        for word, following in pairs
    )
