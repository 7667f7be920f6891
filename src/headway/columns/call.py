"""Columns of calls; whoever receives the media measures them."""

from __future__ import annotations

from headway.columns.column import LOWER_HIGHER, Columns, Of, column, metric


class CallMetrics(Columns):
    """How a call's datagrams arrived; of several calls, of each column the largest value; null without one."""

    datagrams: int | None = column(
        "Of calls, as the six that follow; of several in a run, of each column the largest value: datagrams that were sent."
    )
    datagrams_lost_pct: float | None = metric(
        "Of these, those that never came.", "lost datagrams", of=Of.CALLS, words=LOWER_HIGHER
    )
    datagrams_reordered: int | None = column("Datagrams that came after one sent later (RFC 4737).")
    delay_p50_ms: float | None = metric(
        "One-way delay of the datagrams that came (RFC 7679), from sending to receiving: half of them took no longer.",
        "median one-way delay",
        of=Of.CALLS,
        words=LOWER_HIGHER,
    )
    delay_p95_ms: float | None = metric(
        "The same for 95 %.", "one-way delay, 95 %", of=Of.CALLS, words=LOWER_HIGHER
    )
    delay_p99_ms: float | None = metric(
        "The same for 99 %.", "one-way delay, 99 %", of=Of.CALLS, words=LOWER_HIGHER
    )
    jitter_at_end_ms: float | None = metric(
        "Interarrival jitter when the last came (RFC 3550, section 6.4.1).",
        "interarrival jitter",
        of=Of.CALLS,
        words=LOWER_HIGHER,
    )
