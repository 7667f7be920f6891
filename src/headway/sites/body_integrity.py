"""The worth of a recorded response: whether its body is what was sent.

Importers and readers of archives give facts (`Captured`), and only here they are judged, so that a recording is
worth the same whatever it is read by and wherever that is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headway.sites.captured import LENGTH, BodyReading, Captured, StatedLength
from headway.sites.coding import CodingError, content_codings, decoded
from headway.sites.shortfall import Kept, Shortfall
from headway.sites.stillcoded import StillCoded, lost_bytes, still_coded

_CONTENTLESS_METHODS = frozenset(("HEAD", "OPTIONS", "CONNECT"))
_CONTENTLESS_STATUSES = frozenset((204, 205, 304))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_NOTHING_CODED_BYTES = 32
"""Longer than nothing is with any content coding: 20 bytes with gzip."""


@dataclass(frozen=True)
class Worth:
    """What a response is worth.

    Attributes:
        body: that is taken for it; None if it was not kept.
        shortfall: what is wrong with it; None if nothing is.
        how: what was done to read the body otherwise than its file says, in words; empty if nothing was.
        is_assumed: whether nothing was handed over, and the body is taken to be empty.
        coded: the content codings that a body still has, although its tool is one that undoes them.
    """

    body: bytes | None
    shortfall: Shortfall | None = None
    how: str = ""
    is_assumed: bool = False
    coded: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[int, bool]:
        """Less for what is worth more."""
        kept = self.shortfall.kept if self.shortfall else Kept.WHOLE
        return kept.rank, self.is_assumed


def judged(captured: Captured) -> Worth:
    """What a captured response is worth."""
    if captured.body is None:
        return _without_body(captured)
    readings = tuple(captured.told.readings) or (BodyReading(captured.body),)
    if captured.is_decoded and (coded := still_coded(captured, readings)):
        return _as_sent(captured, coded)
    reading = _fitting(captured, readings)
    shortfall = None if _has_no_content(captured) else _shortfall(captured, reading.body)
    if shortfall and shortfall.kept is Kept.PART and not reading.body:
        return Worth(None, Shortfall(Kept.NOT, shortfall.reason))
    return Worth(reading.body, shortfall, reading.how)


def _as_sent(captured: Captured, coded: StillCoded) -> Worth:
    """Of a response whose body is not decoded, although its tool decodes bodies."""
    names = content_codings(captured.headers)
    is_as_sent = coded.names == names
    # What the tool counted is what it did not decode.
    statement = replace(captured.told, readings=(), sizes=())
    sent = replace(captured, body=coded.body, is_decoded=not is_as_sent, told=statement)
    shortfall = None if _has_no_content(sent) or not is_as_sent else _shortfall(sent, coded.body)
    how = f"body is still coded with {' and '.join(coded.names)}, which is not applied again"
    return Worth(coded.body, shortfall, how, coded=coded.names)


def _without_body(captured: Captured) -> Worth:
    """Of a response that nothing was handed over of: it had no content, or that is lost."""
    words = captured.told
    if not words.lost and (_has_no_content(captured) or _is_empty(captured)):
        return Worth(b"", is_assumed=True)
    return Worth(None, Shortfall(Kept.NOT, words.lost or "the recording does not have it"))


def _has_no_content(captured: Captured) -> bool:
    """Whether nobody sees any content: RFC 9110, section 6.4.1, and redirects, which are followed."""
    return (
        captured.method in _CONTENTLESS_METHODS
        or captured.status in _CONTENTLESS_STATUSES
        or (captured.status in _REDIRECTS and bool(captured.header("location")))
    )


def _is_empty(captured: Captured) -> bool:
    """Whether the content is said to be empty, and nothing else of the response says that it is not.

    Nothing, compressed, is not empty: who states a content coding has sent something.
    """
    lengths = [size.length for size in captured.told.sizes]
    if captured.content_length is not None:
        lengths.append(captured.content_length)
    if captured.told.sent_bytes is not None:
        lengths.append(captured.told.sent_bytes)
    is_coded = _is_coded(captured) and captured.content_length != 0
    return bool(lengths) and not any(lengths) and not is_coded


def _fitting(captured: Captured, readings: tuple[BodyReading, ...]) -> BodyReading:
    """The reading that is as long as it should be; if none is, the first."""
    exact = (reading for reading in readings if len(reading.body) == _announced(captured))
    fitting = (reading for reading in readings if _misfit(captured, reading.body) is None)
    return next(exact, None) or next(fitting, readings[0])


def _misfit(captured: Captured, body: bytes) -> StatedLength | None:
    """A length that is stated for a body, and that it has not; None if what is stated may be right."""
    if not body and captured.is_decoded and _is_coded(captured):
        sent = captured.content_length or captured.told.sent_bytes or 0
        return StatedLength(sent, "the recording") if sent > _NOTHING_CODED_BYTES else None
    announced, sizes = _announced(captured), tuple(_sizes(captured))
    is_as_counted = any(size.length == len(body) for size in sizes)
    if announced is None:
        return None if is_as_counted else next(iter(sizes), None)
    # Less is a part, whatever the tool counted. More is what a tool has that decodes bodies and leaves out the field
    # that says how they were coded.
    if len(body) == announced or (len(body) > announced and is_as_counted):
        return None
    return StatedLength(announced, LENGTH)


def _announced(captured: Captured) -> int | None:
    """What `content-length` says, if it is about the body as it is there (RFC 9112, section 6.3)."""
    if captured.method == "HEAD" or captured.status in (204, 304):
        return None
    if captured.header("transfer-encoding"):
        return None
    return None if captured.is_decoded and _is_coded(captured) else captured.content_length


def _sizes(captured: Captured) -> Iterator[StatedLength]:
    """What the tool counted, if it is the content that it counted.

    Some state the length of what was sent for that of the content, others none or nothing.
    """
    coded = (captured.content_length, captured.told.sent_bytes) if _is_coded(captured) else ()
    if captured.is_decoded:
        yield from (
            size for size in captured.told.sizes if size.length and size.length not in coded
        )


def _is_coded(captured: Captured) -> bool:
    return bool(content_codings(captured.headers))


def _shortfall(captured: Captured, body: bytes) -> Shortfall | None:
    words, misfit = captured.told, _misfit(captured, body)
    if misfit and len(body) < misfit.length:
        lengths = f"{len(body):,} of the {misfit.length:,} bytes that {misfit.said_by} says"
        return Shortfall(Kept.PART, f"{lengths} ({words.cut})" if words.cut else lengths)
    if words.cut:
        return Shortfall(Kept.PART, words.cut)
    if words.doubt:
        return Shortfall(Kept.CONTRADICTED, words.doubt)
    if misfit:
        lengths = f"it has {len(body):,} bytes, and {misfit.said_by} says {misfit.length:,}"
        return Shortfall(Kept.CONTRADICTED, lengths)
    if captured.is_decoded and lost_bytes(captured, body):
        return Shortfall(Kept.PART, "it was coded, and taken for text, which lost bytes of it")
    return _not_coded(captured, body)


def _not_coded(captured: Captured, body: bytes) -> Shortfall | None:
    """Why a body that is as it was sent cannot be decoded; None if it can, or if nobody here knows its coding."""
    names = content_codings(captured.headers)
    if captured.is_decoded or not body or not names:
        return None
    try:
        decoded(body, names)
    except CodingError as error:
        if error.is_unknown:
            return None
        coding = " and ".join(names)
        if error.is_too_long:
            return Shortfall(Kept.CONTRADICTED, str(error).replace("its body", "it", 1))
        if error.is_cut:
            return Shortfall(Kept.PART, f"it ends before its content coding, {coding}, does")
        return Shortfall(Kept.CONTRADICTED, f"it is not {coding}-coded as content-encoding says")
    return None
