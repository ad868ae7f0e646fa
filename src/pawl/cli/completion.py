"""pawl completion: the script that a shell sources, and the answer that the script then asks pawl for.

The script runs ``pawl`` with ``_PAWL_COMPLETE=SHELL_complete`` and the command line up to the cursor in ``COMP_LINE``.
An answer is lines of kind, value and help, parted by tabs. It is nothing rather than an error: whatever goes wrong,
standard error stays empty and the exit code is 0. No value holds a character that a shell would act on.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import click
from click.shell_completion import ShellComplete, split_arg_string

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

BASH = r"""# pawl completion for bash; in ~/.bashrc: eval "$(pawl completion bash)"
_pawl_completion() {
    local program=$1 kind value help
    type -P -- "$program" >/dev/null 2>&1 || program=pawl
    COMPREPLY=()
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            plain) COMPREPLY+=("$value") ;;
            open) COMPREPLY+=("$value"); compopt -o nospace 2>/dev/null ;;
            dir) compopt -o dirnames 2>/dev/null ;;
            file) compopt -o default 2>/dev/null ;;
        esac
    done <<< "$(_PAWL_COMPLETE=bash_complete COMP_WORD=$2 COMP_LINE=${COMP_LINE:0:COMP_POINT} \
        command "$program" 2>/dev/null </dev/null)"
}
complete -o nosort -F _pawl_completion pawl 2>/dev/null || complete -F _pawl_completion pawl
"""

ZSH = r"""#compdef pawl
# pawl completion for zsh; in ~/.zshrc, after compinit: eval "$(pawl completion zsh)"
_pawl_completion() {
    local program=${words[1]} kind value help
    local -a plain described shown open
    (( ${+commands[$program]} )) || [[ -x $program ]] || program=pawl
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            plain)
                if [[ -n $help ]]; then
                    described+=("$value") shown+=("$value  -- $help")
                else
                    plain+=("$value")
                fi ;;
            open) open+=("$value") ;;
            dir) _path_files -/ ;;
            file) _path_files ;;
        esac
    done <<< "$(_PAWL_COMPLETE=zsh_complete COMP_LINE="${(j: :)words[1,CURRENT-1]} $IPREFIX$PREFIX" \
        command "$program" 2>/dev/null </dev/null)"
    (( $#described )) && compadd -l -d shown -V described -a described
    (( $#plain )) && compadd -V plain -a plain
    (( $#open )) && compadd -S '' -V open -a open
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _pawl_completion "$@"
else
    compdef _pawl_completion pawl
fi
"""

FISH = r"""# pawl completion for fish: pawl completion fish > ~/.config/fish/completions/pawl.fish
function __pawl_completion
    set -l line (commandline -cp | string collect)
    set -l program (commandline -opc)[1]
    command -q -- $program; or set program pawl
    set -l answer (env _PAWL_COMPLETE=fish_complete COMP_LINE="$line" $program 2>/dev/null </dev/null)
    for row in $answer
        set -l parts (string split \t -- $row)
        switch $parts[1]
            case dir
                __fish_complete_directories (commandline -ct)
            case file
                __fish_complete_path (commandline -ct)
            case plain open
                printf '%s\t%s\n' $parts[2] "$parts[3]"
        end
    end
end
complete --command pawl --no-files --keep-order --arguments '(__pawl_completion)'
"""

_MARK = "x"
_SAFE = re.compile(r"[A-Za-z0-9@%+=:,./_-]+\Z")


class _Answering(ShellComplete):
    """What the three scripts have in common: what they send, and what they read."""

    def get_completion_args(self) -> tuple[list[str], str]:
        # the mark makes the word under the cursor the last one, empty or in an open quote as it may be
        words = split_arg_string(os.environ.get("COMP_LINE", "") + _MARK)
        return words[1:-1], words[-1].removesuffix(_MARK)

    def format_completion(self, item: CompletionItem) -> str:
        if item.type in {"dir", "file"}:
            return f"{item.type}\t-\t"  # the shell knows better how to write a path
        return f"{item.type}\t{item.value}\t{' '.join((item.help or '').split())}"

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        found = super().get_completions(args, incomplete)
        option, equals, _ = incomplete.partition("=")
        if option.startswith("-") and equals:
            for item in found:
                item.value = f"{option}={item.value}"
        return [item for item in found if item.type in {"dir", "file"} or _SAFE.match(item.value)]


class _Bash(_Answering):
    name = "bash"
    source_template = BASH

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Leave out what bash, which parts words at @ and = too, does not replace."""
        found = super().get_completions(args, incomplete)
        word = os.environ.get("COMP_WORD", incomplete)
        kept = incomplete.removesuffix(word) if incomplete.endswith(word) else ""
        for item in found:
            item.value = item.value.removeprefix(kept)
        return found


class _Zsh(_Answering):
    name = "zsh"
    source_template = ZSH


class _Fish(_Answering):
    name = "fish"
    source_template = FISH


SHELLS: Mapping[str, type[ShellComplete]] = MappingProxyType({made.name: made for made in (_Bash, _Zsh, _Fish)})


@click.command("completion")
@click.argument("shell", type=click.Choice(list(SHELLS)))
def command(shell: str) -> None:
    """Print the script that completes commands, options, names, versions and channels in a shell.

    For bash, in ~/.bashrc: eval "$(pawl completion bash)". The script itself says how for the others.
    """
    sys.stdout.write(SHELLS[shell].source_template)


def answer(cli: click.Command, instruction: str) -> int:
    """Write what a shell asked for, ``SHELL_complete`` or ``SHELL_source``, and return the exit code."""
    shell, _, what = instruction.partition("_")
    made = SHELLS.get(shell)
    if made is None or what not in {"complete", "source"}:
        return 1
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            text = made.source_template if what == "source" else made(cli, {}, "pawl", "_PAWL_COMPLETE").complete()
        except (Exception, SystemExit):  # noqa: BLE001 - a line that makes no sense yet is completed by nothing
            text = ""
    sys.stdout.write(f"{text}\n" if text else "")
    return 0
