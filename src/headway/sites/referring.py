"""A URL that a document or a style sheet refers to."""

from __future__ import annotations

from dataclasses import dataclass

from headway.sites.urls import as_asked

_MOST_OTHERS = 50
"""Of an image of more sizes, the first ones."""


@dataclass(frozen=True)
class Reference:
    """A URL that something refers to.

    Attributes:
        url: as a browser asks for it, without a fragment.
        is_certain: whether every browser asks for it; others are chosen among, as images of
            several sizes, or asked for when they are used, as fonts.
        others: URLs, this one among them, of which every browser asks for one; none if it may be that a browser asks
            for none.
    """

    url: str
    is_certain: bool
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class UrlPlace:
    """Where URLs stand.

    Attributes:
        base: what they are relative to.
        charset: in which queries are sent.
    """

    base: str
    charset: str = "utf-8"

    def asked(self, url: str) -> str | None:
        """The URL that a browser asks for; None for data, scripts, anchors, and URLs that are none."""
        url = url.strip()
        return as_asked(url, self.base, self.charset) if url and url[0] != "#" else None

    def references(self, url: str, *, is_certain: bool) -> list[Reference]:
        """The reference that a URL is, if it is one."""
        asked = self.asked(url)
        return [Reference(asked, is_certain)] if asked else []

    def choice(self, urls: list[str], *, is_needed: bool) -> list[Reference]:
        """References of which a browser follows one.

        Args:
            urls: the candidates.
            is_needed: whether every browser does follow one.
        """
        asked = list(dict.fromkeys(self.asked(url) for url in urls if url.strip()))
        known = [url for url in asked if url]
        is_needed = is_needed and len(known) == len(asked)
        if len(known) == 1:
            return [Reference(known[0], is_needed)]
        others = tuple(known[:_MOST_OTHERS]) if is_needed else ()
        return [Reference(url, False, others) for url in known]
