"""What HTML documents and style sheets refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

from headway.sites.urls import as_asked

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = r"""(?:"([^"]*)"|'([^']*)')"""
_URL = re.compile(rf"url\(\s*(?:{_STRING}|([^\s\"'()]+))\s*\)", re.IGNORECASE)
_IMPORT = re.compile(r"""@import\b(?:"[^"]*"|'[^']*'|[^;"'])*(?:;|$)""", re.IGNORECASE)
_IMPORTED = re.compile(rf"@import\s*{_STRING}", re.IGNORECASE)
_BEFORE_IMPORTS = re.compile(r"\s+|<!--|-->|@charset\s[^;]*;|@layer\s[^;{]*;", re.IGNORECASE)
_NAMESPACE = re.compile(r"@namespace[^;]*;", re.IGNORECASE)

_LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "frame": "src",
    "embed": "src",
    "object": "data",
    "audio": "src",
    "video": "src",
}
_POSSIBLE = {"source": "src", "track": "src", "video": "poster"}
_LOADED_LINKS = frozenset(("stylesheet", "modulepreload", "preload"))
_POSSIBLE_LINKS = frozenset(("icon", "manifest", "apple-touch-icon", "prefetch"))
_SKIPPED = frozenset(("noscript", "template"))


@dataclass(frozen=True)
class Reference:
    """A URL that something refers to.

    Attributes:
        url: as a browser asks for it, without a fragment.
        is_certain: whether every browser asks for it; others are chosen among, as images of
            several sizes, or asked for when they are used, as fonts.
    """

    url: str
    is_certain: bool


def html_references(text: str, base: str, charset: str = "utf-8") -> Iterator[Reference]:
    """What a document refers to, without what only links lead to.

    Args:
        text: of the document.
        base: its URL.
        charset: in which queries are sent.
    """
    parser = _Parser(base, charset)
    parser.feed(text)
    parser.close()
    yield from dict.fromkeys(parser.found)


def css_references(text: str, base: str, charset: str = "utf-8") -> Iterator[Reference]:
    """What a style sheet refers to: other ones certainly, images and fonts if they are used.

    Browsers ignore imports that come after other rules (CSS Cascading and Inheritance Level 5,
    section 2).

    Args:
        text: of the style sheet.
        base: its URL.
        charset: in which queries are sent.
    """
    text = _COMMENT.sub("", text)
    at = 0
    while found := _IMPORT.match(text, at) or _BEFORE_IMPORTS.match(text, at):
        at = found.end()
        if imported := _IMPORTED.match(found[0]) or _URL.search(found[0]):
            yield from _reference(_first(imported.groups()), base, charset, is_certain=True)
    for url in _URL.finditer(_NAMESPACE.sub("", _IMPORT.sub("", text[at:]))):
        yield from _reference(_first(url.groups()), base, charset, is_certain=False)


def _first(groups: tuple[str | None, ...]) -> str:
    return next((group for group in groups if group is not None), "")


def _reference(url: str, base: str, charset: str, *, is_certain: bool) -> Iterator[Reference]:
    """An HTTP reference; nothing for data, scripts, anchors, and URLs that are none."""
    if not url.strip() or url.startswith("#"):
        return
    if asked := as_asked(url, base, charset):
        yield Reference(asked, is_certain)


class _Parser(HTMLParser):
    """Collects references; what is only shown without scripts, or not at all, is left out."""

    def __init__(self, base: str, charset: str) -> None:
        super().__init__()
        self.found: list[Reference] = []
        self._base = base
        self._charset = charset
        self._skipped = 0
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag in _SKIPPED
        if self._skipped:
            return
        values = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        if tag == "base" and values.get("href"):
            self._base = as_asked(values["href"], self._base, self._charset) or self._base
        elif tag == "link":
            self._link(values)
        else:
            self._element(tag, values)
        self._add_css(values.get("style", ""))

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False
        if tag in _SKIPPED and self._skipped:
            self._skipped -= 1

    def handle_data(self, data: str) -> None:
        if self._in_style and not self._skipped:
            self._add_css(data)

    def _element(self, tag: str, values: dict[str, str]) -> None:
        is_chosen = "srcset" in values or values.get("loading") == "lazy"
        if tag in _LOADED:
            self._add(values.get(_LOADED[tag], ""), is_certain=not is_chosen)
        if tag in _POSSIBLE:
            self._add(values.get(_POSSIBLE[tag], ""), is_certain=False)
        if tag == "input" and values.get("type", "").lower() == "image":
            self._add(values.get("src", ""), is_certain=True)
        if tag in ("img", "source"):
            self._add_set(values.get("srcset", ""))

    def _link(self, values: dict[str, str]) -> None:
        kinds = set(values.get("rel", "").lower().split())
        if kinds & (_LOADED_LINKS | _POSSIBLE_LINKS):
            is_certain = bool(kinds & _LOADED_LINKS) and not {"media", "disabled"} & values.keys()
            self._add(values.get("href", ""), is_certain=is_certain and "alternate" not in kinds)
            self._add_set(values.get("imagesrcset", ""))

    def _add(self, url: str, *, is_certain: bool) -> None:
        self.found += _reference(url, self._base, self._charset, is_certain=is_certain)

    def _add_set(self, candidates: str) -> None:
        for candidate in re.split(r",\s+|,$", candidates):
            if words := candidate.split():
                self._add(words[0], is_certain=False)

    def _add_css(self, text: str) -> None:
        self.found += css_references(text, self._base, self._charset)
