"""What the adapters of Headway's own programs have in common: the knobs of their QUIC."""

from __future__ import annotations

from headway.guest.orders import NATIVE_DIRECTORY
from headway.programs.base import Adapter, Knob
from headway.study.host import Host

_NAMES = {"reno": "newreno"}
"""Controllers that the kernel calls otherwise."""
_LOSS_BASED = ("cubic", "reno")

PAGE_TABLE_BYTES, PAGE_BLOCKED_STREAMS = 4096, 100
"""Dynamic tables of header compression where pages are served, if a study says nothing else."""

QUIC_KNOBS = (
    Knob(
        "slow_start",
        "hystart",
        "when slow start ends, if not by loss; Linux has hystart",
        ("classic", "hystart", "hystart++"),
    ),
    Knob("max_window", "none", "largest congestion window: packets, or bytes as 200000B, or none"),
    Knob(
        "emulated_connections",
        "1",
        "behave as this many connections",
        controls=_LOSS_BASED,
    ),
    Knob("pacing", "on", "spread packets over time: on, off, or a rate as 10Mbit/s"),
    Knob("max_burst", "10", "datagrams that pacing lets leave at once, at most"),
    Knob(
        "saved_window",
        "none",
        "Careful Resume: what the path took in a round trip of an earlier connection: packets, or "
        "bytes as 1450000B, or none",
    ),
    Knob("saved_rtt", "none", "Careful Resume: that connection's least round trip, as 580ms"),
    Knob(
        "remember",
        "off",
        "Careful Resume: how long what connections saw serves the peer's next one, as 600s, or off",
    ),
    Knob("max_udp_payload", "1472", "bytes of a UDP payload; 1472 fill an Ethernet frame"),
    Knob("packet_threshold", "3", "later packets acknowledged until one is lost"),
    Knob("time_threshold", "1.125", "round-trip times until a packet is lost"),
    Knob("initial_rtt", "333ms", "round-trip time assumed before there is a sample"),
    Knob("idle_timeout", "600s", "silence that ends a connection"),
    Knob("stream_window", "16777216", "flow control: receive window of a stream, in bytes"),
    Knob("connection_window", "25165824", "flow control: receive window of a connection, in bytes"),
    Knob("max_streams", "1000", "streams of each kind that the peer may have open"),
    Knob("migration", "on", "let clients change their address", ("on", "off")),
    Knob("ack_threshold", "none", "ask the peer to leave this many packets unacknowledged"),
    Knob("max_ack_delay", "", "ask the peer to delay acknowledgments no longer, as 25ms"),
    Knob("cpu_per_sent", "0us", "computing time of each datagram sent: a slow device"),
    Knob("cpu_per_received", "0us", "computing time of each datagram received: a slow device"),
)
"""The knobs of ``headway_quic::knobs``, as studies write them."""

HEADER_COUNTS = "-headers.jsonl"
"""How the file ends in which a server tells what header fields took; it begins with the server's host."""

COMPRESSION_KNOBS = (
    Knob(
        "qpack_capacity",
        "auto",
        "bytes of QPACK's dynamic table, at most, in each direction; 0 is none; auto is "
        f"{PAGE_TABLE_BYTES} at a server of pages, else 0",
    ),
    Knob(
        "qpack_blocked_streams",
        "auto",
        "streams that the peer may let wait for QPACK's dynamic table; auto is "
        f"{PAGE_BLOCKED_STREAMS} at a server of pages if there is a table, else 0",
    ),
    Knob(
        "hpack_capacity",
        "auto",
        "bytes of HPACK's dynamic table for what is sent over h2, at most; 0 is none; auto is "
        f"{PAGE_TABLE_BYTES} at a server of pages, else 0",
    ),
)
"""How header compression is set, as studies write it."""


def command(program: str) -> str:
    """Path in a lab of one of Headway's own programs."""
    return f"{NATIVE_DIRECTORY}/{program}"


class NativeQuic(Adapter):
    """Of a program with Headway's own QUIC."""

    quic_congestion_controls = ("cubic", "reno", "bbr", "bbr3", "hybla")
    sets_quic_initial_window = True
    writes_qlog = True


def quic_knobs(adapter: NativeQuic, host: Host) -> str:
    """A host's QUIC as ``NAME=VALUE,NAME=VALUE``."""
    values = {knob.name: adapter.knob(knob.name, host) for knob in QUIC_KNOBS}
    control = adapter.quic_congestion_control(host)
    words = {"congestion_control": _NAMES.get(control, control)}
    if host.initial_window.quic is not None:
        words["initial_window"] = str(host.initial_window.quic)
    words |= {name: value for name, value in values.items() if value}
    return ",".join(f"{name.replace('_', '-')}={value}" for name, value in words.items())


def compression_options(adapter: Adapter, host: Host) -> list[str]:
    """Options for header compression: those that a study sets."""
    values = {knob.name: adapter.knob(knob.name, host) for knob in COMPRESSION_KNOBS}
    return [
        f"--{knob.name.replace('_', '-')}={values[knob.name]}"
        for knob in COMPRESSION_KNOBS
        if values[knob.name] != knob.default
    ]
