"""`headway list`: what there is to put into a study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headway.cli import suggest
from headway.errors import WrongInputError
from headway.terminal import say


class Known(StrEnum):
    """What can be listed."""

    STUDIES = "studies"
    PROGRAMS = "programs"
    SITES = "sites"
    PROFILES = "profiles"
    WORKLOADS = "workloads"


_MEANING = {
    Known.STUDIES: "studies that come with Headway, and what each asks",
    Known.PROGRAMS: "clients, servers, proxies and PEPs; with a NAME, all that one can do",
    Known.SITES: "recorded web pages that a server can replay",
    Known.PROFILES: "paths of mobile networks and of measuring tools",
    Known.WORKLOADS: "what a client can do",
}


def list_known(
    what: Annotated[Known | None, typer.Argument(help="What to list.", metavar="WHAT")] = None,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Only these, in detail.", metavar="NAME", autocompletion=suggest.listed
        ),
    ] = None,
    programs: Annotated[
        Path | None,
        typer.Option(
            help="File of programs from outside; default: programs.toml here.", metavar="FILE"
        ),
    ] = None,
) -> None:
    """List studies, programs, sites, profiles or workloads.

    With names, only these are shown. A named program is shown with all its knobs.
    """
    if what is None:
        for kind, meaning in _MEANING.items():
            say(f"headway list {kind:<10} {meaning}")
        return
    if programs is not None and what is not Known.PROGRAMS:
        raise WrongInputError("is for `headway list programs`", where="--programs")
    _printers(programs)[what](names or ())


def _printers(programs: Path | None) -> dict[Known, Callable[[Sequence[str]], None]]:
    # Imported here because what is listed takes a moment to load, and only this command needs it.
    from headway.cli import lists

    def print_programs(names: Sequence[str]) -> None:
        from headway.cli import program_lists

        program_lists.print_programs(names, programs)

    def print_sites(names: Sequence[str]) -> None:
        from headway.cli import site_tables

        site_tables.print_sites(only=names)

    return {
        Known.STUDIES: lists.print_studies,
        Known.PROGRAMS: print_programs,
        Known.SITES: print_sites,
        Known.PROFILES: lists.print_profiles,
        Known.WORKLOADS: lists.print_workloads,
    }
