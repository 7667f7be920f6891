"""What a site can be recorded from: a URL, or what another tool has recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.errors import WrongInputError
from headway.sites.access import Access
from headway.sites.chromium import find_browser, record_page
from headway.sites.flows import read_flows
from headway.sites.har_import import read_har
from headway.sites.hostmap import NO_MAPS, HostMaps
from headway.sites.recording import Recording, assembled, merged, site_name
from headway.sites.screen import SCREENS
from headway.sites.servable import check_servable, final_page
from headway.sites.urls import as_asked
from headway.sites.warc_records import read_records
from headway.study.workload import Device

_URL_STARTS = ("http://", "https://")
_LOOKED_AT_BYTES = 64


@dataclass(frozen=True)
class Browsing:
    """How URLs are recorded.

    Attributes:
        device: what the browser pretends to be.
        browser: the program; None for one in ``PATH``.
        maps: hosts that get other names; recordings of other tools are renamed, too.
        insecure: whether certificates may be wrong.
    """

    device: Device = Device.DESKTOP
    browser: Path | None = None
    maps: HostMaps = NO_MAPS
    insecure: bool = False


def record(source: str, browsing: Browsing) -> Recording:
    """Record a URL with Chromium, or import a WARC, HAR or mitmproxy flow file.

    Of which kind a file is tells its content, not its name.

    Raises:
        WrongInputError: there is no such file, it is of no known kind, or it holds no page.
        HeadwayError: the URL cannot be recorded.
    """
    if not source.startswith(_URL_STARTS):
        return browsing.maps.applied(_imported(source))
    screen, browser = SCREENS[browsing.device], find_browser(browsing.browser)
    access = Access(browsing.maps, browsing.insecure)
    page = browsing.maps.renamed(source)
    return browsing.maps.applied(record_page(page, screen, browser, access))


def record_site(name: str, sources: Sequence[str], browsing: Browsing) -> Recording:
    """Record sources as one site that labs can replay; see `record`.

    Args:
        name: of the site.
        sources: the first one's page is the site's page, or what it redirects to if only that can
            be replayed.
        browsing: how URLs are recorded.

    Raises:
        WrongInputError: see `record`; or no lab could serve the page, which is said before it is
            loaded if that can be told.
        HeadwayError: a URL cannot be recorded.
    """
    for source in sources:
        page = browsing.maps.renamed(source)
        if page.startswith(_URL_STARTS):
            # Plain HTTP at its own port may lead to HTTPS.
            check_servable(page, page, tls=page.startswith("https:"))
    recording = merged(name, [record(source, browsing) for source in sources])
    page = final_page(recording.site)
    check_servable(page, sources[0])
    return replace(recording, site=replace(recording.site, page=page))


def _imported(source: str) -> Recording:
    path = Path(source)
    try:
        with path.open("rb") as file:
            start = file.read(_LOOKED_AT_BYTES)
    except OSError as error:
        raise WrongInputError(
            f"neither a URL with http:// or https:// nor a file: {error.strerror}", where=source
        ) from error
    return _importer(start, source)(path)


def read_warc(path: Path) -> Recording:
    """The site of a WARC file, Headway's own or another tool's.

    Raises:
        WrongInputError: it cannot be read, is damaged, or holds no page.
    """
    archive = read_records(path)
    return assembled(
        archive.name or site_name(path),
        archive.captured,
        source=str(path),
        description=archive.description or f"Imported from {path.name}.",
        page=as_asked(archive.page),
        lost=archive.lost,
    )


def _importer(start: bytes, source: str) -> Callable[[Path], Recording]:
    """What reads files that start so."""
    if start.startswith((b"WARC/", b"\x1f\x8b")):
        return read_warc
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return read_har
    if start.partition(b":")[0].isdigit():
        return read_flows
    raise WrongInputError("neither a WARC, nor a HAR, nor a mitmproxy flow file", where=source)
