"""`headway sites`: the pages that can be replayed."""

from __future__ import annotations

from typing import Annotated

import typer

from headway.cli import suggest
from headway.cli.group import CommandGroup, OneCommand
from headway.errors import EXIT_FAILED

app = typer.Typer(
    cls=CommandGroup,
    help="Show and check the web pages that studies replay.",
    add_completion=False,
    rich_markup_mode=None,
)

SiteName = Annotated[
    str,
    typer.Argument(
        help="A site of the corpus, or an archive (.warc.gz).",
        metavar="SITE",
        autocompletion=suggest.sites,
    ),
]


@app.command("list", cls=OneCommand)
def list_command(
    archives: Annotated[
        list[str] | None,
        typer.Argument(help="Archives to list, too (.warc.gz).", metavar="ARCHIVE"),
    ] = None,
) -> None:
    """List the sites of the corpus, and archives."""
    # Sites and tables take a second to load, which help and completion need not wait for.
    from headway.cli.site_tables import print_sites

    print_sites(archives or ())


@app.command("show", cls=OneCommand)
def show_command(name: SiteName) -> None:
    """Show a site's exchanges, and what they amount to."""
    from headway.cli.site_tables import print_site

    print_site(name)


@app.command("verify", cls=OneCommand)
def verify_command(
    names: Annotated[
        list[str],
        typer.Argument(
            help="Sites of the corpus, or archives (.warc.gz).",
            metavar="SITE",
            autocompletion=suggest.sites,
        ),
    ],
) -> None:
    """Check that a site can be replayed; exit status 1 if one is broken."""
    from headway.cli.site_tables import print_findings
    from headway.sites.finding import find_site

    broken = [name for name in names if print_findings(name, find_site(name))]
    if broken:
        raise typer.Exit(EXIT_FAILED)
