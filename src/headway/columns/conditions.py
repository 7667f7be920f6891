"""Columns of what was to be run: names of the run, programs, path and workload."""

from __future__ import annotations

from headway.columns.column import Columns, column, given


class Conditions(Columns):
    """What a run was to be; known before it is carried out, but for what a seed draws."""

    run_id: str = given("Name of the run, unique in the study; also its artefact directory.")
    study: str = given("Name of the study.")
    experiment: str = column(
        "Experiment of the study; empty if the study is a single one.", default=""
    )
    cell: str = given(
        "Name of the cell: all conditions but the contender. Runs that share `cell` and `seed` "
        "met the same path realisation."
    )
    contender: str = given(
        "What is compared within a cell; the protocol's name unless the study names contenders."
    )
    protocol: str = given(
        "HTTP version: `h1`, `h2` or `h3`; for bulk flows the transport alone: `tcp` or `quic`."
    )
    tls: bool = given("Whether the connection was encrypted.")
    client: str = given("Client program.")
    server: str = given("Server program.")
    proxy: str | None = column(
        "Programs between client and server that split its connections, from the client on: "
        "reverse proxies and PEPs. Null if there are none, or none that acts on the protocol."
    )
    upstream_protocol: str | None = column(
        "HTTP version between reverse proxy and server; null without a reverse proxy."
    )
    client_cc: str = given(
        "Congestion control of the client's TCP; for `h3` and `quic` the client program's own."
    )
    server_cc: str = given(
        "Congestion control of the server's TCP, as the kernel says if `cc_observed` names "
        "`server`; of the server program's own QUIC, as it was told, if it speaks `h3` or `quic` "
        "(behind a proxy: to the proxy)."
    )
    cc_observed: str | None = column(
        "Hosts whose congestion control was observed, because it is TCP's and the kernel tells "
        "it: `server`, and names of proxies' hosts. What QUIC programs do, they were told, or "
        "have built in."
    )
    proxy_cc: str | None = column(
        "Congestion control of each such program towards the client: its TCP's, for `h3` and "
        "`quic` the program's own."
    )
    proxy_iw: str | None = column(
        "Initial window of each such program towards the client, in segments; `own` if the "
        "program decides."
    )
    proxy_upstream_cc: str | None = column(
        "Congestion control of each such program towards the server."
    )
    proxy_upstream_iw: str | None = column(
        "Initial window of each such program towards the server, in segments; `own` if the "
        "program decides."
    )
    bypass: str | None = column(
        "Hops whose programs were bypassed, so that they only routed, from the client on; null if"
        " there are none."
    )
    knobs: str | None = column(
        "Settings of the programs that acted which the study set, as `server max_window=64, "
        "proxy-st upstream ack_threshold=10`; null if all are the adapters'."
    )
    client_iw: int | None = column(
        "Client's initial window in segments; null if the program decides.", unit="segments"
    )
    server_iw: int | None = column(
        "Server's initial window in segments; null if the program decides.", unit="segments"
    )
    profile: str | None = column("Named profile that the path was drawn from, if any.")
    rate_mbit: float | None = given(
        "Rate of the narrowest link towards the client at the start, Mbit/s (10^6 bits); null if "
        "unlimited."
    )
    rate_up_mbit: float | None = given(
        "Rate of the narrowest link towards the server at the start, Mbit/s; null if unlimited."
    )
    rtt_ms: float = given(
        "Round-trip propagation delay of the path, ms, without queueing and serialisation."
    )
    drawn_rtt_ms: float | None = column(
        "The same as this run met it: drawn around it by the seed, with `variation`."
    )
    loss_pct: float = given("Mean random loss towards the client, percent of packets.")
    loss_up_pct: float = given("Mean random loss towards the server, percent of packets.")
    loss_burst: float = column(
        "Mean length of a loss burst towards the client, packets; 1 if losses are independent.",
        unit="packets",
        default=1,
    )
    jitter_ms: float = column("Jitter towards the client, ms.", default=0)
    offload: bool = column(
        "Whether segmentation offload stayed on, so that packets of up to 64 kB were queued and "
        "lost whole.",
        default=False,
    )
    queue_bytes: int | None = column(
        "Bottleneck queue towards the client in bytes on the wire; null if unlimited or counted "
        "in packets."
    )
    upstream_rate_mbit: float | None = column(
        "Rate of the narrowest link between server and reverse proxy at the start, Mbit/s; null "
        "if unlimited or without a reverse proxy."
    )
    upstream_rtt_ms: float | None = column(
        "Round-trip propagation delay between reverse proxy and server, ms; null without a "
        "reverse proxy."
    )
    upstream_loss_pct: float | None = column(
        "Mean random loss from server to reverse proxy, percent of packets; null without a "
        "reverse proxy."
    )
    workload: str = given("Workload, as `download 1 MB`.")
    device: str | None = column("What the page was loaded on; null without a page.")
    cache: str | None = column(
        "What the browser had of the page: `cold`, `warm` or `tickets`; null without a page."
    )
    origins: str | None = column(
        "Where the page's hosts were: `one-address` or `own-addresses`; null without a page."
    )
    size_bytes: int | None = column(
        "Size of each body asked for or of each bulk flow, bytes; null if flows last for a time."
    )
    requests: int = column("Number of requests, or of bulk flows.", default=1)
    rep: int = given("Repetition, from 1.")
    seed: int = given("Seed of everything random in the run.")
    setting_key: str | None = column(
        "Digest of all conditions, the seed, and the recording that a page was loaded from: runs "
        "in which it is equal are the same run, under whatever name."
    )
    clock: str = given("Clock of the lab: `virtual`, `cpu` or `real`.")
    variation: str | None = column(
        "What the path and the start of the workload vary by between repetitions: `phases`, or "
        "`none`."
    )
