"""References of HTML and CSS to other objects: finding them, and taking out those that lead away."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

Keep = Callable[[str], bool]
"""Is told each reference as the text has it; decides whether it stays."""

_CSS_REFERENCE = re.compile(
    r"""url\(\s*(?P<url>"[^"]*"|'[^']*'|[^'")\s]*)\s*\)|@import\s+(?P<at>"[^"]*"|'[^']*')""",
    re.IGNORECASE,
)
_LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "manifest", "apple-touch-icon"}
_CONNECTING_LINKS = {"preconnect", "dns-prefetch"}
_LOADING_ATTRIBUTES = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src",),
    "input": ("src",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src",),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
_REMOVED_TAGS = {"link", "script"}
_NOTHING = "data:,"
_NO_ICON = f'<link rel="icon" href="{_NOTHING}">\n'


def filter_css(text: str, keep: Keep) -> str:
    """The stylesheet without the references that are not to be kept."""

    def replaced(match: re.Match[str]) -> str:
        url = (match["url"] or match["at"] or "").strip("\"'")
        if not url or url.startswith(("data:", "#")) or keep(url):
            return match[0]
        return f'url("{_NOTHING}")' if match["at"] is None else f'@import "{_NOTHING}"'

    return _CSS_REFERENCE.sub(replaced, text)


def filter_html(text: str, keep: Keep) -> str:
    """The document without the references that are not to be kept.

    Links and scripts with such a reference are taken out, and hints to connect to other hosts;
    other elements stay without their content. A document without an icon gets an empty one, since
    browsers would ask for ``/favicon.ico``.
    """
    finder = _Finder(keep)
    finder.feed(text)
    finder.close()
    for before, after in finder.edits.items():
        text = text.replace(before, after)
    if not finder.has_icon:
        text = re.sub(r"(?=</head>)", _NO_ICON, text, count=1, flags=re.IGNORECASE)
    return text


class _Finder(HTMLParser):
    """Collects the edits of a document: start tags and styles, before and after."""

    def __init__(self, keep: Keep) -> None:
        super().__init__(convert_charrefs=True)
        self.edits: dict[str, str] = {}
        self.has_icon = False
        self._keep = keep
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        before = after = self.get_starttag_text() or ""
        values = {name: value for name, value in attrs if value}
        relations = set(values.get("rel", "").lower().split())
        if tag == "link" and _CONNECTING_LINKS & relations:
            after = ""
        for url in _references(tag, values):
            if not self._keep(url):
                after = "" if tag in _REMOVED_TAGS else after.replace(url, _NOTHING)
        if style := values.get("style"):
            after = after.replace(style, filter_css(style, self._keep))
        if tag == "link" and "icon" in relations and after:
            self.has_icon = True
        if after != before:
            self.edits[before] = after

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        if self._in_style and (after := filter_css(data, self._keep)) != data:
            self.edits[data] = after


def _references(tag: str, values: dict[str, str]) -> list[str]:
    """What an element makes a browser load."""
    urls = [values[name] for name in _LOADING_ATTRIBUTES.get(tag, ()) if name in values]
    if tag == "link" and _LOADING_LINKS & set(values.get("rel", "").lower().split()):
        urls.append(values.get("href", ""))
    if tag in ("img", "source"):
        candidates = values.get("srcset", "").split(",")
        urls += [candidate.split()[0] for candidate in candidates if candidate.strip()]
    return [url for url in urls if url and not url.startswith(("data:", "#", "about:"))]
