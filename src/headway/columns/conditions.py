"""Columns of what was to be run: names of the run, programs, path and workload."""

from __future__ import annotations

from headway.columns.column import Columns, Naming, column, given


class Planned(Columns):
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
        "HTTP version: `h1`, `h2` or `h3`; for bulk flows the transport alone: `tcp` or `quic`.",
        naming=Naming("protocol", place=160, axes=("protocol",)),
    )
    tls: bool = given(
        "Whether the connection was encrypted.",
        naming=Naming("encryption", alone="{}", states=("TLS", "no TLS"), place=380, axes=("tls",)),
    )
    client: str = given(
        "Client program.", naming=Naming("client", place=220, axes=("client.program",))
    )
    server: str = given(
        "Server program.", naming=Naming("server", place=210, axes=("server.program",))
    )
    proxy: str | None = column(
        "Programs between client and server that split its connections, from the client on: "
        "reverse proxies and PEPs. Null if there are none, or none that acts on the protocol.",
        naming=Naming("proxy", "via {}", absent="no proxy", place=230, axes=("proxy.program",)),
    )
    upstream_protocol: str | None = column(
        "HTTP version between reverse proxy and server; null without a reverse proxy.",
        naming=Naming(
            "upstream",
            "upstream {}",
            absent="no upstream",
            alone="upstream protocol {}",
            place=330,
            axes=("proxy.upstream.protocol",),
        ),
    )
    client_cc: str = given(
        "Congestion control of the client's TCP; for `h3` and `quic` the client program's own.",
        naming=Naming(
            "client's CC",
            "client {}",
            alone="client's CC {}",
            place=180,
            axes=("client.congestion_control",),
        ),
    )
    server_cc: str = given(
        "Congestion control of the server's TCP, as the kernel says if `cc_observed` names "
        "`server`; of the server program's own QUIC, as the study asked for it, if it speaks `h3` or `quic` "
        "(behind a proxy: to the proxy).",
        naming=Naming(
            "server's CC",
            "server {}",
            alone="server's CC {}",
            place=170,
            axes=("server.congestion_control",),
        ),
    )
    cc_observed: str | None = column(
        "Hosts whose congestion control was observed, because it is TCP's and the kernel states "
        "it: `server`, and names of proxies' hosts. QUIC programs use what the study asks for, or "
        "what they have built in; nothing observes it."
    )
    proxy_cc: str | None = column(
        "Congestion control of each such program towards the client: its TCP's, for `h3` and "
        "`quic` the program's own.",
        naming=Naming(
            "proxy's CC", "proxy {}", absent="no proxy's CC", alone="proxy's CC {}", place=250
        ),
    )
    proxy_iw: str | None = column(
        "Initial window of each such program towards the client, in segments; `own` if the "
        "program decides.",
        naming=Naming("proxy's IW", "proxy IW {}", absent="no proxy's IW", place=260),
    )
    proxy_upstream_cc: str | None = column(
        "Congestion control of each such program towards the server.",
        naming=Naming(
            "proxy's CC up",
            "proxy {} up",
            absent="no proxy's CC",
            alone="proxy's CC {} up",
            place=270,
        ),
    )
    proxy_upstream_iw: str | None = column(
        "Initial window of each such program towards the server, in segments; `own` if the "
        "program decides.",
        naming=Naming("proxy's IW up", "proxy IW {} up", absent="no proxy's IW", place=280),
    )
    bypass: str | None = column(
        "Hops whose programs were bypassed, so that they only routed, from the client on; null if"
        " there are none.",
        naming=Naming("bypassed", "bypassing {}", absent="nothing bypassed", place=240),
    )
    way: str | None = column(
        "Hosts on the client's way to the server where a study states links, from the client on: `access > satellite`; null"
        " where it states none.",
        naming=Naming("way", "over {}", absent="no links stated", place=245, axes=("via",)),
    )
    knobs: str | None = column(
        "Settings of the programs that acted which the study set, as `server max_window=64, "
        "proxy-st upstream ack_threshold=10`; null if all are the adapters'.",
        naming=Naming("knobs", absent="no knobs set", place=290, listed=True),
    )
    client_iw: int | None = column(
        "Client's initial window in segments; null if the program decides.",
        unit="segments",
        naming=Naming(
            "client's IW",
            "client IW {}",
            absent="client's own IW",
            place=200,
            axes=("client.initial_window",),
        ),
    )
    server_iw: int | None = column(
        "Server's initial window in segments; null if the program decides.",
        unit="segments",
        naming=Naming(
            "server's IW",
            "server IW {}",
            absent="server's own IW",
            place=190,
            axes=("server.initial_window",),
        ),
    )
    client_kernel: str | None = column(
        "Settings of the kernel of the client's host: its profile, and what the study set beside it; the manifest's "
        "`hosts` has all values.",
        naming=Naming(
            "client's kernel", "client {}", unsaid=("tuned",), alone="client's kernel {}", place=300
        ),
    )
    server_kernel: str | None = column(
        "The same of the server's host.",
        naming=Naming(
            "server's kernel", "server {}", unsaid=("tuned",), alone="server's kernel {}", place=310
        ),
    )
    hop_kernels: str | None = column(
        "The same of the hosts between them that are not `tuned`, by their names; null if there are none.",
        naming=Naming("hops' kernels", absent="all hops tuned", place=320),
    )
    profile: str | None = column(
        "Named profile that the path was drawn from, if any.",
        naming=Naming(
            "profile",
            absent="no profile",
            place=80,
            axes=(
                "path",
                "path.profile",
            ),
        ),
    )
    path: tuple[str, ...] = column(
        "What the numbers beside do not say of the paths, aspect by aspect, as `rate: 12 and 1 Mbit/s from 0 and 200 "
        "ms`: rates, delays and losses that change, blackouts, traces, satellites, disciplines of queues, middleboxes, "
        "and all paths beside the client's.",
        default=(),
    )
    rate_mbit: float | None = given(
        "Rate of the narrowest link towards the client at the start, Mbit/s (10^6 bits); null if "
        "unlimited.",
        naming=Naming(
            "rate", absent="no rate limit", unsaid=(), alone="{}", place=90, axes=("path.rate",)
        ),
    )
    rate_up_mbit: float | None = given(
        "Rate of the narrowest link towards the server at the start, Mbit/s; null if unlimited.",
        naming=Naming(
            "rate up",
            "{} up",
            absent="no rate limit up",
            unsaid=(),
            place=100,
            axes=("path.up.rate",),
        ),
    )
    rtt_ms: float = given(
        "Round-trip propagation delay of the path, ms, without queueing and serialisation.",
        naming=Naming("RTT", "RTT {}", place=110, axes=("path.rtt",)),
    )
    drawn_rtt_ms: float | None = column(
        "The same as this run met it: drawn around it by the seed, with `variation`."
    )
    loss_pct: float | None = given(
        "Mean random loss towards the client, percent of packets; null if flows have different ones.",
        naming=Naming("loss", "loss {}", absent="different losses", place=120, axes=("path.loss",)),
    )
    loss_up_pct: float | None = given(
        "Mean random loss towards the server, percent of packets; null likewise.",
        naming=Naming(
            "loss up",
            "loss up {}",
            absent="different losses up",
            place=130,
            axes=("path.up.loss",),
        ),
    )
    loss_burst: float | None = column(
        "Mean length of a loss burst towards the client, packets; 1 if losses are independent, null likewise.",
        unit="packets",
        default=1,
        naming=Naming(
            "loss bursts", "bursts of {}", absent="different bursts", unsaid=("1",), place=140
        ),
    )
    jitter_ms: float | None = column(
        "Jitter towards the client, ms; null likewise.",
        default=0,
        naming=Naming(
            "jitter",
            "jitter {}",
            absent="different jitters",
            unsaid=("0 ms",),
            place=150,
            axes=("path.jitter",),
        ),
    )
    family: str = column(
        "Family of all addresses, the version of IP that crossed the path: `ipv4` or `ipv6`.",
        default="ipv4",
        naming=Naming("family", unsaid=("ipv4",), place=340, axes=("family",)),
    )
    offload: bool = column(
        "Whether segmentation offload stayed on, so that packets of up to 64 kB were queued and "
        "lost whole.",
        default=False,
    )
    queue_bytes: int | None = column(
        "Bottleneck queue towards the client in bytes on the wire; null if unlimited or counted "
        "in packets.",
        naming=Naming(
            "queue", "queue {}", absent="no limit in bytes", place=390, axes=("path.queue",)
        ),
    )
    upstream_rate_mbit: float | None = column(
        "Rate of the narrowest link between server and reverse proxy at the start, Mbit/s; null "
        "if unlimited or without a reverse proxy.",
        naming=Naming(
            "upstream rate", "upstream {}", absent="no limit", alone="upstream rate {}", place=350
        ),
    )
    upstream_rtt_ms: float | None = column(
        "Round-trip propagation delay between reverse proxy and server, ms; null without a "
        "reverse proxy.",
        naming=Naming("upstream RTT", "upstream RTT {}", absent="no upstream", place=360),
    )
    upstream_loss_pct: float | None = column(
        "Mean random loss from server to reverse proxy, percent of packets; null without a "
        "reverse proxy.",
        naming=Naming("upstream loss", "upstream loss {}", absent="no upstream", place=370),
    )
    workload: str = given(
        "Workload, such as `download 1 MB`.",
        naming=Naming(
            "workload",
            alone="{}",
            place=10,
            axes=(
                "workload",
                "workload.size",
                "workload.site",
            ),
        ),
    )
    device: str | None = column(
        "The device that loaded the page; null without a page.",
        naming=Naming("device", absent="no page", place=20, axes=("workload.device",)),
    )
    cache: str | None = column(
        "What the browser's cache had of the page: `cold`, `warm` or `tickets`; null without a page.",
        naming=Naming("cache", "cache {}", absent="no page", place=30, axes=("workload.cache",)),
    )
    origins: str | None = column(
        "Where the page's hosts were: `one-address` or `own-addresses`; null without a page.",
        naming=Naming("hosts", "hosts: {}", absent="no page", place=50, axes=("workload.origins",)),
    )
    elsewhere: str | None = column(
        "Servers of their own for some of the page's hosts: name, HTTP version that the browser was to speak with "
        "it, program, and the RTT that it adds; null without `origins`.",
        naming=Naming("origins", "{}", absent="no other origins", alone="{}", place=60),
    )
    page_connections: str | None = column(
        "Over how many connections the page was to be loaded: `per-host` or `one`; null without a page.",
        naming=Naming(
            "connections",
            "connections: {}",
            absent="no page",
            place=70,
            axes=("workload.connections",),
        ),
    )
    visit: int | None = column(
        "Of clients that find out the version of HTTP: which visit was measured. Then `protocol` is the newest one that "
        "the server offered, and `document_protocol` the one in use. Null of clients that got the version from Headway.",
        unit="visits",
        naming=Naming(
            "visit", "visit {}", absent="told the version", place=40, axes=("discovery.visit",)
        ),
    )
    size_bytes: int | None = column(
        "Size of each body asked for, of an upload's content, or of each bulk flow, "
        "bytes; null if flows last for a time."
    )
    requests: int = column("Number of requests, or of bulk flows.", default=1)
    rep: int = given("Repetition, from 1.")
    seed: int = given("Seed of everything random in the run.")
    setting_key: str | None = column(
        "Digest of all conditions, the seed, and the recording that a page was loaded from: runs "
        "in which it is equal are the same run, under whatever name."
    )
    clock: str = given(
        "Clock of the lab: `virtual`, `cpu` or `real`.",
        naming=Naming("clock", "{} clock", place=400, axes=("clock",)),
    )
    variation: str | None = column(
        "What the path and the start of the workload vary by between repetitions: `phases`, or "
        "`none`.",
        naming=Naming(
            "variation",
            "variation {}",
            absent="variation not told",
            unsaid=("phases", "variation not told"),
            place=410,
        ),
    )
