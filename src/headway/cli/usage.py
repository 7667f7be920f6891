"""A command line that is not right: what is wrong with it, and what may have been meant."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from typer.core import TyperArgument, TyperOption

from headway.cli.entries import COMMANDS
from headway.cli.typerparts import NoSuchOption, UsageError
from headway.errors import nearest

_OTHER_COMMANDS = {"dry-run": "plan", "estimate": "plan", "validate": "validate", "list": "list"}
"""Options that are commands here."""
_CHANGES = "set"
"""The option that changes a key of a study."""


def in_words(error: UsageError, words: Sequence[str]) -> list[str]:
    """Lines about a command line that is not right.

    Args:
        error: what was found.
        words: of the command line, among which an option's value may stand.
    """
    usual = f"headway {words[0]}" if words[:1] and words[0] in COMMANDS else "headway"
    command = error.ctx.command_path if error.ctx else usual
    match error:
        case NoSuchOption():
            known = _options(error)
            wrong = (
                f"there is no option {error.option_name}{hint_at(error.option_name, known, words)}"
            )
        case typer.BadParameter(param=TyperArgument() | TyperOption() as parameter) if (
            error.message
        ):
            wrong = f"{_written(parameter)}: {error.message}"
        case _:
            message = error.format_message().rstrip(".")
            wrong = message[:1].lower() + message[1:]
    return [wrong, f"`{command} --help` shows what it takes"]


def hint_at(option: str, known: Sequence[str], words: Sequence[str]) -> str:
    """The end of a message about an option that there is not.

    Args:
        option: as written, with its hyphens.
        known: names of the command's options.
        words: of the command line, among which the option's value may stand.
    """
    name = option.lstrip("-")
    if other := _OTHER_COMMANDS.get(name):
        return f"; `headway {other}` does that"
    if _CHANGES in known and (key := _key_of(name.replace("-", "_"))):
        return f"; did you mean '--set {key}={_value(option, words)}'?"
    return nearest(name, known, "--")


def _options(error: NoSuchOption) -> list[str]:
    """Names of the options that the command has."""
    parameters = error.ctx.command.params if error.ctx else []
    written = (option for parameter in parameters for option in parameter.opts)
    return [option.removeprefix("--") for option in written if option.startswith("--")]


def _written(parameter: TyperArgument | TyperOption) -> str:
    """An option or an argument, as a command line has it."""
    if isinstance(parameter, TyperOption):
        return parameter.opts[0]
    return parameter.display_name_raw


def _key_of(name: str) -> str:
    """The key of studies that is meant; empty if none is."""
    # Imported here because only who is wrong has to wait for it.
    from headway.study.validation_messages import key_meant

    return key_meant(name)


def _value(option: str, words: Sequence[str]) -> str:
    """What stands behind an option, as one word of a shell."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word.startswith(f"{option}="):
            return word.removeprefix(f"{option}=")
        if word == option and after and not after.startswith("-"):
            return after
    return "VALUE"
