"""Columns of what held a transfer back."""

from __future__ import annotations

from enum import StrEnum

from headway.columns.column import (
    HIGHER_LOWER,
    LOWER_HIGHER,
    Better,
    Columns,
    Needs,
    Of,
    column,
    metric,
)


class FlightLimit(StrEnum):
    """What ended a first flight."""

    CONGESTION_WINDOW = "congestion window"
    RECEIVE_WINDOW = "receive window"
    RESPONSE = "end of the response"


class RampUp(Columns):
    """How soon a bulk transfer filled its path, and when the bottleneck's sender left slow start."""

    ramp_s: float | None = metric(
        "Of bulk downloads: from the start of the first flow until goodput is there: the start of the first half second in "
        "which the client got 90 % of what the narrowest link can carry, less headers (1448 bytes of payload "
        "in a frame of 1514, 1428 over IPv6). No 100 ms count for more than the link can carry. Null if "
        "goodput never did, or if the rate changes.",
        "time to the path's full rate",
        of=Of.BULK_DOWNLOADS,
        needs=Needs.CONSTANT_RATE,
    )
    slow_start_s: float | None = metric(
        "From the start of the request until the sender in front of the narrowest link left slow start: the "
        "first sample in which its window had reached its threshold or it was repairing losses. Null if none "
        "did, or if the sender's state is not known.",
        "time to the end of slow start",
    )


class Causes(Columns):
    """What held the transfer back, and for how long."""

    limited_by: str | None = column(
        "What held the transfer back for the longest part of its time: the largest of the columns from "
        "`handshake_s` to `sndbuf_limited_s`, which sum up to `total_s`. One of `handshake`, `path`, "
        "`processor`, `growth`, `congestion window`, `recovery`, `idle recovery`, `application`, `plateau`, "
        "`receive window`, `send buffer`."
    )
    limited_section: str | None = column(
        "Where `limited_by` held the transfer back, or did so for the longest time: from which "
        "sender to which receiver, as `server > client` or `proxy-gw > proxy-st`; null for "
        "`handshake`."
    )
    limits_source: str | None = column(
        "Where the sender's state is known from: `tcp_info` (its kernel), `qlog` (its QUIC), or "
        "`counters` (only what the bottleneck carried and dropped); several of them if a chain's "
        "senders differ in that."
    )
    handshake_s: float | None = column("Time before the first byte of the response.")
    outage_s: float | None = column(
        "Time in which a link towards the client was down (`blackouts`, between `contacts`), and a sender had data."
    )
    path_s: float | None = column(
        "Time in which a queue stood at the bottleneck or 95 % of its rate were used."
    )
    processor_limited_s: float | None = column(
        "Time in which the path was not fully used, and a core of the sender's or the receiver's processor was busy for 95 % of "
        "it; 0 without processors (`kernel.processor`)."
    )
    growth_s: float | None = column(
        "Time in which congestion control was in slow start, its window still opening."
    )
    cwnd_s: float | None = column(
        "Time in which the congestion window (or pacing) held data back outside slow start and "
        "recovery: it was cut by a loss, or left slow start, below what the path can carry."
    )
    recovery_s: float | None = column(
        "Time in which losses were being repaired (TCP: CWR, Recovery and Loss; QUIC: a round "
        "trip after a packet was declared lost)."
    )
    idle_recovery_s: float | None = column(
        "Time in which nothing was sent for more than a smoothed round trip although data was "
        "outstanding: the sender waited for a retransmission or probe time-out."
    )
    application_s: float | None = column(
        "Time in which no sender of the chain had anything to send: the server's program, or "
        "HTTP/2 flow control."
    )
    plateau_s: float | None = column(
        "Time at a constant rate below the path's without loss, unexplained because the sender's "
        "state is not known (`counters`): flow control or a program's buffer."
    )
    rwnd_limited_s: float | None = column(
        "Time in which the receiver's window held the sender back (TCP: its kernel's own account;"
        " QUIC: flow control)."
    )
    sndbuf_limited_s: float | None = column(
        "Time in which the sender's TCP waited for its own send buffer (its kernel's own account)."
    )
    retransmits: int | None = column(
        "Segments that the sender's TCP sent again, for QUIC with a qlog packets that it declared"
        " lost; of all sections of a chain, null if one of the senders does not report it."
    )
    timeouts: int | None = column(
        "Retransmission time-outs of the sender's TCP, for QUIC with a qlog probe time-outs; of "
        "all sections likewise."
    )


