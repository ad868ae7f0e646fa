"""What all commands share: options, the session, and the way from a function's report to output and exit code."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import click

from pawl.cli.candidates import Candidates, channels, fitting, names, names_or_refs, refs, versions
from pawl.cli.formats import FORMATS, Output, parse_output
from pawl.cli.once import CodedUsageError, OnceCommand
from pawl.cli.output import Lines, clean, write_answer
from pawl.cli.shell import USAGE, Shell
from pawl.errors import (
    ApprovalError,
    ConflictError,
    EvidenceError,
    IntegrityError,
    InvalidError,
    NotFoundError,
    PawlError,
    RefusedError,
    UsageError,
    WithheldError,
)
from pawl.ids import parse_channel, parse_name, parse_ref, parse_version
from pawl.operations.session import Report, Session, Status, checked_reason
from pawl.policy.verdict import APPROVAL, CONFLICT, EVIDENCE, FINDINGS, INTEGRITY, REFUSED, WITHHELD
from pawl.problems import Problem
from pawl.registry.channels_grants import ActorKind
from pawl.registry.journal import Actor
from pawl.workspace import Workspace, check_output, find_workspace

EXIT_CODES: tuple[tuple[type[PawlError], int, Status], ...] = (
    (UsageError, USAGE, "failed"),
    (InvalidError, FINDINGS, "failed"),
    (NotFoundError, FINDINGS, "failed"),
    (RefusedError, REFUSED, "refused"),
    (EvidenceError, EVIDENCE, "refused"),
    (ConflictError, CONFLICT, "failed"),
    (IntegrityError, INTEGRITY, "failed"),
    (WithheldError, WITHHELD, "refused"),
    (ApprovalError, APPROVAL, "refused"),
)
"""The one table from an error to the exit code and the status that it becomes."""


if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pawl.io.git import Repository

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # older versions of click know no ParamType[...]

Offering: TypeAlias = "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]"
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Parsed(_ParamType):
    """A parameter that one of the ``parse_*`` functions reads, and that the shell completes from the workspace."""

    def __init__(self, name: str, parse: Callable[[str], Any], candidates: Candidates | None = None) -> None:
        self.name = name
        self._parse = parse
        self._candidates = candidates

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        return _completed(self._candidates, ctx, incomplete) if self._candidates is not None else []


def _completed(candidates: Candidates, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only for shells

    folder = ctx.find_root().params.get("folder") or Path()
    found = fitting(candidates, folder, _named_before(ctx), incomplete)
    return [CompletionItem(item.value, type="open" if item.open else "plain") for item in found]


def offering(choose: Callable[[click.Context], Candidates | None]) -> Offering:
    """Return what completes a parameter by what stands before it on the line; by nothing where there is no choice."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        candidates = choose(ctx)
        return _completed(candidates, ctx, incomplete) if candidates is not None else []

    return complete


def _named_before(ctx: click.Context) -> list[str]:
    """Return the published procedures that a line names so far, for commands that take several as ``asked``."""
    if not any(param.name == "asked" and param.nargs == -1 for param in ctx.command.params):
        return []
    asked = ctx.params.get("asked")
    if asked:
        return [name for name, _ in asked]
    return [word.partition("@")[0] for word in ctx.args]  # an option without its value leaves the words unparsed


def _name_and_version(text: str) -> tuple[str, str | None]:
    if "@" in text:
        ref = parse_ref(text)
        return ref.name, ref.version
    return parse_name(text), None


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        moment = datetime.min.replace(tzinfo=UTC)
    if moment.year < 1970:  # years of fewer than four digits have no RFC 3339 form that sorts, and nothing is older
        raise ValueError(f"{text!r} is no time: write 2026-03-01T12:00:00Z, or 2026-03-01 for its first second")
    return moment


NAME = Parsed("NAME", parse_name, names)
REF = Parsed("NAME@VERSION", parse_ref, refs)
NAME_OR_REF = Parsed("NAME[@VERSION]", _name_and_version, names_or_refs)
VERSION = Parsed("VERSION", parse_version, versions)
CHANNEL = Parsed("CHANNEL", parse_channel, channels)
MOMENT = Parsed("TIME", _moment)

