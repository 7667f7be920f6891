"""Options that a command does not have: what may have been meant, an option or a key of the study."""

from __future__ import annotations

from collections.abc import Sequence

from typer._click import Context
from typer._click.exceptions import NoSuchOption
from typer.core import TyperGroup
from typing_extensions import override

from headway.errors import nearest

_CHANGES = "set"
"""The option that changes a key of a study."""


class Commands(TyperGroup):
    """Commands that say of an unknown option what would be right, by the table of all other hints."""

    @override
    def invoke(self, ctx: Context) -> object:
        words = [*ctx._protected_args, *ctx.args]
        try:
            return super().invoke(ctx)
        except NoSuchOption as error:
            if error.ctx is None:
                raise
            known = [
                option.removeprefix("--")
                for parameter in error.ctx.command.params
                for option in parameter.opts
                if option.startswith("--")
            ]
            hint = hint_at(error.option_name, known, words)
            told = f"No such option: {error.option_name}{hint}"
            raise NoSuchOption(error.option_name, told, ctx=error.ctx) from None


def hint_at(option: str, known: Sequence[str], words: Sequence[str]) -> str:
    """The end of a message about an option that there is not.

    Args:
        option: as written, with its hyphens.
        known: names of the command's options.
        words: of the command line, among which the option's value may stand.
    """
    name = option.lstrip("-")
    if _CHANGES in known and (key := _key_of(name.replace("-", "_"))):
        return f"; did you mean '--set {key}={_value(option, words)}'?"
    return nearest(name, known, "--")


def _key_of(name: str) -> str:
    """The key of studies that is meant; empty if none is."""
    # Imported here because only who is wrong has to wait for it.
    from headway.study.explain import key_meant

    return key_meant(name)


def _value(option: str, words: Sequence[str]) -> str:
    """What stands behind an option, as one word of a shell."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word.startswith(f"{option}="):
            return word.removeprefix(f"{option}=")
        if word == option and after and not after.startswith("-"):
            return after
    return "VALUE"
