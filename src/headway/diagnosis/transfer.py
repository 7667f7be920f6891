"""The transfer that a run's samples are judged by: when the response came, and over which segments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AliasChoices, Field

from headway.diagnosis.document import Document
from headway.planning.deployment import ChangingWay, DeployedFlow, Segment
from headway.programs.measurement import BulkFlow, Measurement
from headway.study.available_metrics import has_constant_rate
from headway.study.contactgraph import Plan
from headway.study.path import Direction, Way
from headway.study.units import Duration


class TimeSpan(NamedTuple):
    """From a time to another."""

    begin_s: float
    end_s: float


@dataclass(frozen=True)
class SampledSegment:
    """A sender of responses, and the path from it to the next receiver towards the client.

    Routers on the way, and programs that do not split its connections, are part of the path.

    Attributes:
        sender: namespace of the host that sends.
        receiver: namespace of the host that its responses go to.
        queue_device: where the path's narrowest link has its queue.
        loss_devices: where its links lose packets, the receiver's first.
        rate_mbit: rate of the narrowest link, Mbit/s; None if there is none or it changes.
        rtt_s: round-trip propagation delay of the path.
        delay_s: one-way propagation delay from the sender all the way to the client.
        outages: spans of the sender's time in which nothing that it sends gets through at once.
    """

    sender: str
    receiver: str
    queue_device: str
    loss_devices: tuple[str, ...]
    rate_mbit: float | None
    rtt_s: float
    delay_s: float
    outages: tuple[TimeSpan, ...] = ()

    @property
    def name(self) -> str:
        """From where to where its data go."""
        return f"{self.sender} > {self.receiver}"


@dataclass(frozen=True)
class PageSpans:
    """Of a page load, seconds from the workload's start.

    Attributes:
        connect_s: the connection for the document is begun, or asked for it if there was one.
        awaited: from when every request was sent until the last byte of its response came.
    """

    connect_s: float
    awaited: tuple[TimeSpan, ...]


@dataclass(frozen=True)
class Transfer:
    """When the first and the last byte of the response came, its segments and its flows.

    Times are seconds from the workload's start, None if there was no such byte. The client's segment is
    the first; flows are those of a bulk workload, ``page`` is of a page load. What counts begins at
    ``began_s``.
    """

    start_s: float | None
    end_s: float | None
    segments: Annotated[
        tuple[SampledSegment, ...], Field(validation_alias=AliasChoices("segments", "hops"))
    ]
    flows: tuple[BulkFlow, ...] = ()
    began_s: float = 0
    page: PageSpans | None = None

    def asked(self, segment: SampledSegment) -> tuple[TimeSpan, ...]:
        """Spans of a sender's time in which requests of the page gave it something to send.

        A request takes a round trip before the client can have the first byte that answers it.
        """
        rtt_s = math.fsum(sampled_segment.rtt_s for sampled_segment in self.segments)
        awaited = self.page.awaited if self.page else ()
        spans = ((begin_s + rtt_s, end_s) for begin_s, end_s in awaited)
        return union(TimeSpan(a - segment.delay_s, b - segment.delay_s) for a, b in spans if a < b)

    def save(self, run_directory: Path) -> None:
        """Keep it in the run's directory, for `read_series`."""
        _TRANSFER.save(run_directory, self)

    @classmethod
    def load(cls, run_directory: Path) -> Transfer:
        """Read it from the run's directory.

        Raises:
            FileNotFoundError: it was not kept.
            HeadwayError: it is of another version, or damaged.
        """
        return _TRANSFER.load(run_directory)


_TRANSFER = Document(Transfer, "transfer.json")


def union(spans: Iterable[TimeSpan]) -> tuple[TimeSpan, ...]:
    """The spans that cover the same, in order and apart from each other."""
    time_spans: list[TimeSpan] = []
    for span in sorted(spans):
        if time_spans and span.begin_s <= time_spans[-1].end_s:
            time_spans[-1] = TimeSpan(time_spans[-1].begin_s, max(time_spans[-1].end_s, span.end_s))
        else:
            time_spans.append(span)
    return tuple(time_spans)


