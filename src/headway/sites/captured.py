"""Requests and responses as tools wrote them down: facts, of which none is judged here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headway.foreign.numbers import whole_number
from headway.sites.cost import ThreadCost
from headway.sites.site import Header, Lost

LENGTH = "content-length"


@dataclass(frozen=True)
class BodyReading:
    """A body, as what a file has of it can be read.

    Attributes:
        body: without a transfer coding.
        how: what was done otherwise than the file says, in words; empty if nothing was.
    """

    body: bytes
    how: str = ""


@dataclass(frozen=True)
class StatedLength:
    """How long a body is said to be.

    Attributes:
        length: in bytes.
        said_by: which field says so.
    """

    length: int
    said_by: str


@dataclass(frozen=True)
class Told:
    """What a recording says of a body, beside the body.

    Attributes:
        readings: how what is there of it can be read, the likeliest first; none if there is but one way.
        sizes: of the body without its content coding; any of them may be right.
        sent_bytes: how much of it came over the network; None if that is not told.
        lost: why there is no body; empty if that is not told.
        cut: why it is not all of the body, in words; empty if nothing says so.
        doubt: what of it cannot be right, in words; empty if nothing is known.
    """

    readings: Iterable[BodyReading] = ()
    sizes: tuple[StatedLength, ...] = ()
    sent_bytes: int | None = None
    lost: str = ""
    cut: str = ""
    doubt: str = ""


NOTHING_TOLD = Told()


@dataclass(frozen=True)
class Revisit:
    """What a response without a body of its own says of the response that has it (ISO 28500, section 6.7).

    Attributes:
        record: identifier of the record that has it; empty without one, as are the others.
        url: that it was requested at.
        instant_s: when, seconds since 1970; None if that is not told.
        digest: of the body, as it is written.
        is_unchanged: whether a server said so (304), and did not send it again.
    """

    record: str = ""
    url: str = ""
    instant_s: float | None = None
    digest: str = ""
    is_unchanged: bool = False


@dataclass(frozen=True)
class Captured:
    """A request and its response, as a tool wrote them down.

    Attributes:
        method: of the request.
        url: absolute.
        status: of the response; 0 if there was none.
        headers: fields of the response, not cleaned.
        body: without a transfer coding; None if the tool did not keep it.
        is_decoded: whether the body is without the content coding that its header fields state.
        protocol: what it came over, as the tool calls it; empty if it does not tell.
        kind: its media type, if another field than `content-type` tells it.
        told: what else is said of the body.
        began_s: when the request began, seconds since 1970; None if that is not told.
        revisit: what else has its body; None if it is its own.
        cost: what it cost the browser's main thread; None if that is not told.
    """

    method: str
    url: str
    status: int
    headers: tuple[Header, ...]
    body: bytes | None
    is_decoded: bool = False
    protocol: str = ""
    kind: str = ""
    told: Told = NOTHING_TOLD
    began_s: float | None = None
    revisit: Revisit | None = None
    cost: ThreadCost | None = None

    def values(self, name: str) -> Iterator[str]:
        """Values of all header fields of that name, which is in lower case."""
        return (value for field, value in self.headers if field.lower() == name)

    def header(self, name: str) -> str:
        """Value of the first header field of that name (lower case); empty without one."""
        return next(self.values(name), "")

    @property
    def content_length(self) -> int | None:
        """What `content-length` says; None without it."""
        value = self.header(LENGTH).partition(",")[0].strip()
        return whole_number(value)

    @property
    def media_type(self) -> str:
        """Its media type without parameters, in lower case; empty if none is told."""
        return (self.header("content-type") or self.kind).partition(";")[0].strip().lower()


@dataclass(frozen=True)
class Original:
    """A response that others may refer to for their body.

    Attributes:
        captured: the response.
        record: identifier of its record.
        digest: of its body, as it is written; empty if it is not.
    """

    captured: Captured
    record: str = ""
    digest: str = ""


@dataclass(frozen=True)
class RecordedFile:
    """What a file holds that a tool wrote.

    Attributes:
        captured: its exchanges, in the order in which they began, or as likely.
        name: of the site; empty if the file does not tell it, as are the others.
        page: URL that is loaded.
        description: of the site.
        lost: what was lost before it was written.
        odd: what of the file is left out since it is not as it should be, each by its place.
        notes: what else is to be said of the file, in words.
        originals: responses that revisits, in this file and others, may refer to.
    """

    captured: tuple[Captured, ...]
    name: str = ""
    page: str = ""
    description: str = ""
    lost: tuple[Lost, ...] = ()
    odd: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    originals: tuple[Original, ...] = ()
