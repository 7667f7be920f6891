"""All commands, and what a person is told when one fails."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import typer

from headway.cli.options import Commands
from headway.errors import EXIT_FAILED, HeadwayError
from headway.terminal import complain
from headway.version import VERSION

_COMMANDS = {
    "image": "image.app",
    "sites": "sites.app",
    "record": "record.record_command",
    "run": "study.run",
    "reproduce": "study.reproduce",
    "check": "check.check",
    "report": "study.report",
    "figure": "figure.figure",
    "packets": "packets.packets",
    "claims": "claims.claims",
    "export": "export.export",
    "validate": "study.validate",
    "plan": "study.plan",
    "list": "known.list_known",
    "doctor": "lab.doctor",
    "shell": "lab.shell",
    "exec": "lab.execute",
}
"""The commands, in the order of the help, and what carries them out."""


def command_line(first_word: str = "") -> typer.Typer:
    """The command line; of its commands only the one that is asked for, if one is.

    Each loads what it needs, and all together take as long as a lab.
    """
    app = typer.Typer(
        cls=Commands,
        help="A laboratory for HTTP over TCP and QUIC, on a real Linux kernel, in virtual time.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback(invoke_without_command=True)(_version)
    for name in [first_word] if first_word in _COMMANDS else _COMMANDS:
        module, _, attribute = _COMMANDS[name].partition(".")
        found = getattr(import_module(f"headway.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            passes_on = {"ignore_unknown_options": name == "exec"}
            app.command(name, context_settings=passes_on)(found)
    return app


def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        _print_version()
        raise typer.Exit


def _print_version() -> None:
    print(f"headway {VERSION}")


def carry_out() -> None:
    """Carry out the command that the process was started with; always ends with SystemExit."""
    try:
        words = sys.argv[1:]
        if words == ["--version"]:
            _print_version()
            sys.exit()
        if words[:1] == ["help"]:
            words = [*words[1:], "--help"]
        command_line(words[0])(words) if words else command_line()()
    except HeadwayError as error:
        complain(str(error))
        sys.exit(error.exit_status)
    except Exception as error:
        if os.environ.get("HEADWAY_DEBUG"):
            raise
        complain(f"a defect in Headway: {type(error).__name__}: {error}")
        complain("HEADWAY_DEBUG=1 in the environment shows where; please report it")
        sys.exit(EXIT_FAILED)
