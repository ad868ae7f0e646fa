"""The entry point: what is answered without the group of commands, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from pawl._version import __version__
from pawl.cli.shell import CRASH, INTERRUPTED, USAGE

TYPE_CHECKING = False  # as typing has it, whose import takes longer than that of this module
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TextIO

    import click


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8 whatever the locale; what cannot be written is escaped. Others than a process's own have no such
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        if not _answered(words):
            _run(words)
        sys.exit(0)
    except KeyboardInterrupt:
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


def _answered(words: Sequence[str]) -> bool:
    """Answer what shells and scripts ask most, without what parses all other command lines; False for anything else."""
    if os.environ.get("_PAWL_COMPLETE") or sys.stdout is None:
        return False
    if words in (["--version"], ["-V"]):
        _tell(sys.stdout, f"pawl {__version__}")
        return True
    if "resolve" in words:
        from pawl.cli.quick import resolved  # noqa: PLC0415 - the other commands do not need it

        return resolved(words)
    return False


def _run(words: Sequence[str]) -> None:
    import click  # noqa: PLC0415 - slow to import, and not needed for what is answered above

    from pawl.cli.group import cli  # noqa: PLC0415 - as above

    if instruction := os.environ.get("_PAWL_COMPLETE"):
        from pawl.cli.completion import answer  # noqa: PLC0415 - only for shells

        raise SystemExit(answer(cli, instruction))
    try:
        cli.main(args=list(words), prog_name="pawl", standalone_mode=False)
    except click.exceptions.Exit as error:
        raise SystemExit(error.exit_code) from None
    except click.ClickException as error:
        _usage(error, words)
    except click.Abort:
        raise KeyboardInterrupt from None


def _usage(error: click.ClickException, words: Sequence[str]) -> None:
    context = getattr(error, "ctx", None)
    code = getattr(error, "code", "usage")
    usage = f"{context.get_usage()}\n" if context is not None else ""
    help_text = f"\nTry: {context.command_path} --help" if context is not None else ""
    command = context.command_path.partition(" ")[2] if context is not None else ""
    text = f"{usage}pawl: {error.format_message()}{help_text}"
    _stop(text, USAGE, words, code, message=error.format_message(), command=command)


def _stop(
    text: str, code: int, words: Sequence[str], problem: str, *, message: str | None = None, command: str = ""
) -> None:
    if wants_json(words):
        import json  # noqa: PLC0415 - not for the answers that are no JSON

        from pawl.cli.commands import COMMANDS  # noqa: PLC0415 - as above

        command = command or next((word for word in words if word in COMMANDS), "")
        row = {"code": problem, "severity": "error", "message": message or text}
        fields: dict[str, Any] = {"command": command, "status": "failed", "exit_code": code, "problems": [row]}
        _tell(sys.stdout, json.dumps(fields, ensure_ascii=False, indent=2))
    else:
        _tell(sys.stderr, text)
    raise SystemExit(code)


def _tell(stream: TextIO | None, text: str) -> None:
    """Write last words. Where nobody can read them, the exit code speaks alone."""
    if stream is None:
        return
    try:
        stream.write(text + "\n")
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):  # or the interpreter tries again when it ends, and that is its exit code
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def wants_json(words: Sequence[str]) -> bool:
    """Whether the command line asks for JSON, even where it could not be parsed."""
    pairs = zip(words, [*words[1:], ""], strict=False)
    return any(
        (word in {"-o", "--output"} and following == "json") or word in {"-ojson", "--output=json"}
        for word, following in pairs
    )
