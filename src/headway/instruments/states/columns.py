"""Columns of the states in which the sender in front of the bottleneck was, and of its ways between them."""

from __future__ import annotations

from typing import Any

from headway.columns.column import LOWER_HIGHER, Columns, column, columns_of, metric
from headway.columns.limits import SenderOverTime


def _time(state: str, meaning: str) -> Any:
    return metric(meaning, f"time in {state}", words=LOWER_HIGHER)


class SenderStates(Columns):
    """The same sender's states, of which `headway states` tells more; null if they are not known.

    Of several connections times are their mean. Of TCP, states are as sampled: short visits are missing.
    """

    state_init_s: float | None = _time(
        "Init", "Time, while the transfer ran, in which the sender was setting up its connection."
    )
    state_slow_start_s: float | None = _time("SlowStart", "Time in slow start.")
    state_congestion_avoidance_s: float | None = _time(
        "CongestionAvoidance", "Time in congestion avoidance."
    )
    state_congestion_avoidance_maxed_s: float | None = _time(
        "CongestionAvoidanceMaxed", "Time with the largest window that it may have."
    )
    state_application_limited_s: float | None = _time(
        "ApplicationLimited", "Time with less to send, or allowed, than the window lets go."
    )
    state_recovery_s: float | None = _time("Recovery", "Time in which it made up for losses.")
    state_pto_s: float | None = _time("Pto", "QUIC: time after a probe time-out.")
    state_tail_loss_probe_s: float | None = _time(
        "TailLossProbe",
        "QUIC: time in which it asked for an acknowledgment of the last packets.",
    )
    state_startup_s: float | None = _time("Startup", "BBR: time in Startup.")
    state_drain_s: float | None = _time("Drain", "BBR: time in Drain.")
    state_probe_bw_s: float | None = _time("ProbeBw", "BBR: time in ProbeBW.")
    state_probe_rtt_s: float | None = _time("ProbeRtt", "BBR: time in ProbeRTT.")
    state_disorder_s: float | None = _time(
        "Disorder", "TCP: time with selective acknowledgments, before anything counted as lost."
    )
    state_cwr_s: float | None = _time(
        "Cwr", "TCP: time in which it reduced its window without a loss."
    )
    state_loss_s: float | None = _time("Loss", "TCP: time after a retransmission time-out.")
    state_steps: tuple[str, ...] | None = column(
        "Its changes of state, `SlowStart > Recovery` for instance, each once, of all connections."
    )
    state_step_counts: tuple[int, ...] | None = column("How often each of them happened.")


def _state(column_name: str) -> str:
    words = column_name.removeprefix("state_").removesuffix("_s").split("_")
    return "".join(word.capitalize() for word in words)


TIME_COLUMNS = {_state(name): name for name in columns_of(SenderStates) if name.endswith("_s")}
"""The column with the time in each state. A state that only some program has is not there."""

FAMILIES = {SenderStates: SenderOverTime}
"""In the record behind the times of the same sender's transfer."""
