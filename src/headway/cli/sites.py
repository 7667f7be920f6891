"""`headway sites`: the pages that can be replayed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.errors import EXIT_FAILED
from headway.sites.corpus import corpus_names
from headway.sites.corpus.summary import Summary, summary
from headway.sites.library import find_site
from headway.sites.site import Exchange, Site
from headway.terminal import output

app = typer.Typer(help="Web pages that studies can replay.", no_args_is_help=True)

SiteName = Annotated[
    str, typer.Argument(help="A site of the corpus, or an archive (.warc.gz).", metavar="SITE")
]

_PIPED_WIDTH = 200


@app.command("list")
def list_command(
    archives: Annotated[
        list[str] | None,
        typer.Argument(help="Archives to list, too (.warc.gz).", metavar="ARCHIVE"),
    ] = None,
) -> None:
    """List the sites of the corpus, and archives."""
    table = _table("site", "objects", "hosts", "kB", "what it is")
    for entry in (*map(summary, corpus_names()), *map(_summary, archives or ())):
        table.add_row(
            Text(entry.name),
            _number(entry.objects),
            _number(entry.hosts),
            "-" if entry.size_bytes is None else _kilobytes(entry.size_bytes),
            Text(entry.description),
        )
    # A line a site, for whoever searches in it; only a terminal has a width to keep to.
    shown = output if output.is_terminal else Console(width=_PIPED_WIDTH, highlight=False)
    shown.print(table)


@app.command("show")
def show_command(name: SiteName) -> None:
    """Show a site's exchanges, and what they amount to."""
    site = find_site(name)
    output.print(Text.assemble((site.name, "bold"), f"  {site.page}"), soft_wrap=True)
    if site.description:
        output.print(site.description, markup=False)
    output.print(_exchanges(site))
    output.print(_totals("type", site.exchanges, _type))
    output.print(_totals("host", site.exchanges, lambda exchange: exchange.host))


@app.command("verify")
def verify_command(
    names: Annotated[
        list[str],
        typer.Argument(help="Sites of the corpus, or archives (.warc.gz).", metavar="SITE"),
    ],
) -> None:
    """Check that a site can be replayed; exit status 1 if one is broken."""
    broken = [name for name in names if print_findings(name, find_site(name))]
    if broken:
        raise typer.Exit(EXIT_FAILED)


def print_findings(name: str, site: Site) -> bool:
    """Print what is wrong with a site; returns whether it is broken."""
    from headway.sites.verify import Severity, findings

    found = findings(site)
    counts = {
        severity: sum(finding.severity is severity for finding in found) for severity in Severity
    }
    told = ", ".join(f"{count} {severity}" for severity, count in counts.items() if count)
    lines = [f"{name}: {told or 'nothing is wrong'} ({len(site.exchanges)} exchanges)"]
    lines += [f"  {finding.severity:8}  {finding.url}: {finding.message}" for finding in found]
    for line in lines:
        output.print(line, markup=False, soft_wrap=True)
    return counts[Severity.BROKEN] > 0


def _summary(archive: str) -> Summary:
    site = find_site(archive)
    return Summary(archive, site.description, len(site.exchanges), len(site.hosts), site.size_bytes)


def _number(count: int | None) -> str:
    return "-" if count is None else str(count)


def _exchanges(site: Site) -> Table:
    table = _table("status", "type", "kB", "url", numbers=("status", "kB"))
    for exchange in site.exchanges:
        method = "" if exchange.method == "GET" else f"{exchange.method} "
        table.add_row(
            str(exchange.status),
            Text(_type(exchange)),
            _kilobytes(len(exchange.body)),
            Text(f"{method}{exchange.url}", overflow="ellipsis", no_wrap=True),
        )
    return table


def _totals(what: str, exchanges: Iterable[Exchange], key: Callable[[Exchange], str]) -> Table:
    """Objects and bytes by one of their properties, the largest first."""
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for exchange in exchanges:
        sizes[key(exchange)].append(len(exchange.body))
    table = _table(what, "objects", "kB")
    for name, of_name in sorted(sizes.items(), key=lambda item: -sum(item[1])):
        table.add_row(Text(name), str(len(of_name)), _kilobytes(sum(of_name)))
    return table


def _type(exchange: Exchange) -> str:
    return (exchange.header("content-type") or "").partition(";")[0].strip() or "-"


def _kilobytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e3:.1f}"


def _table(*columns: str, numbers: tuple[str, ...] = ("objects", "hosts", "kB")) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left")
    return table
