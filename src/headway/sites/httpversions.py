"""Versions of HTTP as tools write them: ``HTTP/2.0``, ``http/2``, ``h2``, ``2``, and of drafts ``h3-29``."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPELLED = re.compile(r"(?:http\s*/?\s*|h)?([0-3])(?:\.(\d))?(?:-\d+)?c?")
_NAMES = {"0": "http/0.9", "1": "http/1.1", "2": "h2", "3": "h3"}


def alpn_of(version: str) -> str:
    """The ALPN identifier of a version of HTTP; empty if a text is none, as ``unknown`` and Google's QUIC are."""
    spelled = _SPELLED.fullmatch(version.strip().lower())
    if spelled is None:
        return ""
    major, minor = spelled.groups()
    return "http/1.0" if (major, minor) == ("1", "0") else _NAMES[major]


def stated_version(candidates: Iterable[str]) -> str:
    """Of several statements about a response, the first that is a version; else the first that is anything."""
    stated = [candidate.strip() for candidate in candidates if candidate.strip()]
    return next((text for text in stated if alpn_of(text)), next(iter(stated), ""))
