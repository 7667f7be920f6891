"""Tables of sites: those that there are, and what one consists of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from rich.table import Table
from rich.text import Text

from headway.cli.lists import chosen
from headway.foreign.console import escaping_console
from headway.foreign.shown import shortened
from headway.sites.finding import find_site
from headway.sites.maker import Summary, made_names, made_summary
from headway.sites.site import Exchange, Site
from headway.sites.verify import Severity, findings
from headway.terminal import output, say

_PIPED_WIDTH = 200


_MOST_FINDINGS = 200
"""Of a site: those that are broken come first if there are more."""


def print_sites(archives: Sequence[str] = (), only: Sequence[str] = ()) -> None:
    """Print a line for each site, with what it amounts to.

    Args:
        archives: to list beside the sites of the corpus.
        only: names of the sites of the corpus that are listed; all if none is named.
    """
    table = _table("site", "objects", "hosts", "kB", "what it is")
    names = chosen("site", dict.fromkeys(made_names()), only)
    for entry in (*map(made_summary, names), *map(_summary, archives)):
        table.add_row(
            Text(entry.name),
            _number(entry.objects),
            _number(entry.hosts),
            "-" if entry.size_bytes is None else _kilobytes(entry.size_bytes),
            Text(entry.description),
        )
    # A line a site, for whoever searches in it; only a terminal has a width to keep to.
    terminal = output()
    shown = (
        terminal if terminal.is_terminal else escaping_console(width=_PIPED_WIDTH, highlight=False)
    )
    shown.print(table)


def print_site(name: str) -> None:
    """Print a site's exchanges, and what they amount to by type and host."""
    site, console = find_site(name), output()
    console.print(Text.assemble((site.name, "bold"), f"  {site.page}"), soft_wrap=True)
    if site.description:
        console.print(site.description, markup=False)
    console.print(_exchanges(site))
    if site.cost_ms is not None:
        console.print(
            f"The main thread of the browser that recorded it took {site.cost_ms:,.0f} ms."
        )
    console.print(_totals("type", site.exchanges, _type))
    console.print(_totals("host", site.exchanges, lambda exchange: exchange.host))


def print_findings(name: str, site: Site) -> bool:
    """Print what is wrong with a site; returns whether it is broken."""
    flaws = findings(site)
    counts = {
        severity: sum(finding.severity is severity for finding in flaws) for severity in Severity
    }
    text = ", ".join(f"{count} {severity}" for severity, count in counts.items() if count)
    say(f"{name}: {text or 'nothing is wrong'} ({len(site.exchanges)} exchanges)")
    shown = sorted(flaws, key=lambda finding: tuple(Severity).index(finding.severity))
    for finding in shown[:_MOST_FINDINGS] if len(flaws) > _MOST_FINDINGS else flaws:
        say(f"  {finding.severity:8}  {shortened(f'{finding.url}: {finding.message}')}")
    if (more := len(flaws) - _MOST_FINDINGS) > 0:
        say(f"  and {more:,} more")
    return counts[Severity.BROKEN] > 0


def _summary(archive: str) -> Summary:
    site = find_site(archive)
    return Summary(archive, site.description, len(site.exchanges), len(site.hosts), site.size_bytes)


def _number(count: int | None) -> str:
    return "-" if count is None else str(count)


def _exchanges(site: Site) -> Table:
    """With what each costs the main thread, if the recording tells it."""
    costs = ("thread ms",) if site.cost_ms is not None else ()
    numbers = ("status", "kB", *costs)
    table = _table("status", "type", "kB", *costs, "url", numbers=numbers)
    for exchange in site.exchanges:
        method = "" if exchange.method == "GET" else f"{exchange.method} "
        cost_ms = exchange.cost.total_ms if exchange.cost else 0.0
        table.add_row(
            str(exchange.status),
            Text(_type(exchange)),
            _kilobytes(len(exchange.body)),
            *(f"{cost_ms:,.1f}" for _ in costs),
            Text(f"{method}{exchange.url}", overflow="ellipsis", no_wrap=True),
        )
    return table


def _totals(what: str, exchanges: Iterable[Exchange], key: Callable[[Exchange], str]) -> Table:
    """Objects and bytes by one of their properties, the largest first."""
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for exchange in exchanges:
        sizes[key(exchange)].append(len(exchange.body))
    table = _table(what, "objects", "kB")
    for name, of_name in sorted(sizes.items(), key=lambda entry: -sum(entry[1])):
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
