"""Commands that take each of their single options once: of two values, one would be lost without a word."""

from __future__ import annotations

import click


class CodedUsageError(click.UsageError):
    """A wrong use with a code of its own, which the JSON says."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class OnceCommand(click.Command):
    """A command whose options with one value are given at most once; those that take several say so."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


def refuse_repeated(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise a usage error where a single option stands twice among the words of a command."""
    if ctx.resilient_parsing:  # a shell completes a line that may yet become right
        return
    _, _, given = command.make_parser(ctx).parse_args(args=list(args))
    seen: set[str | None] = set()
    for param in given:
        if not isinstance(param, click.Option) or param.multiple or param.is_flag or param.count:
            continue
        if param.name in seen:
            raise click.UsageError(f"{max(param.opts, key=len)} is given once, not several times", ctx)
        seen.add(param.name)
