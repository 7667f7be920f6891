"""What the host asks of a lab, and what the lab answers: JSON files in the run's directory.

Times are nanoseconds; those named ``at_ns`` count from the start of the workload.
"""

from __future__ import annotations

import dataclasses
import json
import typing
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from headway.contract.arrivals import Arrived, Watched
from headway.contract.counts import Counted, Counts
from headway.contract.faults import FaultLink, Passed

ORDERS_FILE = "orders.json"
OUTCOME_FILE = "outcome.json"
SAMPLES_FILE = "samples.jsonl"
CONTROLS_FILE = "tcp.json"
"""Names of the congestion controls of the connections that were sampled, by namespace."""
QLOG_DIRECTORY = "qlog"
"""In a run's directory: a directory for each host, which holds its programs' qlog files."""
CAPTURE_BUFFER_MIB = 32
"""What the kernel keeps of a device until its capture is scheduled: a burst costs no virtual time."""
NET_NAMESPACES = "net-namespaces"
"""Of what programs may be allowed: to make network namespaces, and whatever else CAP_SYS_ADMIN lets do."""
NATIVE_DIRECTORY = "/lab/extras/headway"
"""Where a lab shows Headway's own programs; they are in ``PATH`` too."""


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
    gro_flush_ns: int | None = None


@dataclass(frozen=True)
class Program:
    """A process on a host: a part of the workload, or a ``service``, started before that and awaited by it.

    Attributes:
        listens: what a service must have, after ``ready_within_ns`` at most, before each round's workload: open ports
            (``tcp:443``, or ``tcp:[fd00::2]:443`` for who asks that address), and files, as ``/run/ready``.
        at_ns, ends_at_ns: when one of the workload begins, and when it is killed if it is still there.
        interactive: whether it has the lab's console.
        migration_signal: what it is sent when its host's address has changed; 0 if nothing.
        finishes: whether a service is asked to end after the workload, to write the rest, and not killed.
        leaves_nothing: whether it has failed if processes of its host go on when it has ended.
    """

    name: str
    namespace: str
    argv: tuple[str, ...]
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    service: bool = False
    listens: tuple[str, ...] = ()
    ready_within_ns: int = 20 * 10**9
    at_ns: int = 0
    ends_at_ns: int | None = None
    interactive: bool = False
    migration_signal: int = 0
    finishes: bool = False
    leaves_nothing: bool = False


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
    root: str = ""
    begins_in: str = ""


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
    nft_rules: str = ""
    ip_lines: tuple[str, ...] = ()


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
    due_ns: int | None = None


@dataclass(frozen=True)
class Sampling:
    """What is read at every interval: queueing disciplines of devices, TCP sockets of one or both families, and what processors did."""

    interval_ns: int
    devices: tuple[tuple[str, str], ...] = ()
    tcp_namespaces: tuple[str, ...] = ()
    family: str = "ipv4"
    processors: tuple[str, ...] = ()
    both_families: bool = False


@dataclass(frozen=True)
class Capture:
    """A device whose packets are written to a file of the run's directory."""

    namespace: str
    device: str
    file: str


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
    fault_links: tuple[FaultLink, ...] = ()
    sampling: Sampling | None = None
    captures: tuple[Capture, ...] = ()
    counted: tuple[Counted, ...] = ()
    watched: tuple[Watched, ...] = ()
    pings: Pings | None = None
    migration: Migration | None = None
    bodies: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    rounds: tuple[Round, ...] = (Round(),)
    start_grid_ns: int = 500_000_000
    limit_ns: int = 600 * 10**9


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
class ProcessorsHeader:
    """Whose processors are sampled, and what a sample has of each before the times of its cores."""

    namespaces: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True)
class SamplesHeader:
    """The first line of the file of samples: what the others are of.

    ``epoch_ns`` is the wall clock's time at the workload's start; ``devices`` are pairs of namespace
    and device; ``queue_fields`` and ``tcp_fields`` name what a queue and a connection have. Without
    processors, samples have nothing of them.
    """

    epoch_ns: int
    devices: tuple[tuple[str, str], ...]
    namespaces: tuple[str, ...]
    queue_fields: tuple[str, ...]
    tcp_fields: tuple[str, ...]
    version: int = 1
    processors: ProcessorsHeader | None = None


@dataclass(frozen=True)
class Body:
    """A received file: its size in bytes and its SHA-256 in hexadecimal."""

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


@dataclass(frozen=True)
class Outcome:
    """How the workload ended: ``ok``, ``failed`` or ``timeout``, and why.

    ``migrated_ns`` is when the address changed, None if it did not. ``pings_ns`` are round-trip times
    of the control pings, None for those without a reply. ``counts`` are, by name, those of all that was
    counted, from when the path was made to the end of the workload. ``spins`` are busy waits, None of a
    lab that could not tell. ``host_counts`` are those of hosts with programs, ``passed`` of directions with faults,
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


_T = TypeVar("_T")


_UNSAID: dict[str, Any] = {
    "both_families": False,
    "gro_flush_ns": None,
    "ends_at_ns": None,
    "family": "ipv4",
    "processors": (),
    "leaves_nothing": False,
    "root": "",
    "begins_in": "",
    "fault_links": (),
    "nft_rules": "",
    "policed": "",
    "udp_rules": "",
    "has_mtu": False,
    "maps": False,
    "maps_back": False,
    "ip_lines": (),
    "due_ns": None,
}
"""Fields, with their usual values, that are only written where they say something else."""


def dump(value: Any) -> str:
    """Write a dataclass of this module as JSON."""
    return json.dumps(dataclasses.asdict(value, dict_factory=_said), separators=(",", ":"))


def _said(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in pairs if key not in _UNSAID or value != _UNSAID[key]}


def load(kind: type[_T], text: str) -> _T:
    """Read a dataclass of this module from JSON."""
    return typing.cast(_T, _build(kind, json.loads(text)))


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """What each field is: an outcome has many of a kind."""
    return typing.get_type_hints(kind)


def _build(kind: Any, raw: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        hints = _hints(typing.cast(Any, kind))
        return typing.cast(Any, kind)(
            **{key: _build(hints[key], value) for key, value in raw.items()}
        )
    if origin is dict:
        return {key: _build(arguments[1], item) for key, item in raw.items()}
    if origin is tuple and arguments[-1] is Ellipsis:
        return tuple(_build(arguments[0], item) for item in raw)
    if origin is tuple:
        return tuple(raw)
    if type(None) in arguments:
        return None if raw is None else _build(arguments[0], raw)
    return raw
