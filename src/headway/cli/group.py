"""The command line: its commands, each of which is loaded when it is asked for, and its help."""

from __future__ import annotations

from importlib import import_module
from itertools import groupby
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from headway.cli import suggest
from headway.cli.arguments import ReadsValues
from headway.cli.entries import COMMANDS
from headway.cli.typerparts import Command, CompletionItem, Context, HelpFormatter, UsageError
from headway.errors import nearest
from headway.overriding import override
from headway.version import VERSION

_HELP_WIDTH = 100


class OneCommand(ReadsValues, TyperCommand):
    """A command that is no group; the context's object is called when it begins."""

    @override
    def invoke(self, ctx: Context) -> object:
        if callable(ctx.obj):
            ctx.obj()
        return super().invoke(ctx)


class CommandGroup(ReadsValues, TyperGroup):
    """Commands with summaries that are not cut, and hints by the table of all other hints."""

    @override
    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args or ctx.resilient_parsing else ["--help"])

    @override
    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            if not args[0].startswith("-"):
                known = self.list_commands(ctx)
                hint = nearest(args[0], known) or f"; known: {', '.join(known)}"
                error.message = f"there is no command {args[0]!r}{hint}"
            raise

    def summaries(self, ctx: Context) -> dict[str, str]:
        """What each command does."""
        pairs = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        return {
            name: (command.help or "").partition("\n\n")[0] for name, command in pairs if command
        }

    def parts(self, ctx: Context) -> dict[str, list[str]]:
        """The commands below each heading of the help."""
        return {"Commands": self.list_commands(ctx)}

    @override
    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        summaries = self.summaries(ctx)
        width = max(map(len, summaries))
        for part, names in self.parts(ctx).items():
            with formatter.section(part):
                formatter.write_dl([(f"{name:{width}}", summaries[name]) for name in names])

    @override
    def shell_complete(self, ctx: Context, incomplete: str) -> list[CompletionItem]:
        completion_items = [
            CompletionItem(name, help=summary)
            for name, summary in self.summaries(ctx).items()
            if name.startswith(incomplete)
        ]
        return completion_items + super(TyperGroup, self).shell_complete(ctx, incomplete)


class Commands(CommandGroup):
    """All commands; each is loaded when it is asked for."""

    @override
    def list_commands(self, ctx: Context) -> list[str]:
        return list(COMMANDS)

    @override
    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        return _loaded(cmd_name) if cmd_name in COMMANDS else None

    @override
    def summaries(self, ctx: Context) -> dict[str, str]:
        return {name: entry.summary for name, entry in COMMANDS.items()}

    @override
    def parts(self, ctx: Context) -> dict[str, list[str]]:
        by_part = groupby(COMMANDS, lambda name: COMMANDS[name].part)
        return {part: list(names) for part, names in by_part}


def command_line() -> Command:
    """The whole command line."""
    app = typer.Typer(
        cls=Commands,
        help="A laboratory for HTTP over TCP and QUIC, on a real Linux kernel, in virtual time.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        subcommand_metavar="COMMAND ...",
        context_settings={"max_content_width": _HELP_WIDTH, "help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_version)
    return get_command(app)


def _loaded(name: str) -> Command:
    module, _, attribute = COMMANDS[name].place.rpartition(".")
    value = getattr(import_module(f"headway.{module}"), attribute)
    if isinstance(value, typer.Typer):
        group = get_command(value)
        group.name = name
        return group
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    # What follows the first word that is no option is a command of its own.
    app.command(name, cls=OneCommand, context_settings={"allow_interspersed_args": name != "exec"})(
        value
    )
    return get_command(app)


def show_help(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="A command; all if none is named.",
            metavar="COMMAND",
            autocompletion=suggest.commands,
        ),
    ] = None,
) -> None:
    """Show all commands, or one with its options."""
    command_line()([*(words or ()), "--help"], "headway", standalone_mode=False)


def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        print(f"headway {VERSION}")
        raise typer.Exit