channel_option = click.option("--channel", type=CHANNEL, required=True, help="The channel; there is no default.")
reason_option = click.option(
    "--reason", required=True, callback=lambda _c, _p, value: checked(value), help="Why; the history keeps it."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Decide and show everything, write nothing.")
push_option = click.option(
    "--push", is_flag=True, help="Begin at the newest state of the branch's remote, and push what is committed."
)
no_code_option = click.option(
    "--no-code", is_flag=True, help="Run no implementations of tools; their cases are skipped, which is no pass."
)


def checked(value: str) -> str:
    """Return a reason that says something, or end with how the command is used."""
    try:
        return checked_reason(value)
    except UsageError as error:
        raise CodedUsageError(error.message, error.problems[0].code) from None


def output_option(*, several: bool = False) -> Callable[[Decorated], Decorated]:
    kinds = [name for name, form in FORMATS.items() if several or form.everywhere]
    help_text = f"How to show the outcome: {', '.join(kinds)}" + ("; several, each with =FILE." if several else ".")
    return click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        is_eager=True,  # so that other options can answer in the form that is asked for
        metavar="KIND[=FILE]" if several else "KIND",
        callback=lambda _c, _p, values: _outputs(values, several=several),
        shell_complete=lambda _c, _p, beginning: [kind for kind in kinds if kind.startswith(beginning)],
        help=help_text,
    )


def _outputs(values: Iterable[str], *, several: bool) -> tuple[Output, ...]:
    try:
        outputs = tuple(parse_output(value, several=several) for value in values)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if sum(output.file is None for output in outputs) > 1:
        raise click.UsageError("at most one -o kind goes to standard output; give the others =FILE")
    if not several and len(outputs) > 1:
        raise click.UsageError("-o is given once here")
    files = [os.path.realpath(output.file) for output in outputs if output.file is not None]
    if len(set(files)) < len(files):
        raise click.UsageError("two -o kinds go to the same file, and one would be lost; give each its own")
    return outputs


def pawl_command(
    name: str,
    *,
    lines: Lines,
    writes: bool = False,
    identity: bool = False,
    workspace: bool = True,
    several_outputs: bool = False,
) -> Callable[[Callable[..., Report]], click.Command]:
    """Make a command of a function that takes a :class:`Session` (or a :class:`Shell`) and returns a report.

    ``writes`` adds --no-commit and --push; ``identity`` asks Git who is acting; ``lines`` shows the report to a person.
    """

    def decorate(function: Callable[..., Report]) -> click.Command:
        @click.pass_context
        def callback(ctx: click.Context, /, **values: Any) -> None:
            outputs = values.pop("outputs")
            shell: Shell = ctx.obj
            no_commit = values.pop("no_commit", False)
            push = values.pop("push", False)
            run_code = not values.pop("no_code", False)
            if push and no_commit:
                raise click.UsageError("--push pushes a commit, and --no-commit makes none; leave one of them out")

            def act() -> Report:
                if not workspace:
                    return function(shell, **values)
                asks = identity or writes
                session = open_session(shell, identity=asks, writes=writes, commit=not no_commit, run_code=run_code)
                report = function(session, **values)
                return _with_left_over(session, report) if writes else report

            wanted = push and not values.get("dry_run")
            if wanted:
                finish(name, guarded(lambda: _pushing(shell, act)), outputs, lambda data: _and_pushed(lines, data))
            finish(name, guarded(act), outputs, lines)

        callback.__doc__ = function.__doc__
        command: Any = callback
        parameters = getattr(function, "__click_params__", [])
        command.__click_params__ = parameters
        command = output_option(several=several_outputs)(command)
        if writes:
            option = click.option(
                "--no-commit", is_flag=True, help="Leave the written files uncommitted, for a pull request."
            )
            command = push_option(option(command))
        return click.command(name.rpartition(" ")[2], cls=OnceCommand, help=function.__doc__)(command)

    return decorate


