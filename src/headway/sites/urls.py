"""URLs as browsers write them when they ask for something (WHATWG URL Standard)."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

from ada_url import join_url, normalize_url

_SCHEMES = ("http://", "https://")
_BAR, _ESCAPED_BAR = "|", "%7C"


@lru_cache(maxsize=65536)
def as_asked(url: str, base: str = "", charset: str = "utf-8") -> str | None:
    """The URL that a browser asks for; None if it is no URL of HTTP.

    Args:
        url: as it is written, absolute or not.
        base: what it is relative to; empty if it has to be absolute.
        charset: of the document that has it: queries are sent in it.
    """
    if "?" in url and not url.isascii():
        url = _with_query_in(url, charset)
    try:
        text = join_url(base, url) if base else normalize_url(url)
    except (ValueError, UnicodeEncodeError):
        return None
    text = text.partition("#")[0]
    return _with_escaped_bars(text) if text.startswith(_SCHEMES) else None


def _with_query_in(url: str, charset: str) -> str:
    """A URL whose query is percent-encoded in a character set; what that has not becomes a reference to it."""
    before, _, after = url.partition("?")
    query, number_sign, fragment = after.partition("#")
    coded = "".join(
        text if text.isascii() else quote(text.encode(charset, "xmlcharrefreplace"), safe="")
        for text in query
    )
    return f"{before}?{coded}{number_sign}{fragment}"


def _with_escaped_bars(url: str) -> str:
    """Chromium escapes ``|`` in paths, which the standard leaves as it is."""
    path, question_mark, query = url.partition("?")
    return path.replace(_BAR, _ESCAPED_BAR) + question_mark + query
