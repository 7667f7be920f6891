"""The account of a recording: its page, and what there is of what the page needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents, FileFact, Listing
from headway.look.quantities import size
from headway.sites.site import Exchange
from headway.sites.sources import Browsing, record_site

_MOST_ROWS = 8


def content(path: Path, _identity: Identity) -> FileContents:
    """What a recording holds.

    Raises:
        WrongInputError: it cannot be read, or has no page.
    """
    recording = record_site("site", [str(path)], Browsing())
    site = recording.site
    statuses = Counter(exchange.status // 100 for exchange in site.exchanges)
    protocols = Counter(exchange.protocol for exchange in site.exchanges if exchange.protocol)
    facts = (
        FileFact("page", site.page),
        FileFact(
            "responses",
            f"{len(site.exchanges)} ({_counts({f'{key}xx': value for key, value in statuses.items()})})",
        ),
        FileFact("hosts", str(len(site.hosts))),
        FileFact("bodies", size(site.size_bytes)),
        FileFact("recorded over", _counts(protocols) or "not told"),
    )
    lost = tuple(
        f"{exchange.method} {exchange.url}: {exchange.shortfall}"
        for exchange in site.lost[:_MOST_ROWS]
    )
    more = len(site.lost) - len(lost)
    return FileContents(
        facts,
        (_listing("type", site.exchanges, _type), _listing("host", site.exchanges, _host)),
        lacks=(
            *recording.notes,
            *lost,
            *((f"{more} more bodies are not there",) if more > 0 else ()),
        ),
    )


def _counts(counts: Counter[str] | dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{name} {count}" for name, count in ordered)


def _listing(
    heading: str, exchanges: Iterable[Exchange], key: Callable[[Exchange], str]
) -> Listing:
    """Responses and bytes by a property, the largest first."""
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for exchange in exchanges:
        name = key(exchange)
        counts[name] += 1
        sizes[name] += len(exchange.body)
    ordered = sizes.most_common()
    rows = tuple((name, str(counts[name]), size(sizes[name])) for name, _ in ordered[:_MOST_ROWS])
    return Listing(
        (heading, "responses", "bodies"),
        rows,
        frozenset(("responses", "bodies")),
        len(ordered) - len(rows),
    )


def _type(exchange: Exchange) -> str:
    return (exchange.header("content-type") or "").partition(";")[0].strip().lower() or "-"


def _host(exchange: Exchange) -> str:
    return exchange.host
