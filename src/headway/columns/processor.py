"""Columns of what hosts' processors did."""

from __future__ import annotations

from headway.columns.column import LOWER_HIGHER, Columns, Needs, column, metric


class ProcessorUse(Columns):
    """How busy the processors of hosts were; null of a host without one (`kernel.processor`)."""

    client_busy_share: float | None = metric(
        "Share of the time from the start of the request to the last byte in which the client's processor was busy; of several "
        "cores the one that was busy for longest.",
        "load of the client's processor",
        words=LOWER_HIGHER,
        needs=Needs.PROCESSOR,
    )
    server_busy_share: float | None = metric(
        "The same of the server's.",
        "load of the server's processor",
        words=LOWER_HIGHER,
        needs=Needs.PROCESSOR,
    )
    proxy_busy_share: float | None = metric(
        "The same of the hosts between client and server, such as a reverse proxy's or a hop's; of several the busiest.",
        "load of the proxy's processor",
        words=LOWER_HIGHER,
        needs=Needs.PROXY_PROCESSOR,
    )
    client_work_s: tuple[float, ...] = column(
        "What the client's processor did meanwhile, seconds of all cores together: system calls, packets sent, packets received, "
        "computing between calls. Empty without a processor.",
        default=(),
    )
    server_work_s: tuple[float, ...] = column("The same of the server's.", default=())
    proxy_work_s: tuple[float, ...] = column(
        "The same of all hosts between client and server together.", default=()
    )
    processor_drops: int | None = column(
        "Received packets that hosts dropped because their processors had more of them to work on than "
        "`net.core.netdev_max_backlog`; null if none has a processor."
    )