class MainConnection(Columns):
    """The same of the connection that carried a page's document."""

    main_limited_by: str | None = column(
        "Of pages, as all columns with `main_`: what held the main connection back for the "
        "longest part of the page load time. It is the one that carried the document, as far as "
        "its sender's state is known."
    )
    main_handshake_s: float | None = column(
        "Like the column without `main_`, of the main connection alone; as are those that follow."
    )
    main_outage_s: float | None = column("Time in which the path was down for it.")
    main_path_s: float | None = column(
        "Time in which the path was fully used and the connection had data on it."
    )
    main_growth_s: float | None = column("Its slow start.")
    main_cwnd_s: float | None = column("Its congestion window.")
    main_recovery_s: float | None = column("Its repair of losses.")
    main_idle_recovery_s: float | None = column("Its waiting for a time-out.")
    main_application_s: float | None = column("It had nothing to send, whether others had or not.")
    main_rwnd_limited_s: float | None = column("The receiver's window for it.")
    main_sndbuf_limited_s: float | None = column("Its send buffer.")
    main_retransmits: int | None = column("Segments sent again on it, QUIC packets declared lost.")
    main_timeouts: int | None = column("Its time-outs.")
    main_slow_start_s: float | None = column(
        "From navigation start until its sender towards the client left slow start."
    )


class BottleneckUse(Columns):
    """What the bottleneck went through."""

    utilisation: float | None = metric(
        "Bits on the bottleneck towards the client over what it could have carried while the "
        "transfer ran, 0 to 1; of a chain, that of the section where it is highest.",
        "utilisation of the bottleneck",
        better=Better.MORE,
        words=HIGHER_LOWER,
        needs=Needs.CONSTANT_RATE,
    )
    queue_delay_ms: float | None = metric(
        "Mean over time of how long the bottleneck's queue towards the client took to send what was in it, while the "
        "transfer ran: its sampled backlog over its rate. Null without a constant rate; of a chain, that of the "
        "section where it is highest.",
        "queueing delay",
        words=LOWER_HIGHER,
        needs=Needs.CONSTANT_RATE,
    )
    queue_delay_p95_ms: float | None = metric(
        "95th percentile over time of the same.",
        "queueing delay, 95th percentile",
        words=LOWER_HIGHER,
        needs=Needs.CONSTANT_RATE,
    )
    queue_peak_bytes: int | None = column(
        "Highest sampled backlog of the bottleneck towards the client, bytes on the wire; of a "
        "chain, of any section's."
    )
    queue_drops: int | None = column(
        "Packets that the bottleneck queue towards the client dropped; of a chain, the queues of "
        "all sections."
    )
    path_drops: int | None = column(
        "Packets towards the client that the path's loss models dropped."
    )


class SenderOverTime(Columns):
    """The sender in front of the bottleneck, over the time of the transfer; null if its state is not known."""

    srtt_p50_ms: float | None = metric(
        "Median over time of the smoothed round-trip time of the sender in front of the narrowest link; of several "
        "connections of their mean.",
        "smoothed round-trip time",
        words=LOWER_HIGHER,
    )
    srtt_p95_ms: float | None = metric(
        "95th percentile over time of the same.",
        "smoothed round-trip time, 95th percentile",
        words=LOWER_HIGHER,
    )
    cwnd_mean_bytes: float | None = column(
        "Mean over time of that sender's congestion window; of several connections of their sum."
    )
    first_flight_packets: int | None = column(
        "Packets that came from the server from the end of the handshake until the first acknowledgment of "
        "them could be back, by samples of the bottleneck's queue. Null of pages, bulk flows and with "
        "proxies, after 0-RTT, and without a sample in that round trip, such as with RTTs of less than 10 ms."
    )
    first_flight_bytes: int | None = column("The same in bytes on the wire.")
    first_flight_limit: str | None = column(
        "What ended the first flight: the `congestion window`, which is then the initial one (RFC 6928; RFC "
        "9002, section 7.2); the `receive window`, of TCP or of QUIC's flow control; or the `end of the "
        "response`. Null if nothing shows which."
    )


class TransferLimits(BottleneckUse, Causes):
    """All that the samples of a run tell of a transfer; null where there is no such thing."""
