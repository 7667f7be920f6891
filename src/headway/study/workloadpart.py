"""Questions that every workload answers about itself."""

from __future__ import annotations

from headway.columns.column import Needs, Of
from headway.study.base_model import Part
from headway.study.host import BULK, HTTP, Protocol
from headway.study.offeredload import AT_ONCE, OfferedLoad
from headway.study.path import Path
from headway.study.payload import NO_PAYLOAD, Payload
from headway.study.replay import NO_REPLAY, Replay
from headway.study.units import Size


class WorkloadPart(Part):
    """What every workload answers about itself; most are downloads of bodies over HTTP."""

    @property
    def requests(self) -> int:
        """Number of requests, of flows, or of pages."""
        return 1

    @property
    def protocols(self) -> frozenset[Protocol]:
        """What can carry it."""
        return HTTP

    @property
    def needs(self) -> str:
        """What it needs of a version of HTTP, if not every one carries it."""
        return ""

    @property
    def over_http(self) -> bool:
        """Whether it takes HTTP, or the transport alone."""
        return self.protocols <= HTTP

    @property
    def payload(self) -> Payload:
        """What its requests and their responses carry."""
        return NO_PAYLOAD

    @property
    def amount(self) -> Size | None:
        """What each request or flow carries; None if nobody says so beforehand."""
        return self.payload.amount

    @property
    def offered_load(self) -> OfferedLoad:
        """When it sends, and how fast."""
        return AT_ONCE

    @property
    def replay(self) -> Replay:
        """What servers replay of a recorded page."""
        return NO_REPLAY

    @property
    def migrates(self) -> bool:
        """Whether the client's address changes."""
        return False

    @property
    def path_beside(self) -> Path | None:
        """Between a second interface of the client and the server; None if it has one interface."""
        return None

    @property
    def uploads(self) -> bool:
        """Whether data flow to the server."""
        return self.payload.content is not None

    @property
    def tells_state(self) -> bool:
        """Whether a player tells the server of its state."""
        return False

    @property
    def run_kinds(self) -> frozenset[Of]:
        """The kinds of runs that it makes: by those it is known which metrics are measured."""
        of_flows = {Of.BULK_DOWNLOADS} if self.downloads_flows else set()
        return frozenset({Of.REQUESTS, Of.ENCRYPTED_REQUESTS, *of_flows})

    @property
    def offers(self) -> frozenset[Needs]:
        """What it has of that which some metrics need beside."""
        return frozenset()

    @property
    def downloads_flows(self) -> bool:
        """Whether bulk flows come to the client, of which it is known when the path is full."""
        return self.protocols == BULK and not self.uploads
