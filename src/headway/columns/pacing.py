"""Columns of how a sender spread its packets over time."""

from __future__ import annotations

from typing import Any

from headway.columns.column import (
    HIGHER_LOWER,
    LOWER_HIGHER,
    Better,
    Columns,
    Needs,
    column,
    metric,
)

LONGEST_BURST = 64
"""Packets: bursts of so many and more are counted together."""
_ALIKE = "The same of the packets of all its connections together, as they came to the narrowest link, before its queue."


def _less(meaning: str, label: str) -> Any:
    return metric(meaning, label, words=LOWER_HIGHER, needs=Needs.PACING)


def _more(meaning: str, label: str) -> Any:
    return metric(meaning, label, better=Better.MORE, words=HIGHER_LOWER, needs=Needs.PACING)


class Pacing(Columns):
    """When packets left the sender in front of the narrowest link, and came to it, with `capture.pacing`.

    Null without it, of uploads, and if no rate towards the client is constant.
    """

    first_burst_packets: float | None = _less(
        "Longest burst (as of `sender_burst_packets`) of the sender's first flight: of what left it within the path's "
        "RTT of its first packet of the response, in answer to no acknowledgment of it. The columns below are without "
        "the first flight.",
        "longest burst of the first flight",
    )
    sender_gap_p50_ms: float | None = column(
        "Median time between a packet with data and the one before it on its connection, as they left the sender in "
        "front of the narrowest link. Not counted are packets without data, the handshake's, and the first flight's."
    )
    sender_gap_p95_ms: float | None = column("95th percentile of the same.")
    sender_burst_packets: float | None = _less(
        "Length of the burst in which a packet left its sender, the mean over packets: 1 if each left alone. "
        "In a burst, each packet follows the one before it on its connection within a third of what a full "
        "packet takes on the narrowest link (as Kempf et al. 2025, QUIC Steps).",
        "length of the sender's bursts",
    )
    sender_longest_burst_packets: float | None = _less(
        "The longest of these bursts.", "longest burst of the sender"
    )
    sender_bursts: tuple[int, ...] | None = column(
        f"How many packets left in bursts of 1, 2, 3 ... {LONGEST_BURST - 1} packets; the {LONGEST_BURST}th number is of "
        "all longer ones."
    )
    sender_even_share: float | None = _more(
        "Share of packets that left evenly: after the one before them by what that one takes, give or take 10 %, at the "
        "rate that their connection had in the round trip around (half of it before, half after).",
        "share of packets that left evenly",
    )
    sender_rate_share: float | None = _more(
        "Share of packets that left at the narrowest link's rate: of bursts that, with the time until the next one, had "
        "that rate, give or take 10 %.",
        "share of packets at the link's rate",
    )
    bottleneck_gap_p50_ms: float | None = column(_ALIKE)
    bottleneck_gap_p95_ms: float | None = column("95th percentile of the same.")
    bottleneck_burst_packets: float | None = _less(
        f"`sender_burst_packets`: {_ALIKE[0].lower()}{_ALIKE[1:]}",
        "length of bursts before the bottleneck",
    )
    bottleneck_longest_burst_packets: float | None = _less(
        "The longest of these bursts.", "longest burst before the bottleneck"
    )
    bottleneck_bursts: tuple[int, ...] | None = column("As `sender_bursts`.")
    bottleneck_even_share: float | None = _more(
        "As `sender_even_share`.", "share of packets that came evenly to the bottleneck"
    )
    bottleneck_rate_share: float | None = _more(
        "As `sender_rate_share`.", "share of packets that came at the bottleneck's rate"
    )
