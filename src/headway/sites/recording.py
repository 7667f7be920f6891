"""From what was captured, by whatever tool, to a site that can be replayed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.sites.captured import Captured
from headway.sites.firstpage import find_page
from headway.sites.sifting import sifted, without_kept, without_revalidations
from headway.sites.site import Exchange, Lost, Site

_SUFFIXES = (
    *(".gz", ".warc", ".arc", ".har", ".mitm", ".flows", ".flow"),
    *(".wacz", ".zip", ".wprgo", ".wpr"),
)


@dataclass(frozen=True)
class Recording:
    """A site, and what of it is not as it was captured.

    Attributes:
        site: ready to be replayed and written to an archive.
        notes: what was left out or changed, for people.
    """

    site: Site
    notes: tuple[str, ...] = ()


def assembled(
    name: str,
    captured: Iterable[Captured],
    *,
    source: str,
    description: str,
    page: str | None = None,
    lost: Iterable[Lost] = (),
) -> Recording:
    """A site from captured exchanges: what cannot be replayed is left out, repetitions are, too.

    Args:
        name: of the site.
        captured: in the order in which they began.
        source: where they are from, for errors.
        description: of the site.
        page: URL that is loaded; None if it is the first HTML page.
        lost: what is known to have been lost before.

    Raises:
        WrongInputError: nothing can be replayed, or no page is among it.
    """
    found = sifted(captured)
    exchanges = without_revalidations(tuple(dict.fromkeys(found.exchanges)))
    gone = without_kept(exchanges, (*found.lost, *lost))
    site = Site(name, page or find_page(found, source), exchanges, description, gone)
    return Recording(site, tuple(f"{note} ({count})" for note, count in found.notes.items()))


def merged(name: str, recordings: Sequence[Recording]) -> Recording:
    """One site of several recordings; the first one's page is its page.

    Of exchanges with the same method and URL, those of the earliest recording are taken, or of the earliest that has
    all of the body.
    """
    first = recordings[0]
    exchanges: list[Exchange] = []
    for recording in recordings:
        whole = {_request(exchange) for exchange in exchanges if exchange.shortfall is None}
        short = {_request(exchange) for exchange in exchanges} - whole
        new = [
            exchange
            for exchange in recording.site.exchanges
            if _request(exchange) not in (whole if exchange.shortfall is None else whole | short)
        ]
        replaced = short & set(map(_request, new))
        exchanges = [exchange for exchange in exchanges if _request(exchange) not in replaced] + new
    lost = (one for recording in recordings for one in recording.site.lost)
    return Recording(
        replace(
            first.site,
            name=name,
            exchanges=tuple(exchanges),
            lost=without_kept(exchanges, lost),
        ),
        tuple(note for recording in recordings for note in recording.notes),
    )


def _request(exchange: Exchange) -> tuple[str, str]:
    return exchange.method, exchange.url


def site_name(path: Path) -> str:
    """Name for the site of a file, from the file's name."""
    name = path.name
    while name.endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "site"
