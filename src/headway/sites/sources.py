"""Sources of recordings: a URL, or what another tool has recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.kinds.binary import ARC, FLOWS, WARC
from headway.foreign.kinds.containers import HAR_ARCHIVE, MAHIMAHI_SITE, WACZ, WARC_ARCHIVE
from headway.foreign.kinds.documents import HAR, WPR
from headway.foreign.kinds.identify import identify
from headway.foreign.kinds.model import FileKind
from headway.foreign.kinds.refusing import naming_kind, of_other_kind
from headway.sites.access import Access
from headway.sites.captured import RecordedFile
from headway.sites.chromium import find_browser, record_page
from headway.sites.firstpage import find_page
from headway.sites.har_import import read_har
from headway.sites.hostmap import NO_MAPS, HostMaps
from headway.sites.mahimahi import read_mahimahi
from headway.sites.matching import Matcher
from headway.sites.mitmproxy import read_flows
from headway.sites.oddities import named
from headway.sites.recording import Recording, check_responses, merged, recorded, site_name
from headway.sites.revisits import resolved
from headway.sites.screen import SCREENS
from headway.sites.servable import check_servable, final_page
from headway.sites.sifting import sifted, together
from headway.sites.urls import as_asked
from headway.sites.warc_records import read_records
from headway.sites.wpr import read_wpr
from headway.sites.zipped import read_zip
from headway.study.device import Device

_URL_STARTS = ("http://", "https://")


@dataclass(frozen=True)
class Browsing:
    """How URLs are recorded.

    Attributes:
        device: what the browser pretends to be.
        browser: the program; None for one in ``PATH``.
        maps: hosts that get other names; recordings of other tools are renamed, too.
        insecure: whether certificates may be wrong.
        page: URL of the page that is loaded; empty if it is the first one's.
    """

    device: Device = Device.DESKTOP
    browser: Path | None = None
    maps: HostMaps = NO_MAPS
    insecure: bool = False
    page: str = ""


def record(source: str, browsing: Browsing) -> Recording:
    """Record a URL with Chromium, or import what another tool recorded.

    Of which kind a file is tells its content, not its name.

    Raises:
        WrongInputError: there is no such file, it is of no known kind, or it holds no page.
        HeadwayError: the URL cannot be recorded.
    """
    (recording,) = _recordings([source], browsing)
    return recording


def record_site(name: str, sources: Sequence[str], browsing: Browsing) -> Recording:
    """Record sources as one site that labs can replay; see `record`.

    Args:
        name: of the site.
        sources: the first one's page is the site's page, or what it redirects to if only that can
            be replayed. Revisits in one may refer to responses in another.
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
    if browsing.page and as_asked(browsing.page) is None:
        raise WrongInputError("no URL with http:// or https://", where=f"--page {browsing.page}")
    recording = merged(name, _recordings(sources, browsing))
    if browsing.page:
        recording = _of_page(recording, browsing)
    page = final_page(recording.site)
    check_servable(page, sources[0])
    return replace(recording, site=replace(recording.site, page=page))


def _recordings(sources: Sequence[str], browsing: Browsing) -> list[Recording]:
    """What each source has, with the page of all of them."""
    files = resolved([_read(source, browsing) for source in sources])
    where = sources[0] if len(sources) == 1 else f"{sources[0]} and {len(sources) - 1} more"
    check_responses(files, where)
    parts = [sifted(file.captured) for file in files]
    stated = as_asked(browsing.page or files[0].page)
    try:
        page = stated or find_page(together(parts), where)
    except WrongInputError as error:
        raise _with_odd(error, files) from None
    return [
        _with_notes(
            browsing.maps.applied(recorded(file.name, part, page, file.description, file.lost)),
            file,
        )
        for file, part in zip(files, parts, strict=True)
    ]


def _with_notes(recording: Recording, file: RecordedFile) -> Recording:
    """A recording with what is to be said of its file, which may be a lot."""
    return replace(recording, notes=(*file.notes, *named(file.odd), *recording.notes))


def _with_odd(error: WrongInputError, files: Sequence[RecordedFile]) -> WrongInputError:
    """That there is no page, with what is left out since it is odd."""
    odd = named([text for file in files for text in file.odd])
    return WrongInputError("; ".join((error.message, *odd)), where=error.where)


def _read(source: str, browsing: Browsing) -> RecordedFile:
    if source.startswith(_URL_STARTS):
        screen, browser = SCREENS[browsing.device], find_browser(browsing.browser)
        access = Access(browsing.maps, browsing.insecure)
        return record_page(browsing.maps.renamed(source), screen, browser, access)
    path = Path(source)
    file = _read_file(path)
    return replace(
        file,
        name=file.name or site_name(path),
        description=file.description or f"Imported from {path.name}.",
    )


def _of_page(recording: Recording, browsing: Browsing) -> Recording:
    """A recording whose page is the one that is asked for.

    Raises:
        WrongInputError: it is not in the recording.
    """
    page = as_asked(browsing.maps.renamed(browsing.page)) or browsing.page
    site = recording.site
    if Matcher(site.exchanges).find("GET", page) is None:
        why = next((str(lost.shortfall) for lost in site.lost if lost.url == page), "")
        reason = f": {why}" if why else ""
        raise WrongInputError(f"no response to it can be replayed{reason}", where=f"--page {page}")
    return replace(recording, site=replace(site, page=page))


def _read_file(path: Path) -> RecordedFile:
    """What a recording holds.

    Raises:
        WrongInputError: there is none, nothing reads it, or it is damaged; says first what it is.
    """
    if not path.exists():
        raise WrongInputError(
            "neither a URL with http:// or https:// nor a file: there is none", where=str(path)
        )
    identity = identify(path)
    read = _READERS.get(identity.kind)
    if read is None:
        raise of_other_kind(identity, path, "a recording")
    with naming_kind(identity, path):
        return read(path)


_READERS: dict[FileKind, Callable[[Path], RecordedFile]] = {
    **dict.fromkeys((WARC, ARC), read_records),
    HAR: read_har,
    FLOWS: read_flows,
    **dict.fromkeys((WACZ, HAR_ARCHIVE, WARC_ARCHIVE), read_zip),
    WPR: read_wpr,
    MAHIMAHI_SITE: read_mahimahi,
}
