"""Links that browsers fetch (HTML Standard, section 4.6.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headway.sites.mediaquery import Matching, matching
from headway.sites.referring import Reference, UrlPlace
from headway.sites.srcset import image_urls, shown

_POSSIBLE = frozenset(("icon", "manifest", "apple-touch-icon", "prefetch"))
"""Fetched by some browsers, or later."""
_PRELOADED = frozenset(("fetch", "font", "image", "script", "style", "track"))
_MODULES = frozenset(
    (
        "",
        "script",
        "worker",
        "sharedworker",
        "serviceworker",
        "audioworklet",
        "paintworklet",
        "json",
        "style",
    )
)
_STYLE = "text/css"


def link_references(attributes: Mapping[str, str], place: UrlPlace) -> Iterator[Reference]:
    """What a link has a browser fetch.

    Args:
        attributes: of the element, with names in lower case.
        place: where it stands.
    """
    kinds = set(attributes.get("rel", "").lower().split())
    url = attributes.get("href", "")
    media = matching(attributes.get("media", ""))
    if "stylesheet" in kinds and _is_of(attributes, _STYLE) and "disabled" not in attributes:
        is_certain = media is Matching.ALWAYS and "alternate" not in kinds
        yield from place.references(url, is_certain=is_certain)
    elif "modulepreload" in kinds and media is not Matching.NEVER:
        is_module = attributes.get("as", "").strip().lower() in _MODULES
        yield from place.references(url, is_certain=is_module and media is Matching.ALWAYS)
    elif "preload" in kinds and media is not Matching.NEVER:
        yield from _preloaded(attributes, place, is_certain=media is Matching.ALWAYS)
    elif kinds & _POSSIBLE and media is not Matching.NEVER:
        yield from place.references(url, is_certain=False)


def _preloaded(
    attributes: Mapping[str, str], place: UrlPlace, *, is_certain: bool
) -> Iterator[Reference]:
    """What a preload fetches: nothing if it does not say as what, or if that is of a type that nobody reads."""
    destination = attributes.get("as", "").strip().lower()
    if destination not in _PRELOADED:
        return
    if destination == "image":
        kind = shown(attributes.get("type", ""))
        urls = image_urls(attributes, "imagesrcset", "href") if kind is not Matching.NEVER else []
        yield from place.choice(urls, is_needed=is_certain and kind is Matching.ALWAYS)
    elif destination != "style" or _is_of(attributes, _STYLE):
        yield from place.references(attributes.get("href", ""), is_certain=is_certain)


def _is_of(attributes: Mapping[str, str], kind: str) -> bool:
    """Whether a link is of a type, or states none."""
    return attributes.get("type", "").partition(";")[0].strip().lower() in ("", kind)
