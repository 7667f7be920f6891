"""From what was captured, by whatever tool, to a site that can be replayed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.errors import WrongInputError
from headway.sites.captured import Captured, RecordedFile
from headway.sites.firstpage import find_page
from headway.sites.sifting import LEFT_OUT, Sifted, sifted, without_kept, without_revalidations
from headway.sites.site import Exchange, Lost, Site

_REPEATED = f"{LEFT_OUT}the same response to the same request again"
_REVALIDATED = f"{LEFT_OUT}a 304 whose 200 is there"
_OF_ANOTHER = f"{LEFT_OUT}another source has a response to the same request"
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


def check_responses(files: Sequence[RecordedFile], source: Path | str) -> None:
    """Check that there is a response in files that belong together.

    Raises:
        WrongInputError: there is none, nor anything that tells why.
    """
    if not any(file.captured or file.odd or file.lost for file in files):
        raise WrongInputError("it holds no HTTP response", where=str(source))


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
    result = sifted(captured)
    return recorded(name, result, page or find_page(result, source), description, lost)


def recorded(
    name: str, results: Sifted, page: str, description: str, lost: Iterable[Lost] = ()
) -> Recording:
    """A site from what can be replayed.

    Args:
        name: of the site.
        results: what there is.
        page: URL that is loaded.
        description: of the site.
        lost: what is known to have been lost before.
    """
    notes = Counter(results.notes)
    distinct = tuple(dict.fromkeys(results.exchanges))
    notes[_REPEATED] = len(results.exchanges) - len(distinct)
    exchanges = without_revalidations(distinct)
    notes[_REVALIDATED] = len(distinct) - len(exchanges)
    gone = without_kept(exchanges, (*results.lost, *lost))
    site = Site(name, page, exchanges, description, gone)
    return Recording(site, tuple(f"{note} ({count})" for note, count in notes.items() if count))


def merged(name: str, recordings: Sequence[Recording]) -> Recording:
    """One site of several recordings; the first one's page is its page.

    Of exchanges with the same method and URL, those of the earliest recording are taken, or of the earliest that has
    all of the body.
    """
    first = recordings[0]
    exchanges: list[Exchange] = []
    left = 0
    for recording in recordings:
        whole = {_request(exchange) for exchange in exchanges if _is_whole(exchange)}
        short = {_request(exchange) for exchange in exchanges} - whole
        new = [
            exchange
            for exchange in recording.site.exchanges
            if _request(exchange) not in (whole if _is_whole(exchange) else whole | short)
        ]
        replaced = short & {_request(exchange) for exchange in new if _is_whole(exchange)}
        kept = [exchange for exchange in exchanges if _request(exchange) not in replaced]
        left += len(exchanges) - len(kept) + len(recording.site.exchanges) - len(new)
        exchanges = kept + new
    lost = (exchange for recording in recordings for exchange in recording.site.lost)
    site = replace(
        first.site, name=name, exchanges=tuple(exchanges), lost=without_kept(exchanges, lost)
    )
    notes = [note for recording in recordings for note in recording.notes]
    return Recording(site, (*notes, *([f"{_OF_ANOTHER} ({left})"] if left else ())))


def _is_whole(exchange: Exchange) -> bool:
    """Whether it has all that a client without a cache gets."""
    return exchange.shortfall is None and exchange.status != 304


def _request(exchange: Exchange) -> tuple[str, str]:
    return exchange.method, exchange.url


def site_name(path: Path) -> str:
    """Name for the site of a file, from the file's name."""
    name = path.name
    while name.endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "site"
