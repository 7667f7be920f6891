"""Columns of queues that are two: DualPI2's for L4S, and for all other packets (RFC 9332)."""

from __future__ import annotations

from typing import Any

from headway.columns.column import LOWER_HIGHER, Columns, Needs, column, metric

_TIME = "the time that packets towards the client were in the"
_OF_DUALPI2 = "of links with `dualpi2`, from when these were made to the end of the workload"


def _delay(what: str, label: str, heading: str) -> Any:
    return metric(what, label, heading, words=LOWER_HIGHER, needs=Needs.DUAL_QUEUE)


class DualQueue(Columns):
    """What was in each queue of DualPI2, and for how long."""

    l4s_packets_down: int | None = column(
        "Packets towards the client that left the low-latency queue: those with ECT(1), or marked CE before they came (RFC 9331, "
        f"section 5.1), {_OF_DUALPI2}. Null without such a link."
    )
    l4s_packets_up: int | None = column("The same towards the server.")
    step_marked_down: int | None = column(
        "Of `marked_down`, marks because a packet had been in the low-latency queue for longer than DualPI2's threshold, 1 ms, and "
        "not because of the classic queue's length. DualPI2 counts a packet twice that it marks for both reasons. Null likewise."
    )
    step_marked_up: int | None = column("The same towards the server.")
    classic_packets_down: int | None = column(
        "Packets towards the client that left the classic queue; null likewise."
    )
    classic_packets_up: int | None = column("The same towards the server.")
    l4s_delay_ms: float | None = _delay(
        f"Mean of {_TIME} low-latency queue. It is of packets, not of time as `queue_delay_ms`, and counts them all, those "
        "of slow start among them. The lab's kernel counts in classes of an eighth of an octave, so a value is right "
        "within 6 %. Of several links, their packets together.",
        "delay in the low-latency queue",
        "L delay",
    )
    l4s_delay_p99_ms: float | None = _delay(
        f"99th percentile of {_TIME} low-latency queue: never less than it was, and at most an eighth more.",
        "delay in the low-latency queue, 99th percentile",
        "L delay, p99",
    )
    classic_delay_ms: float | None = _delay(
        f"Mean of {_TIME} classic queue, likewise.", "delay in the classic queue", "C delay"
    )
    classic_delay_p99_ms: float | None = _delay(
        f"99th percentile of {_TIME} classic queue, likewise.",
        "delay in the classic queue, 99th percentile",
        "C delay, p99",
    )
