"""The scenario of a case: its path, what happens there and when, and what the sender has to send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_FRAME_BITS = 1514 * 8
_FULL_PACKETS = 2.2
"""Packets that fit into the time in which a loss takes place: it meets one at least where a link is half full."""
_SMALLEST_BYTES = 200_000
JUDGED_FLOW = "judged"
"""Of several flows that share a link."""
_RIVALS_START = "1 s"


@dataclass(frozen=True)
class SenderScenario:
    """A path with one link, and a transfer over it.

    Attributes:
        rate_mbit: of the link, Mbit/s.
        rtt_ms: round-trip propagation delay.
        queue_bdp: the queue, in bandwidth-delay products.
        seconds: how long the transfer takes at the link's rate.
        losses_s: at each of these times one to three packets in a row are lost, on the way to the client.
        blackouts_s: spans in which all packets to the client are lost.
        silences_s: spans in which all packets to the server are lost.
        lost_packets: numbers of packets to the client that are lost: one in slow start ends it, whatever the sender's pace.
        marks_s: a span in which all packets to the client are marked (ECN), if their sender can ECN.
        rivals: how many other flows of the same kind share the link.
        down: other keys of the path to the client.
        path: other keys of the path.
        fault: what happens to a single packet, as studies write it; empty if nothing does.
        server: other keys of the server's host.
        client: keys of the client's host.
        workload: what is asked for instead of a download, as a table of a study.
    """

    rate_mbit: float
    rtt_ms: float
    queue_bdp: float
    seconds: float
    losses_s: tuple[float, ...] = ()
    blackouts_s: tuple[tuple[float, float], ...] = ()
    silences_s: tuple[tuple[float, float], ...] = ()
    lost_packets: tuple[int, ...] = ()
    marks_s: tuple[float, float] | None = None
    rivals: int = 0
    down: Mapping[str, Any] = field(default_factory=dict)
    path: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""
    server: Mapping[str, Any] = field(default_factory=dict)
    client: Mapping[str, Any] = field(default_factory=dict)
    workload: Mapping[str, Any] | None = None

    @property
    def rtt_s(self) -> float:
        """Round-trip propagation delay, seconds."""
        return self.rtt_ms / 1e3

    @property
    def rate_bytes_s(self) -> float:
        """The link's rate, bytes per second."""
        return self.rate_mbit * 1e6 / 8

    @property
    def bdp_bytes(self) -> float:
        """Bandwidth-delay product, bytes."""
        return self.rate_bytes_s * self.rtt_s

    def tables(self) -> dict[str, Any]:
        """The scenario as tables of a study: its path and its workload."""
        lost_s = _FULL_PACKETS * _FRAME_BITS / (self.rate_mbit * 1e6)
        spans = sorted((*self.blackouts_s, *((at, at + lost_s) for at in self.losses_s)))
        down = {
            **self.down,
            **({"blackouts": _spans(spans)} if spans else {}),
            **({"drop_packets": list(self.lost_packets)} if self.lost_packets else {}),
            **({"ecn": _marking(*self.marks_s)} if self.marks_s else {}),
        }
        up = {"blackouts": _spans(self.silences_s)} if self.silences_s else {}
        path = {
            "rate": f"{self.rate_mbit:g} Mbit/s",
            "rtt": f"{self.rtt_ms:g} ms",
            "queue": f"{self.queue_bdp:g} BDP",
            **self.path,
            **({"down": down} if down else {}),
            **({"up": up} if up else {}),
        }
        size = max(round(self.rate_bytes_s * self.seconds), _SMALLEST_BYTES)
        return {
            "path": path,
            "workload": dict(self.workload or {"size": f"{size} B"}),
            **({"fault": self.fault} if self.fault else {}),
            **({"flows": self._flows} if self.rivals else {}),
        }

    @property
    def _flows(self) -> dict[str, Any]:
        """The flow that is judged, and those that only load the path."""
        rivals = {"background": True, "start": _RIVALS_START, "count": self.rivals}
        return {JUDGED_FLOW: {}, "rival": rivals}


def _marking(begin_s: float, end_s: float) -> dict[str, str]:
    (begin, end) = _spans([(begin_s, end_s)])[0]
    return {"ect0": "ce", "ect1": "ce", "start": begin, "end": end}


def _spans(spans: Any) -> list[list[str]]:
    return [[f"{round(begin * 1e6)} us", f"{round(end * 1e6)} us"] for begin, end in spans]
