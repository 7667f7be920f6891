"""A page among the files of a package, as a site."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from headway.errors import WrongInputError
from headway.instruments.corpus.references import filter_css, filter_html
from headway.instruments.corpus.response import CONTENT_TYPES, response
from headway.sites.site import Exchange, Site

# The mimetypes module would ask the machine's tables.
_CONTENT_TYPES = {
    **CONTENT_TYPES,
    "htm": CONTENT_TYPES["html"],
    "mjs": CONTENT_TYPES["js"],
    "json": "application/json",
    "svg": "image/svg+xml",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "ico": "image/x-icon",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "otf": "font/otf",
    "mp4": "video/mp4",
    "webm": "video/webm",
}
_FILTERS = {"html": filter_html, "htm": filter_html, "css": filter_css}
_UNKNOWN_TYPE = "application/octet-stream"


def local_page(name: str, files: Mapping[str, bytes], page: str, description: str) -> Site:
    """The page with all files that its HTML and CSS refer to, on ``https://NAME.test/``.

    References to other hosts, for which a browser in a lab would wait in vain, and to files that
    the package lacks are taken out. What scripts load is not looked for.

    Args:
        name: of the site.
        files: contents by path, relative to the root of the host.
        page: path of the document.
        description: to which the number of references that were taken out is added.

    Raises:
        WrongInputError: there is no file of the page's path.
    """
    if page not in files:
        raise WrongInputError(f"has no file {page!r}", where=name)
    collector = _Collector(name, files)
    address = f"https://{name}.test/{page}"
    collector.collect(address)
    out = f"taken out: {len(collector.external)} references to other hosts, "
    out += f"{len(collector.missing)} to files that are missing"
    return Site(name, address, tuple(collector.exchanges.values()), f"{description}; {out}")


class _Collector:
    """Follows references, breadth first, as far as files are there."""

    def __init__(self, name: str, files: Mapping[str, bytes]) -> None:
        self.exchanges: dict[str, Exchange] = {}
        self.external: set[str] = set()
        self.missing: set[str] = set()
        self._host = f"{name}.test"
        self._files = files

    def collect(self, page: str) -> None:
        """Add the exchange of a URL and of all that it refers to."""
        waiting = {page: None}
        while waiting:
            url = next(iter(waiting))
            del waiting[url]
            body, references = self._filtered(url)
            suffix = _suffix(url)
            content_type = _CONTENT_TYPES.get(suffix, _UNKNOWN_TYPE)
            document = url == page
            self.exchanges[url] = response(url, content_type, body, document=document)
            waiting |= {new: None for new in references if new not in self.exchanges}

    def _filtered(self, url: str) -> tuple[bytes, list[str]]:
        """A file without the references that lead nowhere, and the URLs of those that stay."""
        texts: list[str] = []

        def keep(reference: str) -> bool:
            target = urldefrag(urljoin(url, reference)).url
            if urlsplit(target).hostname != self._host:
                self.external.add(target)
                return False
            if _path(target) not in self._files:
                self.missing.add(target)
                return False
            texts.append(target)
            return True

        body = self._files[_path(url)]
        filtered = _FILTERS.get(_suffix(url))
        if filtered is None:
            return body, []
        # Bytes that are no UTF-8 come out as they went in.
        text = filtered(body.decode(errors="surrogateescape"), keep)
        return text.encode(errors="surrogateescape"), texts


def _path(url: str) -> str:
    """Path of a URL's file, relative to the root."""
    return unquote(urlsplit(url).path).lstrip("/")


def _suffix(url: str) -> str:
    return PurePosixPath(_path(url)).suffix[1:].lower()
