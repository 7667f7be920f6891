"""Completion of commands, options and names in a shell: what may come next, and the shells' scripts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperArgument, TyperOption

from headway.cli.typerparts import context_of, parameter_at
from headway.errors import WrongInputError
from headway.terminal import say


class Shell(StrEnum):
    """Shells whose users press Tab."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_SCRIPTS = {
    Shell.BASH: """\
_headway() {
    local found
    COMPREPLY=()
    while IFS= read -r found; do
        COMPREPLY+=("$(printf '%q' "$found")")
    done < <(_HEADWAY_COMPLETE=bash "$1" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o nosort -F _headway headway""",
    Shell.ZSH: """\
#compdef headway
_headway() {
    local found
    local -a whole begun
    for found in "${(@f)$(_HEADWAY_COMPLETE=zsh ${words[1]} "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ -n $found && ${found%%$'\\t'*} == *[/=] ]]; then
            begun+=("${found%%$'\\t'*}")
        elif [[ -n $found ]]; then
            whole+=("${${found%%$'\\t'*}//:/\\\\:}:${found#*$'\\t'}")
        fi
    done
    (( $#whole )) && _describe -V headway whole
    (( $#begun )) && compadd -S '' -- "${begun[@]}"
}
if [[ $funcstack[1] == _headway ]]; then
    _headway "$@"
else
    compdef _headway headway
fi""",
    Shell.FISH: """\
function __headway_complete
    set --local words (commandline --tokenize --current-process --cut-at-cursor)
    env _HEADWAY_COMPLETE=fish $words[1] $words[2..] "$(commandline --current-token)" 2>/dev/null
end
complete --command headway --no-files --keep-order --arguments '(__headway_complete)'""",
}


def completion(
    shell: Annotated[
        Shell | None, typer.Argument(help="bash, zsh or fish; default: yours.", metavar="SHELL")
    ] = None,
) -> None:
    """Print the script that completes commands in a shell.

    For bash, put `eval "$(headway completion bash)"` into ~/.bashrc, for zsh the same with zsh below `compinit` in
    ~/.zshrc. For fish, write the script to ~/.config/fish/completions/headway.fish.
    """
    own = Path(os.environ.get("SHELL", "")).name
    say(_SCRIPTS[shell or _shell(own, where="headway completion")])


def print_candidates(asking: str, words: Sequence[str]) -> None:
    """Print what the last word may become, a line for each, as a shell's script reads it.

    Args:
        asking: the name of the shell.
        words: of the command line, without the command.

    Raises:
        WrongInputError: another shell.
    """
    shell = _shell(asking, where="_HEADWAY_COMPLETE")
    whole = _joined(words) if shell is Shell.BASH else list(words)
    *before, incomplete = whole or [""]
    # To bash, an equals sign ends a word, and it replaces only what stands behind that.
    begun = incomplete.rpartition("=")[0] + "=" if "=" in incomplete else ""
    begun = begun if shell is Shell.BASH else ""
    for value, text in candidates(before, incomplete):
        print(value.removeprefix(begun) if shell is Shell.BASH else f"{value}\t{text}")


def _shell(name: str, *, where: str) -> Shell:
    if name not in list(Shell):
        raise WrongInputError(f"needs a shell: {', '.join(Shell)}", where=where)
    return Shell(name)


def candidates(before: Sequence[str], incomplete: str) -> Iterator[tuple[str, str]]:
    """What an incomplete word may become, and what each means.

    Args:
        before: the words before it.
        incomplete: the word.
    """
    from headway.cli.group import command_line
    from headway.cli.suggest import files

    words = list(before)
    # An option without its value would hide what stands before it.
    whole = words[:-1] if words and words[-1].startswith("-") else words
    context = context_of(command_line(), {}, "headway", whole)
    if context.parent is None and whole:
        return
    place, rest = parameter_at(context, words, incomplete)
    option = incomplete[: len(incomplete) - len(rest)]
    pairs = [
        (completion.value, completion.help or "")
        for completion in place.shell_complete(context, rest)
    ]
    if not pairs and isinstance(place, TyperArgument | TyperOption):
        described = place.type_descriptor
        if described.is_path or described.annotation == list[Path]:
            pairs = [(file, "") for file in files(rest)]
    for value, text in pairs:
        yield option + value, text.partition("\n")[0]


def _joined(words: Sequence[str]) -> list[str]:
    """Words of bash, which takes an equals sign as a word of its own."""
    texts: list[str] = []
    glued = False
    for word in words:
        if texts and (word == "=" or glued) and texts[-1]:
            texts[-1] += word
        else:
            texts.append(word)
        glued = word == "="
    return texts
