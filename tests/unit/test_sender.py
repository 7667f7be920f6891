from __future__ import annotations

import pytest

from headway.diagnosis.qlog_trace import QuicPoint, QuicTrace
from headway.diagnosis.sender import Phase, QuicSender, Sender, tcp_sender
from tests.unit.made_samples import tcp


@pytest.mark.parametrize(
    ("fields", "phase"),
    [
        ({"cwnd": 10, "ssthresh": 0x7FFFFFFF}, Phase.SLOW_START),
        ({"cwnd": 10, "ssthresh": 10}, Phase.AVOIDANCE),
        ({"ca_state": 1}, Phase.AVOIDANCE),  # Disorder: nothing is known to be lost
        ({"ca_state": 2}, Phase.RECOVERY),
        ({"ca_state": 3, "ssthresh": 99}, Phase.RECOVERY),
        ({"ca_state": 4}, Phase.RECOVERY),
    ],
)
def test_the_phase_of_tcp(fields: dict[str, int], phase: Phase) -> None:
    assert tcp_sender(tcp(**fields)).phase is phase


def test_tcp_counts_in_segments_and_a_sender_in_bytes() -> None:
    sender = tcp_sender(tcp(unacked=9, sacked=3, lost=2, retrans=1, cwnd=8, ssthresh=5))
    assert sender.in_flight_bytes == (9 - 3 - 2 + 1) * 1448
    assert (sender.cwnd_bytes, sender.ssthresh_bytes) == (8 * 1448, 5 * 1448)
    assert tcp_sender(tcp(ssthresh=0x7FFFFFFF)).ssthresh_bytes is None
    assert tcp_sender(tcp(rtt_us=0)).srtt_s is None


@pytest.mark.parametrize(
    ("fields", "full"),
    [
        ({"notsent_bytes": 1, "unacked": 2}, True),
        ({"notsent_bytes": 0, "unacked": 10}, True),
        ({"notsent_bytes": 0, "unacked": 9}, False),
    ],
)
def test_a_window_is_full_if_data_waits_or_none_fits(fields: dict[str, int], full: bool) -> None:
    assert tcp_sender(tcp(**fields)).full is full


def quic(*points: QuicPoint) -> QuicSender:
    return QuicSender(QuicTrace("server", "server", None, 0.0, points), begins_s=1.0)


def at(sender: QuicSender, time_s: float) -> Sender:
    found = sender.at(time_s, 5, 0.0)
    assert found is not None
    return found


def test_quic_is_known_from_its_first_metrics_on() -> None:
    sender = quic(QuicPoint(0.0, state="slow_start"), QuicPoint(0.1, 12000, 1200))
    assert sender.at(1.05, 0, 0.0) is None
    assert at(sender, 1.2).cwnd_bytes == 12000
    assert at(sender, 1.2).sent_packets == 5


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        ("slow_start", Phase.SLOW_START),
        ("congestion_avoidance", Phase.AVOIDANCE),
        ("recovery", Phase.RECOVERY),
        ("application_limited", Phase.AVOIDANCE),  # and so the threshold decides
    ],
)
def test_quic_says_its_phase(state: str, phase: Phase) -> None:
    sender = quic(QuicPoint(0.0, 12000, 12000, 9000, 100, state))
    assert at(sender, 1.0).phase is phase


def test_quic_recovers_for_a_round_trip_after_a_loss() -> None:
    """A program that does not tell its phase (RFC 9002, section 7.3.2)."""
    points = [
        QuicPoint(step / 20, 12000, 12000, 9000, 100, lost=int(step >= 10)) for step in range(20)
    ]
    sender = quic(*points)
    phases = [at(sender, 1 + step / 20 + 0.01).phase for step in range(20)]
    assert phases == [Phase.AVOIDANCE] * 10 + [Phase.RECOVERY] * 2 + [Phase.AVOIDANCE] * 8


def test_quic_without_a_threshold_is_in_slow_start_while_its_window_grows() -> None:
    """BBR has none, and nobody has one before the first loss."""
    windows = [12000, 24000, 48000, 96000, 97000, 98000, 99000]
    sender = quic(*(QuicPoint(i / 8, cwnd, cwnd, None, 100) for i, cwnd in enumerate(windows)))
    phases = [at(sender, 1.01 + step / 8).phase for step in range(7)]
    assert phases == [Phase.SLOW_START] * 4 + [Phase.AVOIDANCE] * 3


def test_a_paced_window_that_has_just_doubled_is_still_filled() -> None:
    growing = quic(QuicPoint(0.0, 48000, 25000, None, 100))
    steady = quic(QuicPoint(0.0, 48000, 25000, 48000, 100))
    assert at(growing, 1.0).full
    assert not at(steady, 1.0).full


def test_flow_control_is_counted_while_it_blocks_and_the_window_does_not() -> None:
    sender = quic(
        QuicPoint(0.0, 48000, 20000, 48000, 100, blocked=True),
        QuicPoint(0.3, 48000, 20000, 48000, 100),
        QuicPoint(0.5, 48000, 48000, 48000, 100, blocked=True),
    )
    spent = [at(sender, time_s).rwnd_limited_s for time_s in (1.0, 1.2, 1.4, 1.9)]
    assert spent == pytest.approx([0, 0.2, 0.3, 0.3])
