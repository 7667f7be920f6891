"""What a site can be recorded from: a URL, or what another tool has recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.errors import WrongInputError
from headway.sites.access import Access
from headway.sites.chromium import find_browser, record_page
from headway.sites.flows import read_flows
from headway.sites.formats import LOOKED_AT_BYTES, Format, format_of
from headway.sites.har_import import read_har
from headway.sites.hostmap import NO_MAPS, HostMaps
from headway.sites.mahimahi import read_mahimahi
from headway.sites.recording import Recording, merged
from headway.sites.screen import SCREENS
from headway.sites.servable import check_servable, final_page
from headway.sites.warcsite import read_warc
from headway.sites.wpr import read_wpr
from headway.sites.zipped import read_zip
from headway.study.workload import Device

_URL_STARTS = ("http://", "https://")


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
    """Record a URL with Chromium, or import what another tool recorded.

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
    if path.is_dir():
        return read_mahimahi(path)
    try:
        with path.open("rb") as file:
            kind = format_of(file.read(LOOKED_AT_BYTES))
    except OSError as error:
        raise WrongInputError(
            f"neither a URL with http:// or https:// nor a file: {error.strerror}", where=source
        ) from error
    if isinstance(kind, str):
        raise WrongInputError(kind, where=source)
    return _READERS[kind](path)


_READERS: dict[Format, Callable[[Path], Recording]] = {
    Format.WARC: read_warc,
    Format.HAR: read_har,
    Format.FLOWS: read_flows,
    Format.ZIP: read_zip,
    Format.WPR: read_wpr,
}
