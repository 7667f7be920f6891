"""Workloads: what a client does, and what is timed."""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Discriminator, Field, field_validator, model_validator

from headway.columns.column import Needs, Of
from headway.overriding import override
from headway.study.bulk import Arrivals, Bulk, OnOff
from headway.study.call import Call
from headway.study.computing import Computing
from headway.study.device import Device
from headway.study.hints import Hints
from headway.study.interaction import PageInteraction
from headway.study.messages import Messages
from headway.study.offeredload import OfferedLoad
from headway.study.path import Path
from headway.study.payload import Payload
from headway.study.pools import answered
from headway.study.replay import Replay
from headway.study.requestseries import RequestSeries
from headway.study.slowreader import SlowReader
from headway.study.stream import Stream
from headway.study.units import Duration, Size
from headway.study.upload import Upload
from headway.study.video import Video
from headway.study.waits import Waits
from headway.study.workloadpart import WorkloadPart


class Download(WorkloadPart):
    """One request for one body; with ``0 B`` only connection, request and status are timed."""

    kind: Literal["download"] = "download"
    size: Size

    @property
    @override
    def payload(self) -> Payload:
        return Payload(body=self.size)

    def __str__(self) -> str:
        return f"download {self.size}"


class Parallel(WorkloadPart):
    """Requests for several bodies of the same size, all at once.

    HTTP/2 and HTTP/3 send them on one connection, HTTP/1.1 on as many as the client opens.
    """

    kind: Literal["parallel"] = "parallel"
    size: Size
    count: int = Field(ge=1, le=100, description="number of bodies")

    @property
    @override
    def requests(self) -> int:
        return self.count

    @property
    @override
    def payload(self) -> Payload:
        return Payload(body=self.size)

    def __str__(self) -> str:
        return f"parallel {self.count} x {self.size}"


class Migration(WorkloadPart):
    """A download during which the client's address changes.

    The host loses its address and gets another one. Its TCP connections end with it (Android's
    connectivity service does the same), so that a program without connection migration learns of
    the loss at once and may try again; a QUIC client may carry on from the new address
    (RFC 9000, section 9).

    With a ``second_path``, the host has had another interface from the start, and keeps both. Then only
    clients that migrate by themselves notice: they go on over that one.
    """

    kind: Literal["migration"] = "migration"
    size: Size
    after: Size | None = Field(
        default=None,
        description="bytes that the client has received on the wire when its address changes",
    )
    at: Duration | None = Field(
        default=None,
        exclude_if=lambda at: at is None,
        description="when its address changes instead, from the start of the workload",
    )
    second_path: Path | None = Field(
        default=None,
        exclude_if=lambda path: path is None,
        description="between a second interface of the client, which takes over, and the server; the first one stays",
    )

    @property
    @override
    def payload(self) -> Payload:
        return Payload(body=self.size)

    @property
    @override
    def migrates(self) -> bool:
        return True

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        return OfferedLoad(takes=self.at or Duration(0))

    @property
    @override
    def path_beside(self) -> Path | None:
        return self.second_path

    @model_validator(mode="after")
    def _in_time(self) -> Self:
        if (self.after is None) == (self.at is None):
            raise ValueError('an address changes "after" so many bytes or "at" a time: state one')
        if self.after is not None and self.after >= self.size:
            raise ValueError(f"the address would change after the end: {self.after} of {self.size}")
        return self

    def __str__(self) -> str:
        to = " to a second path" if self.second_path else ""
        when = f"at {self.at}" if self.after is None else f"after {self.after}"
        return f"migration {when} of {self.size}{to}"


class Cache(StrEnum):
    """What a browser has of a page before it loads it."""

    COLD = "cold"
    """Nothing."""
    WARM = "warm"
    """Its resources, and its servers' TLS session tickets."""
    TICKETS = "tickets"
    """Its servers' TLS session tickets, by which connections are resumed."""


class Origins(StrEnum):
    """Where the hosts of a page are: all at one address, or each at one of its own."""

    ONE_ADDRESS = "one-address"
    OWN_ADDRESSES = "own-addresses"


class Connections(StrEnum):
    """Over how many connections a page is loaded."""

    PER_HOST = "per-host"
    """One to each host over HTTP/2 and HTTP/3, of HTTP/1.1 up to six."""
    ONE = "one"
    """One for all hosts, which share a certificate and an address (RFC 9113, section 9.1.1)."""


class Versions(StrEnum):
    """Which versions of HTTP the hosts of a page speak."""

    ANY = "any"
    """That of the contender, all of them."""
    RECORDED = "recorded"
    """At most what each was recorded over."""