def transfer_of(flow: DeployedFlow, measured: Measurement, epoch_s: float = 0.0) -> Transfer:
    """The transfer of a flow.

    Args:
        flow: the flow.
        measured: by its client.
        epoch_s: wall clock's time at the workload's start.
    """
    visit = measured.visit
    client_s = flow.start_s
    unix_s = visit.origin_s if visit else measured.began_unix_s
    began_s = client_s + measured.began_s if unix_s is None else unix_s - epoch_s
    start_s, end_s = (
        None if moment_s is None else began_s + moment_s
        for moment_s in (measured.ttfb_s, measured.total_s)
    )
    page = None
    if visit:
        awaited = tuple(TimeSpan(began_s + sent, began_s + ended) for sent, ended in visit.awaited)
        page = PageSpans(began_s + visit.connect_s, awaited)
    flows = tuple(
        replace(bulk_flow, start_s=client_s + bulk_flow.start_s) for bulk_flow in measured.flows
    )
    segments = sampled_segments(flow, measured.won, end_s or 0.0)
    return Transfer(start_s, end_s, segments, flows, began_s, page)


def sampled_segments(
    flow: DeployedFlow, won: str | None = None, until_s: float = 0.0
) -> tuple[SampledSegment, ...]:
    """What a flow's connections cross, the client's segment first.

    Args:
        flow: the flow.
        won: the family that its client came to, if it chose.
        until_s: up to when outages matter, seconds from the workload's start.
    """
    segments: list[SampledSegment] = []
    for segment in _crossed(flow, won):
        segments.append(_sampled(segment, segments[-1].delay_s if segments else 0.0, until_s))
    if isinstance(flow.way, ChangingWay):
        # Nothing on the way ends its connections, so there is one segment.
        waits = union(_waits(flow.way.planned.back[flow.stated.server], until_s))
        return tuple(replace(segment, rate_mbit=None, outages=waits) for segment in segments)
    return tuple(segments)


def _waits(plan: Plan, until_s: float) -> Iterator[TimeSpan]:
    """Spans of a sender's time in which what it sends waits for a contact somewhere, or is lost."""
    ends_s = [*(departures.since / 1e9 for departures in plan[1:]), math.inf]
    for departures, end_s in zip(plan, ends_s, strict=True):
        if departures.travel is None and departures.since / 1e9 < until_s:
            yield TimeSpan(departures.since / 1e9, end_s)


def _crossed(flow: DeployedFlow, won: str | None) -> tuple[Segment, ...]:
    """Hosts of both families have a leg between them for each."""
    if flow.other is None or won in (None, str(flow.setting.family)):
        return flow.segments
    behind = (segment for segment in flow.segments if segment.near.position >= flow.http_end)
    return (flow.over(flow.other), *behind)


def _sampled(segment: Segment, before_s: float, until_s: float) -> SampledSegment:
    places, path = segment.bottlenecks(Way.DOWN), segment.path
    directions = [link.down for link in path.links]
    narrow = narrowest(directions)
    return SampledSegment(
        sender=segment.far.name,
        receiver=segment.near.name,
        queue_device=places[directions.index(narrow)].queue_device,
        loss_devices=tuple(place.loss_device for place in places),
        rate_mbit=narrow.first_rate.mbit
        if narrow.first_rate and has_constant_rate(narrow)
        else None,
        rtt_s=path.rtt.s,
        delay_s=before_s + math.fsum(direction.delay.s for direction in directions),
        outages=union(_outages(reversed(directions), Duration(math.ceil(until_s * 1e9)))),
    )


def _outages(directions: Iterable[Direction], until: Duration) -> Iterator[TimeSpan]:
    """Spans of a sender's time in which what it sends is lost, or waits, at one of the links that it crosses in this order."""
    before_s = 0.0
    for direction in directions:
        for span in (*direction.outages(until), *direction.closures(until)):
            yield TimeSpan(span.start.s - before_s, span.end.s - before_s)
        before_s += direction.delay.s


def narrowest(directions: list[Direction]) -> Direction:
    """The direction with the least rate at the start; the first one if none has a rate."""
    limited = [direction for direction in directions if direction.first_rate is not None]
    return min(limited, key=lambda d: d.first_rate or 0) if limited else directions[0]
