"""Images of several sizes and kinds: what browsers choose among (HTML Standard, section 4.8.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headway.sites.mediaquery import Matching, matching

_SPACE = " \t\n\f\r"
_DESCRIPTOR = re.compile(r"\d+[wh]|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?x")
_TYPES = frozenset(
    f"image/{literal}"
    for literal in (
        *("avif", "webp", "png", "apng", "jpeg", "jpg", "pjpeg", "gif", "svg+xml", "bmp"),
        *("x-icon", "vnd.microsoft.icon", "x-png"),
    )
)
"""What all browsers of today show."""
_TYPES_OF_SOME = frozenset(("image/jxl", "image/heic", "image/heif"))
"""What some show: Chromium and Safari JPEG XL, and Safari HEIF."""


@dataclass(frozen=True)
class Candidate:
    """One of several sizes of an image.

    Attributes:
        url: as it is written.
        descriptor: its width, such as ``300w``, or density, such as ``2x``; empty without one.
    """

    url: str
    descriptor: str

    @property
    def is_plain(self) -> bool:
        """Whether it is for one device pixel per CSS pixel."""
        return not self.descriptor or (
            self.descriptor[-1] == "x" and float(self.descriptor[:-1]) == 1
        )


def candidates(srcset: str) -> list[Candidate]:
    """The candidates of a ``srcset``, without those that are written wrongly.

    Args:
        srcset: value of the attribute.
    """
    result: list[Candidate] = []
    at = 0
    while True:
        while at < len(srcset) and srcset[at] in _SPACE + ",":
            at += 1
        if at >= len(srcset):
            return result
        end = at
        while end < len(srcset) and srcset[end] not in _SPACE:
            end += 1
        url, at = srcset[at:end], end
        words: list[str] = []
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            end = _end_of_descriptors(srcset, at)
            words, at = srcset[at:end].split(), end
        if all(_DESCRIPTOR.fullmatch(word) for word in words) and len(words) < 3:
            result.append(Candidate(url, words[0] if words else ""))


def _end_of_descriptors(srcset: str, at: int) -> int:
    depth = 0
    for end in range(at, len(srcset)):
        depth += (srcset[end] == "(") - (srcset[end] == ")")
        if srcset[end] == "," and depth <= 0:
            return end
    return len(srcset)


def shown(kind: str) -> Matching:
    """How many browsers show images of a type; they try what has none.

    Args:
        kind: media type, with or without parameters.
    """
    kind = kind.partition(";")[0].strip().lower()
    if not kind or kind in _TYPES:
        return Matching.ALWAYS
    return Matching.SOMETIMES if kind in _TYPES_OF_SOME else Matching.NEVER


def image_urls(
    attributes: Mapping[str, str], srcset: str = "srcset", src: str = "src"
) -> list[str]:
    """The URLs among which a browser chooses for an image; the one that it asks for if there is no choice.

    Args:
        attributes: of the element.
        srcset: which attribute has sizes.
        src: which one has the image without sizes.
    """
    chosen = candidates(attributes.get(srcset, ""))
    plain = attributes.get(src, "").strip()
    has_widths = any(candidate.descriptor.endswith(("w", "h")) for candidate in chosen)
    if plain and not has_widths and not any(candidate.is_plain for candidate in chosen):
        chosen.append(Candidate(plain, ""))
    return [candidate.url for candidate in chosen]


def picture_urls(sources: Sequence[Mapping[str, str]], image: Mapping[str, str]) -> list[str]:
    """The URLs among which a browser chooses for the image of a ``picture``.

    Args:
        sources: attributes of the ``source`` elements before it.
        image: attributes of the ``img``.
    """
    urls: list[str] = []
    for source in sources:
        conditions = {matching(source.get("media", "")), shown(source.get("type", ""))}
        chosen = image_urls(source, src="")
        if not chosen or Matching.NEVER in conditions:
            continue
        urls += chosen
        if conditions == {Matching.ALWAYS}:
            return urls
    return urls + image_urls(image)