class Page(WorkloadPart):
    """A recorded page, replayed by the server and loaded in a browser."""

    kind: Literal["page"] = "page"
    site: str = Field(
        min_length=1, description="name of a site of the corpus, or file of an archive (.warc.gz)"
    )
    device: Device = Device.DESKTOP
    cache: Cache = Field(
        default=Cache.COLD,
        description="cold; warm: the page was loaded once before; tickets: it was, and only its "
        "TLS session tickets remain",
    )
    origins: Origins = Field(
        default=Origins.ONE_ADDRESS,
        description="whether all hosts of the page have one address or each has its own",
    )
    connections: Connections = Field(
        default=Connections.PER_HOST,
        description="one: all hosts share a certificate, and so a connection; a load with more has failed",
    )
    versions: Versions = Field(
        default=Versions.ANY,
        exclude_if=lambda versions: versions is Versions.ANY,
        description="any: all hosts speak the contender's version; recorded: each speaks at most the version "
        "that it was recorded over",
    )
    alt_svc: bool = Field(
        default=True,
        description="whether responses over h3 advertise it; without that, Chromium asks for six "
        "images at a time at most",
    )
    frames: bool = Field(
        default=True,
        description="keep the painted frames; without them there are no visual metrics",
    )

    hints: Hints | None = Field(
        default=None,
        exclude_if=lambda hints: hints is None,
        description="links that the document's head has besides: what to preload, where to connect",
    )
    waits: Waits | None = Field(
        default=None,
        exclude_if=lambda waits: waits is None,
        description="what servers take before they answer; without it they answer at once",
    )
    computing: Computing | None = Field(
        default=None,
        exclude_if=lambda computing: computing is None,
        description="what scripts, style sheets and documents cost the main thread; without it they cost nothing",
    )
    interactions: tuple[PageInteraction, ...] = Field(
        default=(),
        exclude_if=lambda interactions: not interactions,
        description="what a user does on the page, each at its moment",
    )

    @field_validator("interactions")
    @classmethod
    def _in_order(cls, interactions: tuple[PageInteraction, ...]) -> tuple[PageInteraction, ...]:
        return tuple(sorted(interactions, key=lambda interaction: interaction.at))

    @property
    @override
    def offers(self) -> frozenset[Needs]:
        counts = any(interaction.counts for interaction in self.interactions)
        return frozenset({Needs.INTERACTIONS} if counts else ())

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        return OfferedLoad(leaves=self.interactions[-1].at if self.interactions else None)

    @property
    def replayed(self) -> str:
        """The site that servers replay: what this one answers the device with."""
        return answered(self.site, self.device)

    @cached_property
    @override
    def replay(self) -> Replay:
        return Replay(
            site=self.replayed,
            own_addresses=self.origins is Origins.OWN_ADDRESSES,
            one_connection=self.connections is Connections.ONE,
            mixes_versions=self.versions is Versions.RECORDED,
            visited_before=self.cache is not Cache.COLD,
            needs_tickets=self.cache is Cache.TICKETS,
            advertises=self.alt_svc,
            hints=self.hints,
            waits=self.waits,
            columns={
                "device": self.device.value,
                "cache": self.cache.value,
                "origins": self.origins.value,
                "page_connections": self.connections.value,
            },
        )

    @property
    @override
    def run_kinds(self) -> frozenset[Of]:
        return frozenset({Of.PAGES, *([Of.PAINTED_PAGES] if self.frames else [])})

    @property
    def name(self) -> str:
        """The site's name, for people."""
        return self.site.rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(".warc")

    def __str__(self) -> str:
        result = "" if self.alt_svc else " without Alt-Svc"
        waits = f" waits {self.waits}" if self.waits else ""
        waits = f" hints {self.hints}{waits}" if self.hints else waits
        text = "".join(f", {interaction}" for interaction in self.interactions)
        text = f" computing {self.computing}{text}" if self.computing else text
        return f"page {self.name}{result}{waits}{text}"


def _with_kind(value: Any) -> Any:
    return {"kind": "download", **value} if isinstance(value, dict) else value


Workload = Annotated[
    Download
    | Parallel
    | Migration
    | Upload
    | RequestSeries
    | Stream
    | SlowReader
    | Video
    | Messages
    | Bulk
    | Arrivals
    | OnOff
    | Call
    | Page,
    Discriminator("kind"),
    BeforeValidator(_with_kind),
]

WORKLOADS: tuple[type[WorkloadPart], ...] = get_args(get_args(Workload)[0])
"""All kinds, for the list that people read."""
