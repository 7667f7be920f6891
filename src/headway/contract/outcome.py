"""The outcome that a lab answers in the end: a JSON file in the run's directory.

Times are nanoseconds; those named ``at_ns`` count from the start of the workload.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from headway.contract.arrivals import Arrived
from headway.contract.counts import Counts
from headway.contract.faults import Passed


@dataclass(frozen=True)
class Ended:
    """How a process of the workload ended, and on which host.

    ``exit_status`` is negative for a signal; times are from the workload's start. ``as_ordered``: it would have
    gone on.
    """

    name: str
    exit_status: int
    at_ns: int
    namespace: str = ""
    as_ordered: bool = False


@dataclass(frozen=True)
class Body:
    """A file that a host received: its size in bytes and its SHA-256 in hexadecimal."""

    namespace: str
    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Spins:
    """Busy waits: calls that took time, as there were too many in an instant, and forced ticks.

    A tick is forced on a program that computes for seconds of the host's processor without a call.
    """

    charged_calls: int
    forced_ticks: int


@dataclass(frozen=True)
class HostCounts:
    """What a host counted of what came.

    ``udp_buffer_drops`` are datagrams for which a socket's buffer had no room,
    ``out_of_order_segments`` TCP segments that came while an earlier one was missing.
    """

    udp_buffer_drops: int
    out_of_order_segments: int


STATUSES = ("ok", "failed", "timeout")
"""How a workload may end."""


@dataclass(frozen=True)
class Outcome:
    """How the workload ended: ``ok``, ``failed`` or ``timeout``, and why.

    ``migrated_ns`` is when the address changed, None if it did not. ``pings_ns`` are round-trip times
    of the control pings, None for those without a reply. ``counts`` are, by name, those of all that was
    counted, from when the path was made to the end of the workload. ``spins`` are busy waits, None of a
    lab that could not tell. ``late_ns`` is how late the latest of what was due at a moment was done. ``host_counts`` are those of hosts with programs, ``passed`` of directions with faults,
    ``arrived`` of devices that were watched.
    """

    status: str
    reason: str | None
    duration_ns: int
    kernel: str
    ended: tuple[Ended, ...] = ()
    migrated_ns: int | None = None
    bodies: tuple[Body, ...] = ()
    pings_ns: tuple[int | None, ...] = ()
    counts: dict[str, Counts] = dataclasses.field(default_factory=dict)
    spins: Spins | None = None
    host_counts: dict[str, HostCounts] = dataclasses.field(default_factory=dict)
    passed: dict[str, Passed] = dataclasses.field(default_factory=dict)
    arrived: dict[str, Arrived] = dataclasses.field(default_factory=dict)
    late_ns: int = 0
