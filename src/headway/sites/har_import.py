"""Sites from HAR 1.2 files, as browsers' developer tools and proxies save them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.names import place_below
from headway.foreign.shown import quoted
from headway.sites.captured import BodyReading, Captured, RecordedFile, StatedLength, Told
from headway.sites.gzipped import read_unzipped
from headway.sites.har_file import HarContent, HarEntry, har_file, plain
from headway.sites.readings import TextReadings
from headway.sites.site import Header

_SIZE = "content.size"
_FAILED = "the tool notes {} for it"

Attachments = Callable[[str], bytes | None]
"""The content of a file that a HAR file names; None if it is not there."""


def read_har(path: Path) -> RecordedFile:
    """What a HAR file holds; bodies that it has in files of their own are looked for beside it.

    HAR has bodies decoded, and text as Unicode: the character set that `content-type` states and
    the content coding are applied again, so that bodies have about the size that they had.

    Raises:
        WrongInputError: it cannot be read, or is not a HAR file.
    """
    return har_content(read_unzipped(path), path, beside(path))


def har_content(data: bytes, path: Path, attachments: Attachments) -> RecordedFile:
    """What a HAR file holds, from its content.

    Args:
        data: the content.
        path: of the file.
        attachments: what reads files that it names.

    Raises:
        WrongInputError: it is not a HAR file.
    """
    har = har_file(data, path)
    captured: list[Captured] = []
    odd = list(har.odd)
    for entry in har.entries:
        if entry.headers is None:
            odd.append(
                f"entry {entry.number}, {entry.method} {quoted(entry.url)[1:-1]}: response.headers is missing"
            )
        else:
            captured.append(_captured(entry, entry.headers, attachments))
    return RecordedFile(tuple(captured), odd=tuple(odd))


def beside(path: Path) -> Attachments:
    """What reads the files in a file's directory, and no others."""

    def read(name: str) -> bytes | None:
        try:
            file = place_below(path.parent, name)
        except WrongInputError:
            return None
        is_inside = file.resolve().is_relative_to(path.parent.resolve())
        return file.read_bytes() if is_inside and file.is_file() else None

    return read


def _captured(entry: HarEntry, headers: tuple[Header, ...], attachments: Attachments) -> Captured:
    content = entry.content
    readings = _readings(content, headers, attachments)
    first = next(iter(readings), None)
    error = plain(entry.response.get("_error"))
    return Captured(
        method=entry.method,
        url=entry.url,
        status=entry.status,
        headers=headers,
        body=first.body if first else None,
        is_decoded=True,
        protocol=entry.protocol,
        kind=content.kind or ("text/html" if entry.is_document else ""),
        told=Told(
            readings=readings,
            sizes=tuple(_sizes(content)),
            sent_bytes=entry.body_bytes,
            lost="" if first else _lost(content),
            cut=_FAILED.format(error) if error else "",
        ),
        began_s=entry.began_s,
    )


def _sizes(content: HarContent) -> Iterator[StatedLength]:
    """How long it is; some tools state what was sent."""
    if content.size_bytes is not None:
        yield StatedLength(content.size_bytes, _SIZE)
        if content.compression_bytes:
            yield StatedLength(content.size_bytes + content.compression_bytes, _SIZE)


def _lost(content: HarContent) -> str:
    if content.file:
        return f"its file {content.file} is not beside the HAR file"
    if content.size_bytes:
        return "it is not in the HAR file; such files can be saved with content"
    return ""


def _readings(
    content: HarContent, headers: tuple[Header, ...], attachments: Attachments
) -> Iterable[BodyReading]:
    """What its body may be; nothing if it is not there."""
    if content.text is not None:
        return TextReadings(content.text, headers, content.encoding == "base64")
    body = attachments(content.file) if content.file else None
    return () if body is None else (BodyReading(body),)
