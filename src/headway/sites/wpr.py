"""Sites from recordings of Web Page Replay, as Chromium's benchmarks have them (``.wprgo``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headway.errors import WrongInputError
from headway.foreign.documents import json_value
from headway.sites.captured import RecordedFile
from headway.sites.gzipped import read_unzipped
from headway.sites.rawpairs import RawPair, captured_pairs
from headway.sites.readings import from_base64


def read_wpr(path: Path) -> RecordedFile:
    """What is in a Web Page Replay archive: JSON with messages in base64, by host and URL.

    Raises:
        WrongInputError: it cannot be read, or is something else.
    """
    try:
        pairs, odd = _pairs(json_value(read_unzipped(path)))
        return RecordedFile(captured_pairs(pairs), odd=tuple(odd))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = "not a recording of Web Page Replay, or one of a version that is not known"
        raise WrongInputError(message, where=str(path)) from error


def _pairs(archive: dict[str, Any]) -> tuple[list[RawPair], list[str]]:
    """The pairs, and what is wrong with those that are left out."""
    pairs: list[RawPair] = []
    odd: list[str] = []
    for by_url in archive["Requests"].values():
        for url, exchanges in by_url.items():
            for exchange in exchanges:
                try:
                    pairs += _pair(url, exchange)
                except (KeyError, TypeError, AttributeError):
                    odd.append(f"{url}: an exchange is no pair of messages in base64")
    return pairs, odd


def _pair(url: str, exchange: dict[str, Any]) -> Iterator[RawPair]:
    # Of a request that failed there is no response.
    if request := from_base64(exchange["SerializedRequest"]):
        response = from_base64(exchange["SerializedResponse"] or "") or b""
        yield RawPair(request, response, url.partition(":")[0])
