"""Columns of what hosts' processors did."""

from __future__ import annotations

from headway.columns.column import LOWER_HIGHER, Columns, Needs, column, metric


class ProcessorUse(Columns):
    """How busy the processors of the ends were; null of an end without one (`kernel.processor`)."""

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
    client_work_s: tuple[float, ...] = column(
        "What the client's processor did meanwhile, seconds of all cores together: system calls, packets sent, packets received, "
        "computing between calls. Empty without a processor.",
        default=(),
    )
    server_work_s: tuple[float, ...] = column("The same of the server's.", default=())
    processor_drops: int | None = column(
        "Received packets that the ends dropped because their processors had more of them to work on than "
        "`net.core.netdev_max_backlog`; null if neither has a processor."
    )
