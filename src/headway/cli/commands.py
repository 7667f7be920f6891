"""All commands, and what a person is told when one fails."""

from __future__ import annotations

import os
import sys

import typer

from headway.cli import export, figure, image, known, lab, record, sites, study
from headway.errors import EXIT_FAILED, HeadwayError
from headway.terminal import complain
from headway.version import VERSION

app = typer.Typer(
    help="A laboratory for HTTP over TCP and QUIC, on a real Linux kernel, in virtual time.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(image.app, name="image")
app.add_typer(sites.app, name="sites")
app.command("record")(record.record_command)
app.command("run")(study.run)
app.command("reproduce")(study.reproduce)
app.command("report")(study.report)
app.command("figure")(figure.figure)
app.command("export")(export.export)
app.command("validate")(study.validate)
app.command("plan")(study.plan)
app.command("list")(known.list_known)
app.command("doctor")(lab.doctor)
app.command("shell")(lab.shell)
app.command("exec", context_settings={"ignore_unknown_options": True})(lab.execute)


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        print(f"headway {VERSION}")
        raise typer.Exit


def carry_out() -> None:
    """Carry out the command that the process was started with; always ends with SystemExit."""
    try:
        app()
    except HeadwayError as error:
        complain(str(error))
        sys.exit(error.exit_status)
    except Exception as error:
        if os.environ.get("HEADWAY_DEBUG"):
            raise
        complain(f"a defect in Headway: {type(error).__name__}: {error}")
        complain("HEADWAY_DEBUG=1 in the environment shows where; please report it")
        sys.exit(EXIT_FAILED)
