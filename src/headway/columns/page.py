"""Columns of loading a page in a browser; `headway.pages.metrics` measures them."""

from __future__ import annotations

from headway.columns.column import LOWER_HIGHER, Columns, Needs, Of, column, metric


class PageMetrics(Columns):
    """Metrics of a page load."""

    connect_start_s: float | None = column(
        "Of pages, like all that follow up to `largest_byte_share`, whose times begin with the "
        "navigation: the connection for the page is begun."
    )
    response_start_s: float | None = metric(
        "First byte of the page's own response.", "response start", of=Of.PAGES
    )
    document_protocol: str | None = column(
        "By which version the page's own response came: `h1`, `h2` or `h3`; of a client that found out the version, its first "
        "response."
    )
    document_tried: str | None = column(
        "How the browser knew the connections that it tried for it: `main` over TCP, over QUIC `alternative` by Alt-Svc and "
        "`dns_alpn_h3` by an HTTPS record; null without Chromium's log."
    )
    quic_tries: int | None = column(
        "Requests for which the client began a connection of QUIC beside one of TCP; null likewise."
    )
    quic_tries_lost: int | None = column("Of these, those that TCP carried; null likewise.")
    quic_wait_s: float | None = column(
        "Of the page's own response, or the first one of a client that found out the version, if TCP carried it: how long TCP had "
        "waited for QUIC before it began; 0 if QUIC carried it, or was not tried; null likewise."
    )
    dns_hosts: int | None = column(
        "Hosts for whose addresses a request waited; null without `[dns]`."
    )
    dns_wait_s: float | None = metric(
        "For these hosts, how long a request waited for the address at the most, all added up.",
        "waits for addresses",
        of=Of.PAGES,
        needs=Needs.RESOLVER,
    )
    fcp_s: float | None = metric(
        "First contentful paint.", "first contentful paint", "FCP", of=Of.PAGES
    )
    lcp_s: float | None = metric(
        "Largest contentful paint.", "largest contentful paint", "LCP", of=Of.PAGES
    )
    dcl_s: float | None = metric(
        "The DOMContentLoaded event is fired.", "DOMContentLoaded", "DCL", of=Of.PAGES
    )
    onload_s: float | None = metric("The load event is fired.", "onLoad", of=Of.PAGES)
    plt_s: float | None = metric(
        "Page load time: the last resource that was requested before the load event has come.",
        "page load time",
        "PLT",
        of=Of.PAGES,
    )
    speed_index_s: float | None = metric(
        "Speed Index: area above the curve of visual progress.", "Speed Index", of=Of.PAINTED_PAGES
    )
    fvc_s: float | None = metric(
        "First visual change: the first frame with something of the last picture.",
        "first visual change",
        "FVC",
        of=Of.PAINTED_PAGES,
    )
    lvc_s: float | None = metric(
        "Last visual change: the last frame that differs from the one before.",
        "last visual change",
        "LVC",
        of=Of.PAINTED_PAGES,
    )
    vc85_s: float | None = metric(
        "The page is visually complete to 85 %, and stays so.",
        "85 % visually complete",
        "VC85",
        of=Of.PAINTED_PAGES,
    )
    vc95_s: float | None = metric(
        "The same to 95 %.", "95 % visually complete", "VC95", of=Of.PAINTED_PAGES
    )
    vc99_s: float | None = metric(
        "The same to 99 %.", "99 % visually complete", "VC99", of=Of.PAINTED_PAGES
    )
    byte_index_s: float | None = metric(
        "Byte Index: area above the curve of the share of bytes received.",
        "Byte Index",
        of=Of.PAGES,
    )
    tbt_ms: float | None = metric(
        "Total blocking time: of each task of the main thread after the first contentful paint, what is beyond 50 ms.",
        "total blocking time",
        "TBT",
        of=Of.PAGES,
        words=LOWER_HIGHER,
    )
    long_tasks: int | None = column(
        "Tasks of 50 ms or more of the main thread, until the first interaction."
    )
    longest_task_ms: float | None = metric(
        "The longest of them; 0 without any.",
        "longest task",
        of=Of.PAGES,
        words=LOWER_HIGHER,
    )
    interactive_s: float | None = metric(
        "First contentful paint, DOMContentLoaded and all long tasks are over: the page answers at once from then on.",
        "time to interactive",
        "TTI",
        of=Of.PAGES,
    )
    cls: float | None = metric(
        "Cumulative layout shift: the largest sum of shifts in a window of up to 5 s, without a second between two.",
        "cumulative layout shift",
        "CLS",
        of=Of.PAGES,
        words=LOWER_HIGHER,
        unit="1",
    )
    inp_ms: float | None = metric(
        "Interaction to next paint: from a click or a key to the next paint, the longest; of 50 interactions and more, "
        "one of every 50 is left out.",
        "interaction to next paint",
        "INP",
        of=Of.PAGES,
        words=LOWER_HIGHER,
        needs=Needs.INTERACTIONS,
    )
    inp_delay_ms: float | None = column("Of this interaction, until the page's handlers began.")
    inp_processing_ms: float | None = column("The same, in these handlers.")
    inp_presentation_ms: float | None = column("The same, from their end to the next paint.")
    lcp_load_delay_s: float | None = metric(
        "Of the largest contentful paint, from the first byte of the page to the request of what is painted; 0 of text. "
        "With `response_start_s` and the two that follow, it is `lcp_s`.",
        "LCP's load delay",
        of=Of.PAGES,
    )
    lcp_load_time_s: float | None = metric(
        "The same: from this request to the last byte of it.", "LCP's load time", of=Of.PAGES
    )
    lcp_render_delay_s: float | None = metric(
        "The same: from the last byte to the paint.", "LCP's render delay", of=Of.PAGES
    )
    hol_bytes: float | None = metric(
        "With Chromium's net-log, over h3: bytes that came behind a gap of their own stream (head-of-line "
        "blocking as of Sander et al. 2022), of all streams together.",
        "bytes held back",
        "HOL bytes",
        of=Of.PAGES,
        words=LOWER_HIGHER,
        needs=Needs.QUIC,
    )
    hol_s: float | None = metric(
        "The same: time in which bytes of a stream waited behind a gap.",
        "time with bytes held back",
        "HOL time",
        of=Of.PAGES,
        needs=Needs.QUIC,
    )
    hol_connection_bytes: float | None = column(
        "The same: bytes that came while any stream had a gap, and did not fill one, which a connection with one order "
        "for all streams would have held back."
    )
    hol_gap_packets: int | None = column(
        "The same: the most packet numbers in a row that never came. Servers leave single numbers out on "
        "purpose, so 1 is no sign of a loss."
    )
    blocked_s: float | None = column(
        "Everything that blocked rendering, as the browser says, had come: the page, scripts, style "
        "sheets."
    )
    critical_processing_s: float | None = column(
        "Of the critical path to the load event, the time in which the browser neither waited for a "
        "request nor for a response; with the four that follow, it is `onload_s`."
    )
    critical_held_s: float | None = column(
        "The same: requests that the browser held back, for their priority or for a connection."
    )
    critical_connect_s: float | None = column("The same: names and connections.")
    critical_wait_s: float | None = column("The same: from a request to its first byte.")
    critical_receive_s: float | None = column("The same: from a first byte to the last.")
    objects: int | None = column(
        "Responses that a server sent before the load event, with those that Early Hints brought."
    )
    connections: int | None = column(
        "Connections that carried them; a host whose objects all came by Early Hints counts as one."
    )
    domains: int | None = column("Host names that they came from.")
    page_bytes: int | None = column("Bytes of their content, as sent.")
    image_bytes: int | None = column("Those of images.")
    blocking_objects: int | None = column("Those that blocked rendering, as the browser says.")
    blocking_bytes: int | None = column("Bytes of their content, as sent.")
    blocking_first_share: float | None = column(
        "Of the bytes of content that had come by `blocked_s`, the share that blocked rendering, the page itself "
        "included: 1 if everything else waited for it."
    )
    seen_images: int | None = column(
        "Images, and backgrounds, that the window shows in the end, as far as they came from the network."
    )
    seen_image_bytes: int | None = column("Bytes of their content, as sent.")
    ordered_bytes: float | None = column(
        "Bytes of content before what is seen, on average over the coloured pixels of the last frame, by sizes alone, "
        "if responses come one after the other: by Chromium's classes, and in them in the order of requests."
    )
    shared_bytes: float | None = column(
        "The same if all responses share the connection alike, whatever their order."
    )
    largest_share: float | None = column(
        "Share of the objects on the connection with the most objects, 0 to 1, of those whose connection the browser tells."
    )
    largest_byte_share: float | None = column(
        "Share of the bytes on the connection with the most bytes, likewise."
    )
    h1_objects: int | None = column("Objects that came over HTTP/1.1.")
    h2_objects: int | None = column("Over HTTP/2.")
    h3_objects: int | None = column("Over HTTP/3.")
    h1_bytes: int | None = column("Bytes of the content of objects that came over HTTP/1.1.")
    h2_bytes: int | None = column("Over HTTP/2.")
    h3_bytes: int | None = column("Over HTTP/3.")
    third_party_objects: int | None = column(
        "Objects of hosts that `origins` names third parties; null without `origins`."
    )
    third_party_bytes: int | None = column("Bytes of their content.")
    visual_problem: str | None = column(
        "Why there are no visual metrics although frames were kept."
    )
