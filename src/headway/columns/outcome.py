"""Columns of how a run ended, and of what its client saw."""

from __future__ import annotations

from enum import StrEnum

from headway.columns.column import LOWER_HIGHER, Better, Columns, Needs, Of, column, given, metric


class Status(StrEnum):
    """How a run ended."""

    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"


class Ending(Columns):
    """How a run ended."""

    status: Status = given("`ok`, `failed` or `timeout`.")
    error: str | None = column("Why the run did not end well.")
    came_to: str | None = column(
        "Of a run whose client failed: how far it came, as the client tells, and what its path lost."
    )


class Requests(Columns):
    """Times of the requests, or of the bulk flows."""

    dns_s: float | None = metric(
        "From the start of the request to the server's address, where a client asked a resolver (`[dns]`) and tells; of a page, "
        "from the navigation to the address of the page's host. "
        "curl does not report it if it connects before it has the answer of both families.",
        "time to the address",
        needs=Needs.RESOLVER,
    )
    dns_queries: int | None = column(
        "Questions that the client sent to the resolver while the workload went on, repeated ones and lost ones among them; null "
        "without `[dns]`."
    )
    dns_retries: int | None = column(
        "Of these, those beyond the first for the same name and type; null likewise."
    )
    dns_lost: int | None = column(
        "Questions over UDP that had not come to the resolver when the run ended: lost, or still on their way; null likewise."
    )
    family_tried: str | None = column(
        "Families of addresses to which the client began connections, in this order; null without `[dual_stack]`, and of Chromium "
        "without its log."
    )
    family_won: str | None = column(
        "That over which the first response came; null without `[dual_stack]`."
    )
    fallback_s: float | None = metric(
        "From the first connection that the client began to the first one over the family that won: what it waited for the other "
        "family (RFC 8305); null as `family_tried`.",
        "wait for the other family",
        needs=Needs.DUAL_STACK,
    )
    connect_s: float | None = metric(
        "From the start of the request to a transport connection, for `h3` and `quic` to the "
        "completed handshake: the client's own, with whatever it is connected to. A PEP answers "
        "for the server, a reverse proxy for itself.",
        "time to the connection",
        of=Of.REQUESTS,
    )
    tls_s: float | None = metric(
        "From the start of the request to a completed TLS handshake; through TCP PEPs that is the"
        " server's.",
        "time to the end of the TLS handshake",
        of=Of.ENCRYPTED_REQUESTS,
    )
    ttfb_s: float | None = metric(
        "From the start of the request to the first byte of the response.", "time to the first byte"
    )
    total_s: float | None = metric(
        "From the start of the request to the last byte of the response; of the slowest, if there"
        " are several.",
        "time to the last byte",
    )
    each_s: tuple[float, ...] = column(
        "For every request, in their order, from the start of the workload to its last byte; "
        "empty if the client does not report them.",
        default=(),
    )


class Transferred(Columns):
    """What the client received."""

    migrated_s: float | None = column(
        "When the client's address changed, from the start of the workload; null if it did not."
    )
    bytes: int | None = column(
        "Bytes of response body that the client received; of uploads, of content that the server says came; null "
        "of one that the server did not take, all of it."
    )
    content_sent_bytes: float | None = metric(
        "Of uploads: content that the client had sent when the response was complete; less than all of it if the server "
        "answered early and the client then stopped. headway-client reports it, and curl over TCP.",
        "content sent",
        of=Of.UPLOADS,
        words=LOWER_HIGHER,
    )
    goodput_mbit: float | None = metric(
        "`bytes` over `total_s`, Mbit/s.",
        "goodput",
        better=Better.MORE,
        needs=Needs.CONTENT_TAKEN,
    )
    received_bytes: tuple[int, ...] | None = column(
        "Bytes that the receiving programs of bulk flows got, of all flows together, in each 100 "
        "ms from the start of the first flow to the last byte; null for other workloads."
    )


OF_THE_MACHINE = ("wall_s", "processor_s")
"""Columns that differ from one carrying out of a run to the next: how busy and how fast its machine is."""


class Spent(Columns):
    """What the run took."""

    charged_calls: int | None = column(
        "System calls that took virtual time, because programs made more than 100,000 without waiting: a busy wait "
        "([determinism](busy-waits.md#busy-waits)). 0 in other clocks; null if the lab did not get that far."
    )
    forced_ticks: int | None = column(
        "How often a program was interrupted in virtual time that computed for seconds of the host's processor "
        "while the lab's clock stood still. If ever, the run may not repeat exactly."
    )
    virtual_s: float | None = column(
        "From the start of the workload to its end on the lab's clock."
    )
    wall_s: float | None = column(
        "Wall time of the whole run: boot, network, programs, power-off. 0 of a run that another one was carried out for."
    )
    processor_s: float | None = column(
        "Processor time that the run took of its machine: its lab, and Headway to read what the lab left; of loads "
        "that share a lab, an equal share of it. 0 likewise; of one of several flows, all that the run took but making "
        "records."
    )
    same_as: str | None = column(
        "The run of another experiment that was carried out for this one, too: it has the same setting and the same "
        "seed, so the same result. Null for all that were carried out themselves."
    )
