"""The record: one row per run, every column with its meaning and unit."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from headway.results.countfields import (
    BLACKED_OUT,
    BY_NUMBER,
    CORRUPTED,
    DUPLICATED,
    LOST,
    MARKED,
    QUEUE,
    REORDERED,
    down,
    up,
)


class Status(StrEnum):
    """How a run ended."""

    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"


class Record(BaseModel):
    """What is kept of one run: its conditions, how it ended, and what was measured.

    Times are seconds of the lab's clock unless said otherwise; a value that was not measured
    (the run failed, or the protocol has no such thing) is null.
    """

    model_config = ConfigDict(extra="forbid")

    run_id: str = Field(
        description="Name of the run, unique in the study; also its artefact directory."
    )
    study: str = Field(description="Name of the study.")
    experiment: str = Field(
        default="", description="Experiment of the study; empty if the study is a single one."
    )
    cell: str = Field(
        description="Name of the cell: all conditions but the contender. Runs that share `cell` and "
        "`seed` met the same path realisation."
    )
    contender: str = Field(
        description="What is compared within a cell; the protocol's name unless the study names contenders."
    )
    protocol: str = Field(
        description="HTTP version: `h1`, `h2` or `h3`; for bulk flows the transport alone: `tcp` or `quic`."
    )
    tls: bool = Field(description="Whether the connection was encrypted.")
    client: str = Field(description="Client program.")
    server: str = Field(description="Server program.")
    proxy: str | None = Field(
        default=None,
        description="Programs between client and server that split its connections, from the client on: reverse proxies and PEPs. Null if there are none, or none that acts on the protocol.",
    )
    upstream_protocol: str | None = Field(
        default=None,
        description="HTTP version between reverse proxy and server; null without a reverse proxy.",
    )
    client_cc: str = Field(
        description="Congestion control of the client's TCP; for `h3` and `quic` the client program's own."
    )
    server_cc: str = Field(
        description="Congestion control of the server's TCP, as the kernel says if `cc_observed` names `server`; of the server program's own QUIC, as it was told, if it speaks `h3` or `quic` (behind a proxy: to the proxy)."
    )
    cc_observed: str | None = Field(
        default=None,
        description="Hosts whose congestion control was observed, because it is TCP's and the kernel tells it: `server`, and names of proxies' hosts. What QUIC programs do, they were told, or have built in.",
    )
    proxy_cc: str | None = Field(
        default=None,
        description="Congestion control of each such program towards the client: its TCP's, for `h3` and `quic` the program's own.",
    )
    proxy_iw: str | None = Field(
        default=None,
        description="Initial window of each such program towards the client, in segments; `own` if the program decides.",
    )
    proxy_upstream_cc: str | None = Field(
        default=None, description="Congestion control of each such program towards the server."
    )
    proxy_upstream_iw: str | None = Field(
        default=None,
        description="Initial window of each such program towards the server, in segments; `own` if the program decides.",
    )
    bypass: str | None = Field(
        default=None,
        description="Hops whose programs were bypassed, so that they only routed, from the client on; null if there are none.",
    )
    knobs: str | None = Field(
        default=None,
        description="Settings of the programs that acted which the study set, as `server max_window=64, proxy-st upstream ack_threshold=10`; null if all are the adapters'.",
    )
    client_iw: int | None = Field(
        default=None,
        description="Client's initial window in segments; null if the program decides.",
    )
    server_iw: int | None = Field(
        default=None,
        description="Server's initial window in segments; null if the program decides.",
    )
    profile: str | None = Field(
        default=None, description="Named profile that the path was drawn from, if any."
    )
    rate_mbit: float | None = Field(
        description="Rate of the narrowest link towards the client at the start, Mbit/s (10^6 bits); null if unlimited."
    )
    rate_up_mbit: float | None = Field(
        description="Rate of the narrowest link towards the server at the start, Mbit/s; null if unlimited."
    )
    rtt_ms: float = Field(
        description="Round-trip propagation delay of the path, ms, without queueing and serialisation."
    )
    drawn_rtt_ms: float | None = Field(
        default=None,
        description="The same as this run met it: drawn around it by the seed, with `variation`.",
    )
    loss_pct: float = Field(description="Mean random loss towards the client, percent of packets.")
    loss_up_pct: float = Field(
        description="Mean random loss towards the server, percent of packets."
    )
    loss_burst: float = Field(
        default=1,
        description="Mean length of a loss burst towards the client, packets; 1 if losses are independent.",
    )
    jitter_ms: float = Field(default=0, description="Jitter towards the client, ms.")
    offload: bool = Field(
        default=False,
        description="Whether segmentation offload stayed on, so that packets of up to 64 kB were queued and lost whole.",
    )
    queue_bytes: int | None = Field(
        default=None,
        description="Bottleneck queue towards the client in bytes on the wire; null if unlimited or counted in packets.",
    )
    upstream_rate_mbit: float | None = Field(
        default=None,
        description="Rate of the narrowest link between server and reverse proxy at the start, Mbit/s; null if unlimited or without a reverse proxy.",
    )
    upstream_rtt_ms: float | None = Field(
        default=None,
        description="Round-trip propagation delay between reverse proxy and server, ms; null without a reverse proxy.",
    )
    upstream_loss_pct: float | None = Field(
        default=None,
        description="Mean random loss from server to reverse proxy, percent of packets; null without a reverse proxy.",
    )
    workload: str = Field(description="Workload, as `download 1 MB`.")
    device: str | None = Field(
        default=None, description="What the page was loaded on; null without a page."
    )
    cache: str | None = Field(
        default=None,
        description="What the browser had of the page: `cold`, `warm` or `tickets`; null without a page.",
    )
    origins: str | None = Field(
        default=None,
        description="Where the page's hosts were: `one-address` or `own-addresses`; null without a page.",
    )
    size_bytes: int | None = Field(
        default=None,
        description="Size of each body asked for or of each bulk flow, bytes; null if flows last for a time.",
    )
    requests: int = Field(default=1, description="Number of requests, or of bulk flows.")
    rep: int = Field(description="Repetition, from 1.")
    seed: int = Field(description="Seed of everything random in the run.")
    setting_key: str | None = Field(
        default=None,
        description="Digest of all conditions, the seed, and the recording that a page was loaded from: runs in which it is equal are the same run, under whatever name.",
    )
    clock: str = Field(description="Clock of the lab: `virtual`, `cpu` or `real`.")
    variation: str | None = Field(
        default=None,
        description="What the path and the start of the workload vary by between repetitions: `phases`, or `none`.",
    )
    status: Status = Field(description="`ok`, `failed` or `timeout`.")
    error: str | None = Field(default=None, description="Why the run did not end well.")
    connect_s: float | None = Field(
        default=None,
        description="From the start of the request to a transport connection, for `h3` and `quic` to the completed handshake: "
        "the client's own, with whatever it is connected to. A PEP answers for the server, a reverse proxy for itself.",
    )
    tls_s: float | None = Field(
        default=None,
        description="From the start of the request to a completed TLS handshake; through TCP PEPs that is the server's.",
    )
    ttfb_s: float | None = Field(
        default=None, description="From the start of the request to the first byte of the response."
    )
    total_s: float | None = Field(
        default=None,
        description="From the start of the request to the last byte of the response; of the slowest, if there are several.",
    )
    each_s: tuple[float, ...] = Field(
        default=(),
        description="For every request, in their order, from the start of the workload to its last byte; empty if the client does not tell.",
    )
    connect_start_s: float | None = Field(
        default=None,
        description="Of pages, as all that follow up to `largest_byte_share`, whose times begin with the navigation: "
        "the connection for the page is begun.",
    )
    response_start_s: float | None = Field(
        default=None, description="First byte of the page's own response."
    )
    fcp_s: float | None = Field(default=None, description="First contentful paint.")
    lcp_s: float | None = Field(default=None, description="Largest contentful paint.")
    dcl_s: float | None = Field(default=None, description="The DOMContentLoaded event is fired.")
    onload_s: float | None = Field(default=None, description="The load event is fired.")
    plt_s: float | None = Field(
        default=None,
        description="Page load time: the last resource that was requested before the load event has come.",
    )
    speed_index_s: float | None = Field(
        default=None, description="Speed Index: area above the curve of visual progress."
    )
    vc85_s: float | None = Field(
        default=None, description="The page is visually complete to 85 %, and stays so."
    )
    vc95_s: float | None = Field(default=None, description="The same to 95 %.")
    vc99_s: float | None = Field(default=None, description="The same to 99 %.")
    byte_index_s: float | None = Field(
        default=None, description="Byte Index: area above the curve of the share of bytes received."
    )
    objects: int | None = Field(
        default=None, description="Responses that a server sent before the load event."
    )
    connections: int | None = Field(default=None, description="Connections that carried them.")
    domains: int | None = Field(default=None, description="Host names that they came from.")
    page_bytes: int | None = Field(default=None, description="Bytes of their content, as sent.")
    largest_share: float | None = Field(
        default=None,
        description="Share of the objects on the connection with the most objects, 0 to 1.",
    )
    largest_byte_share: float | None = Field(
        default=None, description="Share of the bytes on the connection with the most bytes."
    )
    visual_problem: str | None = Field(
        default=None, description="Why there are no visual metrics although frames were kept."
    )
    fields_raw_down_bytes: int | None = Field(
        default=None,
        description="Names and values of the header fields that headway-server sent, in bytes, before compression; null with "
        "another server, for `h1`, and where nothing but the static tables was to be used.",
    )
    fields_sent_down_bytes: int | None = Field(
        default=None,
        description="What was on the wire for them: field blocks, and QPACK's streams (insertions, and their acknowledgments).",
    )
    fields_raw_up_bytes: int | None = Field(
        default=None, description="The same as `fields_raw_down_bytes` of what it received."
    )
    fields_sent_up_bytes: int | None = Field(
        default=None, description="The same as `fields_sent_down_bytes` of what it received."
    )
    table_blocked: int | None = Field(
        default=None,
        description="Requests, and responses if the client is headway-client, whose fields had to wait for insertions into QPACK's "
        "dynamic table that had not come; 0 for `h2`. Browsers do not tell.",
    )
    table_blocked_s: float | None = Field(
        default=None,
        description="How long those waited, the sum of all, even if they waited at the same time.",
    )
    migrated_s: float | None = Field(
        default=None,
        description="When the client's address changed, from the start of the workload; null if it did not.",
    )
    bytes: int | None = Field(
        default=None, description="Bytes of response body that the client received."
    )
    goodput_mbit: float | None = Field(default=None, description="`bytes` over `total_s`, Mbit/s.")
    received_bytes: tuple[int, ...] | None = Field(
        default=None,
        description="Bytes that the receiving programs of bulk flows got, of all flows together, in each 100 ms from the start "
        "of the first flow to the last byte; null for other workloads.",
    )
    ramp_s: float | None = Field(
        default=None,
        description="Of bulk downloads: from the start of the first flow until goodput reached what the path can carry, "
        "which is the start of the first half second in which the client got 90 % of it: of the narrowest link's rate, "
        "less headers (1448 bytes of payload in a frame of 1514). No 100 ms count for more than the link can carry, "
        "since data behind a repaired loss are handed on at once. Null if goodput never did, or if the rate changes.",
    )
    slow_start_s: float | None = Field(
        default=None,
        description="From the start of the request until the sender in front of the narrowest link left slow start: the first sample "
        "in which its window had reached its threshold or it was repairing losses. With PEPs that is the one which sends over that link; "
        "of several connections it is the first. Null if none did, or if the sender's state is not known.",
    )
    limited_by: str | None = Field(
        default=None,
        description="What held the transfer back for the longest part of its time: the largest of the columns "
        "from `handshake_s` to `sndbuf_limited_s`, which sum up to `total_s`. Of a chain of connections, each moment's "
        "cause is that of the first sender, from the client on, that did not wait for the section behind it. One of `handshake`, `path`, `growth`, "
        "`congestion window`, `recovery`, `idle recovery`, `application`, `plateau`, `receive window`, `send buffer`.",
    )
    limited_section: str | None = Field(
        default=None,
        description="Where `limited_by` held the transfer back, or did so for the longest time: from which sender to which "
        "receiver, as `server > client` or `proxy-gw > proxy-st`; null for `handshake`.",
    )
    limits_source: str | None = Field(
        default=None,
        description="Where the sender's state is known from: `tcp_info` (its kernel), `qlog` (its QUIC), or `counters` "
        "(only what the bottleneck carried and dropped); several of them if a chain's senders differ in that.",
    )
    handshake_s: float | None = Field(
        default=None, description="Time before the first byte of the response."
    )
    path_s: float | None = Field(
        default=None,
        description="Time in which a queue stood at the bottleneck or 95 % of its rate were used.",
    )
    growth_s: float | None = Field(
        default=None,
        description="Time in which congestion control was in slow start, its window still opening.",
    )
    cwnd_s: float | None = Field(
        default=None,
        description="Time in which the congestion window (or pacing) held data back outside slow start and recovery: "
        "it was cut by a loss, or left slow start, below what the path can carry.",
    )
    recovery_s: float | None = Field(
        default=None,
        description="Time in which losses were being repaired (TCP: CWR, Recovery and Loss; QUIC: a round trip "
        "after a packet was declared lost).",
    )
    idle_recovery_s: float | None = Field(
        default=None,
        description="Time in which nothing was sent for more than a smoothed round trip although data was outstanding: "
        "the sender waited for a retransmission or probe time-out.",
    )
    application_s: float | None = Field(
        default=None,
        description="Time in which no sender of the chain had anything to send: the server's program, or HTTP/2 flow control.",
    )
    plateau_s: float | None = Field(
        default=None,
        description="Time at a constant rate below the path's without loss, unexplained since the sender's state is not "
        "known (`counters`): flow control or a program's buffer.",
    )
    rwnd_limited_s: float | None = Field(
        default=None,
        description="Time in which the receiver's window held the sender back (TCP: its kernel's own account; "
        "QUIC: flow control).",
    )
    sndbuf_limited_s: float | None = Field(
        default=None,
        description="Time in which the sender's TCP waited for its own send buffer (its kernel's own account).",
    )
    retransmits: int | None = Field(
        default=None,
        description="Segments that the sender's TCP sent again, for QUIC with a qlog packets that it declared lost; "
        "of all sections of a chain, null if one of the senders does not tell.",
    )
    timeouts: int | None = Field(
        default=None,
        description="Retransmission time-outs of the sender's TCP, for QUIC with a qlog probe time-outs; of all sections likewise.",
    )
    main_limited_by: str | None = Field(
        default=None,
        description="Of pages, as all columns with `main_`: what held the main connection back for the longest part of the "
        "page load time. It is the one that carried the document, as far as its sender's state is known.",
    )
    main_handshake_s: float | None = Field(
        default=None,
        description="Like the column without `main_`, of the main connection alone; as are those that follow.",
    )
    main_path_s: float | None = Field(
        default=None,
        description="Time in which the path was fully used and the connection had data on it.",
    )
    main_growth_s: float | None = Field(default=None, description="Its slow start.")
    main_cwnd_s: float | None = Field(default=None, description="Its congestion window.")
    main_recovery_s: float | None = Field(default=None, description="Its repair of losses.")
    main_idle_recovery_s: float | None = Field(
        default=None, description="Its waiting for a time-out."
    )
    main_application_s: float | None = Field(
        default=None, description="It had nothing to send, whether others had or not."
    )
    main_rwnd_limited_s: float | None = Field(
        default=None, description="The receiver's window for it."
    )
    main_sndbuf_limited_s: float | None = Field(default=None, description="Its send buffer.")
    main_retransmits: int | None = Field(
        default=None, description="Segments sent again on it, QUIC packets declared lost."
    )
    main_timeouts: int | None = Field(default=None, description="Its time-outs.")
    main_slow_start_s: float | None = Field(
        default=None,
        description="From navigation start until its sender towards the client left slow start.",
    )
    utilisation: float | None = Field(
        default=None,
        description="Bits on the bottleneck towards the client over what it could have carried while the transfer ran, 0 to 1; "
        "of a chain, that of the section where it is highest.",
    )
    queue_peak_bytes: int | None = Field(
        default=None,
        description="Highest sampled backlog of the bottleneck towards the client, bytes on the wire; of a chain, of any "
        "section's.",
    )
    queue_drops: int | None = Field(
        default=None,
        description="Packets that the bottleneck queue towards the client dropped; of a chain, the queues of all sections.",
    )
    path_drops: int | None = Field(
        default=None, description="Packets towards the client that the path's loss models dropped."
    )
    disturbances: tuple[str, ...] = Field(
        default=(),
        description="What the paths name to disturb packets, on any link between client and server: loss, blackouts, named drops, "
        "reordering, duplication and corruption, as `loss down: 1 %`. Whether it took place, the next 16 columns tell: they "
        "count on all links, from when these were made to the end of the workload; null if the lab did not get that far.",
    )
    lost_down: int | None = down(LOST)
    lost_up: int | None = up(LOST)
    blacked_out_down: int | None = down(BLACKED_OUT)
    blacked_out_up: int | None = up(BLACKED_OUT)
    dropped_by_number_down: int | None = down(BY_NUMBER)
    dropped_by_number_up: int | None = up(BY_NUMBER)
    queue_dropped_down: int | None = down(QUEUE)
    queue_dropped_up: int | None = up(QUEUE)
    reordered_down: int | None = down(REORDERED)
    reordered_up: int | None = up(REORDERED)
    duplicated_down: int | None = down(DUPLICATED)
    duplicated_up: int | None = up(DUPLICATED)
    corrupted_down: int | None = down(CORRUPTED)
    corrupted_up: int | None = up(CORRUPTED)
    marked_down: int | None = down(MARKED)
    marked_up: int | None = up(MARKED)
    control_rtt_ms: float | None = Field(
        default=None,
        description="Median round-trip time of the control pings before the workload, ms; null without any that were answered.",
    )
    control_rtt_min_ms: float | None = Field(
        default=None, description="Shortest round-trip time of the control pings, ms."
    )
    control_rtt_max_ms: float | None = Field(
        default=None, description="Longest round-trip time of the control pings, ms."
    )
    control_lost: int | None = Field(
        default=None, description="Control pings that were not answered; null without `control`."
    )
    validation: str | None = Field(
        default=None,
        description="Whether what the run's own packets met is what was configured: `passed`, or the checks that failed. "
        "Null without control pings and captures.",
    )
    virtual_s: float | None = Field(
        default=None, description="From the start of the workload to its end on the lab's clock."
    )
    wall_s: float | None = Field(
        default=None, description="Wall time of the whole run: boot, network, programs, power-off."
    )


def polars_schema() -> dict[str, Any]:
    """Column names and Polars types of ``runs.parquet``, in order."""
    # Imported here because it takes half a second, and most commands need no table.
    import polars as pl

    types: dict[str, Any] = {}
    for name, field in Record.model_fields.items():
        annotation = str(field.annotation)
        if "tuple" in annotation:
            of = pl.Int64() if "int" in annotation else pl.Float64()
            types[name] = pl.List(pl.String() if "str" in annotation else of)
        elif "bool" in annotation:
            types[name] = pl.Boolean()
        elif "float" in annotation:
            types[name] = pl.Float64()
        elif "int" in annotation:
            types[name] = pl.Int64()
        else:
            types[name] = pl.String()
    return types
