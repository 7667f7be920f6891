"""The narrowest link towards the client on a flow's way: who sends over it, and where its queue begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headway.planning.deployment import ChangingWay, DeployedFlow, Segment
from headway.planning.topology import LinkPlace
from headway.study.available_metrics import has_constant_rate
from headway.study.path import Way
from headway.study.units import Duration, Rate


@dataclass(frozen=True)
class NarrowLink:
    """A link with a constant rate.

    Attributes:
        number: place of the segment among those of its flow, the client's first.
        segment: which crosses it; its far end sends over it.
        place: its wires.
        rate: towards the client.
        lag: from the sender to it: the delays of the links between.
    """

    number: int
    segment: Segment
    place: LinkPlace
    rate: Rate
    lag: Duration

    @property
    def sender_device(self) -> str:
        """Of the host that sends over it, that towards the client."""
        return self.segment.legs[-1].wires[-1].right_device

    @property
    def entry_device(self) -> str:
        """On which packets come to the router with its queue."""
        return self.place.arriving(Way.DOWN)

    @property
    def entry_host(self) -> str:
        """Name of that router."""
        return self.place.bottleneck(Way.DOWN).queue_namespace


def narrow_link(flow: DeployedFlow) -> NarrowLink | None:
    """That of a flow: the client's of equal ones.

    None if no rate is constant, of uploads, whose data go the other way, and where packets follow contacts.
    """
    way = flow.way
    if flow.setting.workload.uploads or isinstance(way, ChangingWay):
        return None
    narrow_links = [
        link for number, segment in enumerate(way.segments) for link in _links(number, segment)
    ]
    return min(narrow_links, key=lambda link: link.rate, default=None)


def _links(number: int, segment: Segment) -> Iterator[NarrowLink]:
    links = [pair for leg in segment.legs for pair in leg.links]
    for at, (link, place) in enumerate(links):
        rate = link.down.first_rate
        if rate and has_constant_rate(link.down):
            lag = Duration(sum(behind.down.delay for behind, _ in links[at + 1 :]))
            yield NarrowLink(number, segment, place, rate, lag)
