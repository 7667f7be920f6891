"""References of HTML documents, by what browsers of today ask for (HTML Standard, SVG 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from headway.sites.css_references import css_imports, css_references, style_references
from headway.sites.links import link_references
from headway.sites.mediaquery import Matching, matching
from headway.sites.referring import Reference, UrlPlace
from headway.sites.scripts import fetching
from headway.sites.srcset import picture_urls
from headway.sites.urls import as_asked

_DEEPEST_FRAME = 8
"""Of documents in ``srcdoc`` in each other."""
_MOST_SOURCES = 100
"""Before the image of a picture."""
_CLOSED = re.compile(r"""<([A-Za-z][\w:.-]*)((?:[^<>"'/]|"[^"<]*"|'[^'<]*'|/(?!>))*)/>""")
_VOID = frozenset(
    (
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "frame",
    )
)
_BACKGROUNDS = frozenset(("body", "table", "thead", "tbody", "tfoot", "tr", "td", "th"))
_PLUGINS = re.compile(r"\s*(image/|text/|video/|audio/|application/(pdf|xhtml\+xml|xml)\b|$)", re.I)
"""Types of what ``embed`` and ``object`` still show."""
_MEDIA = re.compile(r"\s*((video|audio)/(?!x-ms|x-flv|3gpp|quicktime)|application/ogg|$)", re.I)
_SVG_IMAGES = ("image", "feImage")

_Attributes = dict[str, str]


def html_references(
    text: str, base: str, charset: str = "utf-8", *, is_xml: bool = False
) -> Iterator[Reference]:
    """What a document refers to, without what only links lead to.

    Args:
        text: of the document.
        base: its URL.
        charset: in which queries are sent.
        is_xml: whether it is XHTML, where each element may close itself.
    """
    if is_xml:
        text = _CLOSED.sub(_opened, text)
    yield from dict.fromkeys(_Document(base, charset).references(text))


def _opened(tag: re.Match[str]) -> str:
    is_void = tag[1].lower() in _VOID
    return tag[0] if is_void else f"<{tag[1]}{tag[2]}></{tag[1]}>"


class _Document:
    """A document whose elements are looked at in order."""

    def __init__(self, base: str, charset: str, depth: int = 0) -> None:
        self._place = UrlPlace(base, charset)
        self._url = base
        self._has_base = False
        self._depth = depth

    def references(self, text: str) -> Iterator[Reference]:
        """What it refers to."""
        # It takes a moment to load, and only pages that studies name are looked through.
        from justhtml import JustHTML

        parsed = JustHTML(
            text.encode(errors="replace").decode(), sanitize=False, scripting_enabled=True
        )
        pending: list[Any] = [parsed.root]
        while pending:
            node = pending.pop()
            if getattr(node, "attrs", None) is not None:
                yield from self._element(node)
            pending += reversed(_children(node))

    def _element(self, node: Any) -> Iterator[Reference]:
        attributes = {name.lower(): value or "" for name, value in node.attrs.items()}
        if node.namespace == "html":
            yield from self._of_html(node, attributes)
        elif node.namespace == "svg":
            yield from self._of_svg(node, attributes)
        if "style" in attributes:
            yield from style_references(attributes["style"], self._place)

    def _of_html(self, node: Any, attributes: _Attributes) -> Iterator[Reference]:
        place, name = self._place, node.name
        match name:
            case "base":
                self._set_base(attributes)
            case "link":
                yield from link_references(attributes, place)
            case "script":
                yield from self._script(attributes.get("src", ""), attributes)
            case "style":
                yield from self._style(node, attributes)
            case "img":
                urls = picture_urls(_sources_before(node), attributes)
                yield from place.choice(urls, is_needed=not _is_lazy(attributes))
            case "iframe" if "srcdoc" in attributes:
                yield from self._inner(attributes["srcdoc"])
            case "iframe" | "frame":
                yield from place.references(
                    attributes.get("src", ""), is_certain=not _is_lazy(attributes)
                )
            case "embed" | "object":
                yield from self._embedded(node, attributes)
            case "audio" | "video":
                yield from self._medium(node, attributes)
            case "input" if attributes.get("type", "").lower() == "image":
                yield from place.references(attributes.get("src", ""), is_certain=True)
            case _ if name in _BACKGROUNDS:
                yield from place.references(attributes.get("background", ""), is_certain=False)

    def _of_svg(self, node: Any, attributes: _Attributes) -> Iterator[Reference]:
        url = attributes.get("href") or attributes.get("xlink:href", "")
        if node.name in _SVG_IMAGES:
            yield from self._place.references(url, is_certain=True)
        elif node.name == "script":
            is_certain = (
                fetching({**attributes, "type": attributes.get("type", "")}) is Matching.ALWAYS
            )
            yield from self._place.references(url, is_certain=is_certain)
        elif node.name == "use":
            asked = self._place.asked(url)
            if asked and asked != self._url.partition("#")[0]:
                yield Reference(asked, True)
        elif node.name == "style":
            yield from self._style(node, attributes)

    def _set_base(self, attributes: _Attributes) -> None:
        """Take the first ``base`` with a URL; others say nothing (HTML Standard, section 4.2.3)."""
        if self._has_base or "href" not in attributes:
            return
        self._has_base = True
        base = as_asked(attributes["href"].strip(), self._url, self._place.charset)
        self._place = UrlPlace(base or self._url, self._place.charset)

    def _script(self, url: str, attributes: _Attributes) -> Iterator[Reference]:
        asked = fetching(attributes)
        if asked is not Matching.NEVER:
            yield from self._place.references(url, is_certain=asked is Matching.ALWAYS)

    def _style(self, node: Any, attributes: _Attributes) -> Iterator[Reference]:
        shown = matching(attributes.get("media", ""))
        is_css = attributes.get("type", "").strip().lower() in ("", "text/css")
        text = "".join(str(child.data) for child in node.children if child.name == "#text")
        if not is_css or shown is Matching.NEVER:
            # Chromium looks for imports before it looks at these.
            yield from css_imports(text, self._place.base, self._place.charset)
        else:
            for reference in css_references(text, self._place.base, self._place.charset):
                is_certain = reference.is_certain and shown is Matching.ALWAYS
                yield Reference(reference.url, is_certain)

    def _inner(self, text: str) -> Iterator[Reference]:
        """References of a document in a ``srcdoc``, whose URLs are relative to this one's base."""
        if self._depth < _DEEPEST_FRAME:
            inner = _Document(self._place.base, self._place.charset, self._depth + 1)
            yield from inner.references(text)

    def _embedded(self, node: Any, attributes: _Attributes) -> Iterator[Reference]:
        url = attributes.get("src" if node.name == "embed" else "data", "")
        if _PLUGINS.match(attributes.get("type", "")):
            is_fallback = any(value.name in ("object", "video", "audio") for value in _above(node))
            yield from self._place.references(url, is_certain=not is_fallback)

    def _medium(self, node: Any, attributes: _Attributes) -> Iterator[Reference]:
        yield from self._place.references(
            attributes.get("poster", "") if node.name == "video" else "",
            is_certain=not _is_lazy(attributes),
        )
        sources = [
            child.attrs
            for child in node.children
            if child.name == "source" and _MEDIA.match(child.attrs.get("type") or "")
        ]
        urls = (
            [attributes["src"]]
            if "src" in attributes
            else [source.get("src") or "" for source in sources]
        )
        is_played = "autoplay" in attributes or attributes.get("preload", "").lower() != "none"
        if is_played and not _is_lazy(attributes):
            is_sure = "src" in attributes or all(not source.get("media") for source in sources)
            yield from self._place.choice(urls, is_needed=is_sure)
        tracks = [child.attrs for child in node.children if child.name == "track"]
        shown = [track.get("src") or "" for track in tracks if "default" in track]
        yield from self._place.references("".join(shown[:1]), is_certain=True)


def _children(node: Any) -> list[Any]:
    """Its children; of a template only if it is a shadow tree (HTML Standard, section 4.12.3)."""
    children = list(getattr(node, "children", None) or ())
    content = getattr(node, "template_content", None)
    mode = (node.attrs.get("shadowrootmode") or "") if content is not None else ""
    return [*children, content] if mode.lower() in ("open", "closed") else children


def _sources_before(image: Any) -> list[_Attributes]:
    """The sources of a picture that stand before its image."""
    picture = image.parent
    if picture is None or picture.name != "picture":
        return []
    before = picture.children[: min(picture.children.index(image), _MOST_SOURCES)]
    return [
        {name.lower(): value or "" for name, value in element.attrs.items()}
        for element in before
        if element.name == "source"
    ]


def _above(node: Any) -> Iterator[Any]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _is_lazy(attributes: _Attributes) -> bool:
    return attributes.get("loading", "").lower() == "lazy"
