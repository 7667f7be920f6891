"""Orders of the host to a lab: a JSON file in the run's directory.

Times are nanoseconds; those named ``at_ns`` count from the start of the workload.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from headway.contract.arrivals import Watched
from headway.contract.carrier import CarrierLink
from headway.contract.counts import Counted
from headway.contract.faults import FaultLink
from headway.contract.program import Program
from headway.contract.text import omitted


@dataclass(frozen=True)
class Namespace:
    """A host or router: a network namespace, and how it is configured.

    With ``offload`` its devices keep segmentation offload: they pass on packets of up to 64 kB.
    ``gro_flush_ns`` is how long they wait for more received packets of a connection, to hand them
    up as one; None if each is handed up as it comes.
    """

    name: str
    sysctls: dict[str, str] = dataclasses.field(default_factory=dict)
    devices: tuple[str, ...] = ()
    offload: bool = False
    ip: tuple[str, ...] = ()
    tc: tuple[str, ...] = ()
    nft: str = ""
    gro_flush_ns: int | None = omitted(None)


@dataclass(frozen=True)
class View:
    """What a host sees of the lab's files, if it shares them with no other host.

    It has ``files`` (contents by path) that others do not have, an empty ``/tmp``, and as ``/lab/run`` a
    ``directory`` below the run's; without one these are common to all. Its programs may have another
    ``root`` tree than the lab's, to which they may write, and then they begin in a directory of it.
    """

    namespace: str
    directory: str
    files: dict[str, str] = dataclasses.field(default_factory=dict)
    root: str = omitted("")
    begins_in: str = omitted("")


@dataclass(frozen=True)
class Change:
    """What is changed at a point in time: the words after ``tc``, or a text for ``nft``; the other is empty.

    With a text for ``nft`` there may be lines of words after ``ip``, which are carried out behind it.

    ``blackout`` tells of a direction's delay line, named by ``line``, whether it loses every packet from
    then on.
    """

    at_ns: int
    namespace: str
    tc: str
    line: str = ""
    blackout: bool = False
    nft_rules: str = omitted("")
    ip_lines: tuple[str, ...] = omitted(())


@dataclass(frozen=True)
class TraceLink:
    """A direction whose packets leave at the opportunities of a Mahimahi trace.

    Packets that the namespace routes into ``device`` (a TUN device) wait in a droptail queue and
    are handed back to the namespace at their opportunity.
    """

    name: str
    namespace: str
    device: str
    opportunities_ms: tuple[int, ...]
    limit_bytes: int


@dataclass(frozen=True)
class Migration:
    """A host's address changes when its device has received so many bytes, or at ``due_ns`` if that is said.

    The old address is lost, and every TCP connection that has it is ended; empty, and without lines for ``ip``, if
    clients go on from another interface's.
    ``rate_bit_s`` is the most that the device can receive, None if there is no limit.
    """

    namespace: str
    device: str
    after_bytes: int
    old_address: str
    ip: tuple[str, ...]
    rate_bit_s: int | None
    due_ns: int | None = omitted(None)


@dataclass(frozen=True)
class Sampling:
    """What is read at every interval: queueing disciplines of devices, TCP sockets of one or both families, and what processors did."""

    interval_ns: int
    devices: tuple[tuple[str, str], ...] = ()
    tcp_namespaces: tuple[str, ...] = ()
    family: str = omitted("ipv4")
    processors: tuple[str, ...] = omitted(())
    both_families: bool = omitted(False)


@dataclass(frozen=True)
class Capture:
    """A device whose packets are written to a file of the run's directory."""

    namespace: str
    device: str
    file: str


@dataclass(frozen=True)
class BodyFile:
    """A file of a host, below ``/tmp``, into which a client receives a body."""

    namespace: str
    path: str


@dataclass(frozen=True)
class Pings:
    """ICMP echo requests that a host sends to an address before the workload, one every interval.

    ``wait_ns`` is how long a reply to the last one is awaited.
    """

    namespace: str
    address: str
    count: int
    interval_ns: int
    wait_ns: int
    frame_bytes: int


@dataclass(frozen=True)
class Round:
    """One time that the workload is carried out.

    ``directory``, below the boot's, is for all that the round leaves, its outcome among it. ``tc`` are
    the words after ``tc``, by namespace, that make the queueing disciplines anew for it when all
    services are ready; ``changes`` are theirs in its course. The workload starts ``start_after_ns``
    after a multiple of the orders' grid.
    """

    directory: str = ""
    tc: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    start_after_ns: int = 0


@dataclass(frozen=True)
class Orders:
    """All that a lab does in one boot.

    Of what is ``counted``, the counts are told, and what comes to devices that are ``watched``. Programs are allowed what is ``allowed`` beyond what they
    otherwise may. The workload is carried out
    in one or more ``rounds``, one after the other, while services go on. It starts at a multiple of
    ``start_grid_ns`` of the monotonic clock, so that what happened before cannot shift it.
    """

    namespaces: tuple[Namespace, ...]
    ip: tuple[str, ...] = ()
    sysctls: dict[str, str] = dataclasses.field(default_factory=dict)
    files: dict[str, str] = dataclasses.field(default_factory=dict)
    views: tuple[View, ...] = ()
    programs: tuple[Program, ...] = ()
    trace_links: tuple[TraceLink, ...] = ()
    carrier_links: tuple[CarrierLink, ...] = omitted(())
    fault_links: tuple[FaultLink, ...] = omitted(())
    sampling: Sampling | None = None
    captures: tuple[Capture, ...] = ()
    counted: tuple[Counted, ...] = ()
    watched: tuple[Watched, ...] = ()
    pings: Pings | None = None
    migration: Migration | None = None
    bodies: tuple[BodyFile, ...] = ()
    allowed: tuple[str, ...] = ()
    rounds: tuple[Round, ...] = (Round(),)
    start_grid_ns: int = 500_000_000
    limit_ns: int = 600 * 10**9