def _with_left_over(session: Session, report: Report) -> Report:
    if report.status != "unchanged":
        return report
    from pawl.operations.writing import with_left_over  # noqa: PLC0415 - only what writes needs it

    return with_left_over(session, report)


def _pushing(shell: Shell, act: Callable[[], Report]) -> Report:
    from pawl.operations.pushing import with_push  # noqa: PLC0415 - few commands push

    return with_push(find_workspace(shell.folder), act)


def _and_pushed(lines: Lines, data: Mapping[str, Any]) -> Iterable[str]:
    yield from lines(data)
    row = data.get("pushed")
    if row:
        tries = f" at try {row['tries']}" if row["tries"] > 1 else ""
        yield clean(f"pushed {row['commit'][:12]} to {row['remote']} {row['branch']}{tries}")
    elif "pushed" in data:
        yield "pushed nothing"


def open_session(shell: Shell, *, identity: bool, writes: bool, commit: bool, run_code: bool) -> Session:
    """Read once where, who and when."""
    workspace = find_workspace(shell.folder)
    repository, actor = actor_of(workspace, ask_git=identity, need_git=writes and commit)
    return Session(
        workspace=workspace,
        actor=actor,
        repository=repository,
        now=datetime.now(UTC).replace(microsecond=0),
        commit=commit,
        run_code=run_code,
        actor_kind=_declared_kind(),
    )


def _declared_kind() -> ActorKind:
    """Return what the environment says that acts. It can only take rights away, so nobody is a person by saying so."""
    said = os.environ.get("PAWL_ACTOR_KIND", "")
    if said in {"", "human"}:
        return "unknown"
    return "service" if said == "service" else "agent"


_WITHOUT_GIT = "nothing was written; run it again once Git works, or leave the commit to somebody with --no-commit"


def actor_of(workspace: Workspace, *, ask_git: bool, need_git: bool) -> tuple[Repository | None, Actor]:
    """Return the repository that was asked, and who is acting: Git's user where there is one, else the operating
    system's.

    A Git that is missing or broken is an error only where something is to be committed (``need_git``).
    """
    if ask_git:
        from pawl.io import git  # noqa: PLC0415 - slow, and readers do not need it

        try:
            repository = git.find(workspace.root)
            found = repository.identity() if repository else None
        except PawlError as error:
            if need_git:
                error.problems = tuple(replace(problem, hint=_WITHOUT_GIT) for problem in error.problems)
                raise
            repository = found = None
        if found:
            return repository, Actor(name=found[0], email=found[1])
        return repository, Actor(name=_system_user())
    return None, Actor(name=_system_user())


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def guarded(act: Callable[[], Report]) -> Report:
    """Return the report of ``act``; an error of pawl's becomes a report too, by the one table."""
    try:
        return act()
    except PawlError as error:
        for kind, code, status in EXIT_CODES:
            if isinstance(error, kind):
                return Report(status=status, exit_code=code, problems=error.problems)
        raise
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        message = f"the operating system said no: {error.strerror or error}{where}"
        return Report(status="failed", exit_code=FINDINGS, problems=(Problem(code="cannot-write", message=message),))


def _write_output(path: Path, text: str) -> None:
    try:
        check_output(path).write_text(text + "\n", encoding="utf-8")
    except PawlError as error:
        raise click.UsageError(error.message) from None
    except OSError as error:
        raise click.UsageError(f"the output cannot be written to {path}: {error.strerror}") from None


def finish(command: str, report: Report, outputs: tuple[Output, ...], lines: Lines) -> NoReturn:
    """Show a report in every form that was asked for, and end with its exit code."""
    for output in outputs or (Output(kind="text", file=None),):
        text = FORMATS[output.kind].render(command, report, lines)
        if output.file is None:
            write_answer(text)
        else:
            _write_output(Path(output.file), text)
    raise SystemExit(report.exit_code)
