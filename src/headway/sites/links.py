"""Which links browsers fetch (HTML Standard, section 4.6.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headway.sites.mediaquery import Matching, matching
from headway.sites.referring import Place, Reference
from headway.sites.srcset import image_urls, is_shown

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


def link_references(attributes: Mapping[str, str], place: Place) -> Iterator[Reference]:
    """What a link has a browser fetch.

    Args:
        attributes: of the element, with names in lower case.
        place: where it stands.
    """
    kinds = set(attributes.get("rel", "").lower().split())
    url = attributes.get("href", "")
    shown = matching(attributes.get("media", ""))
    if "stylesheet" in kinds and _is_of(attributes, _STYLE) and "disabled" not in attributes:
        is_certain = shown is Matching.ALWAYS and "alternate" not in kinds
        yield from place.references(url, is_certain=is_certain)
    elif "modulepreload" in kinds and attributes.get("as", "").lower() in _MODULES:
        if shown is not Matching.NEVER:
            yield from place.references(url, is_certain=shown is Matching.ALWAYS)
    elif "preload" in kinds and shown is not Matching.NEVER:
        yield from _preloaded(attributes, place, is_certain=shown is Matching.ALWAYS)
    elif kinds & _POSSIBLE and shown is not Matching.NEVER:
        yield from place.references(url, is_certain=False)


def _preloaded(
    attributes: Mapping[str, str], place: Place, *, is_certain: bool
) -> Iterator[Reference]:
    """What a preload fetches: nothing if it does not say as what, or if that is of a type that nobody reads."""
    destination = attributes.get("as", "").strip().lower()
    if destination not in _PRELOADED:
        return
    kind = attributes.get("type", "")
    if destination == "image":
        urls = image_urls(attributes, "imagesrcset", "href") if is_shown(kind) else []
        yield from place.choice(urls, is_needed=is_certain)
    elif destination != "style" or _is_of(attributes, _STYLE):
        yield from place.references(attributes.get("href", ""), is_certain=is_certain)


def _is_of(attributes: Mapping[str, str], kind: str) -> bool:
    """Whether a link is of a type, or states none."""
    return attributes.get("type", "").partition(";")[0].strip().lower() in ("", kind)
