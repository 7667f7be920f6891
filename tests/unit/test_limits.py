from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from headway.columns import TransferLimits
from headway.contract.samples import TcpInfo
from headway.diagnosis.limits import limits_of
from headway.diagnosis.segment import observe
from headway.diagnosis.transfer import TimeSpan, Transfer
from tests.unit.made_samples import SEGMENT, Row, counters, rows_of, tcp, transfer, write_samples

Find = Callable[..., TransferLimits]
CAUSES = [name for name in TransferLimits.model_fields if name.endswith("_s")]


@pytest.fixture
def limits(tmp_path: Path) -> Find:
    """The limits of samples made by hand."""

    def find(rows: list[Row], of: Transfer | None = None) -> TransferLimits:
        write_samples(tmp_path, rows)
        return limits_of(observe(tmp_path, of or transfer()), of or transfer())

    return find


def seconds(found: TransferLimits) -> dict[str, float]:
    """The causes that took time."""
    return {name: round(getattr(found, name), 6) for name in CAUSES if getattr(found, name)}


STEADY = range(0, 220, 20)
"""Packets sent until each tenth of a second: 2.4 of 10 Mbit/s."""


def with_tcp(*states: TcpInfo) -> list[Row]:
    """Eleven samples with these states of one connection, the last one repeated."""
    shown = [states[min(index, len(states) - 1)] for index in range(11)]
    sending = [info._replace(data_segs_out=20 * index) for index, info in enumerate(shown)]
    return rows_of(list(STEADY), [[info] for info in sending])


def test_a_full_link_is_the_limit(limits: Find) -> None:
    found = limits(rows_of([83 * index for index in range(11)]))
    assert seconds(found) == {"handshake_s": 0.25, "path_s": 0.8}
    assert (found.limited_by, found.limited_section) == ("path", "server > client")


def test_time_without_a_path_is_an_outage_whatever_a_sender_does(limits: Find) -> None:
    """From 0.3 to 0.5 s at the sender, which comes to the client 0.05 s later."""
    down = replace(SEGMENT, outages=(TimeSpan(0.33, 0.58), TimeSpan(7.0, 8.0)))
    found = limits(rows_of([83 * index for index in range(11)]), transfer(segment=down))
    assert seconds(found) == {"handshake_s": 0.25, "outage_s": 0.25, "path_s": 0.55}


def test_a_sender_with_nothing_to_send_waits_for_no_path(limits: Find) -> None:
    down = replace(SEGMENT, outages=(TimeSpan(0.0, 8.0),))
    idle = with_tcp(tcp(notsent_bytes=0, unacked=3))
    found = limits(idle, transfer(segment=down))
    assert seconds(found) == {"handshake_s": 0.25, "application_s": 0.8}


def test_a_standing_queue_is_the_paths_limit_at_any_rate(limits: Find) -> None:
    rows = rows_of(list(STEADY), backlog=50_000)
    of = transfer(segment=replace(SEGMENT, rate_mbit=None))
    assert limits(rows, of).limited_by == "path"
    assert limits(rows, of).queue_peak_bytes == 50_000


def test_a_queue_seen_once_is_a_burst(limits: Find) -> None:
    rows = rows_of(list(STEADY))
    at_s, _, loss, found = rows[5]
    rows[5] = (at_s, counters(100, backlog=9000), loss, found)
    assert limits(rows).path_s == 0


def test_all_seconds_sum_up_to_the_transfer(limits: Find) -> None:
    found = limits(with_tcp(tcp(ssthresh=99), tcp(), tcp(ca_state=3), tcp(), tcp(notsent_bytes=0)))
    assert sum(seconds(found).values()) == pytest.approx(1.05)


def test_a_response_is_judged_by_what_was_sent_a_delay_earlier(limits: Find) -> None:
    """Slow start ends at 0.4 s at the server, which shows at 0.45 s at the client."""
    found = limits(with_tcp(*[tcp(ssthresh=99)] * 5, tcp()))
    assert seconds(found) == {"handshake_s": 0.25, "growth_s": 0.2, "cwnd_s": 0.6}


def test_recovery_is_told_by_the_congestion_state(limits: Find) -> None:
    found = limits(with_tcp(tcp(), tcp(), tcp(), tcp(ca_state=3, ssthresh=5)))
    assert seconds(found) == {"handshake_s": 0.25, "recovery_s": 0.8}
    assert found.limited_by == "recovery"


def test_a_sender_without_data_waits_for_its_program(limits: Find) -> None:
    found = limits(with_tcp(tcp(notsent_bytes=0, unacked=3)))
    assert found.limited_by == "application"


def test_a_full_window_without_unsent_data_is_still_the_windows(limits: Find) -> None:
    found = limits(with_tcp(tcp(notsent_bytes=0)))
    assert found.limited_by == "congestion window"


def test_the_kernels_own_account_of_windows_is_taken_exactly(limits: Find) -> None:
    """80 ms of every 100 ms for the receiver, 10 ms for the buffer, the rest by its state."""
    states = [
        tcp(rwnd_limited_us=80_000 * index, sndbuf_limited_us=10_000 * index) for index in range(11)
    ]
    assert seconds(limits(with_tcp(*states))) == {
        "handshake_s": 0.25,
        "rwnd_limited_s": 0.64,
        "sndbuf_limited_s": 0.08,
        "cwnd_s": 0.08,
    }


def silence(*, lost_after: int) -> list[Row]:
    """A sender that is silent between 0.3 and 0.8 s, and whether it repairs a loss then."""
    packets = [0, 10, 20, 30, 30, 30, 30, 30, 31, 40, 50]
    lost = [0] * 8 + [lost_after] * 3
    silent_ms = [0, 0, 0, 0, 100, 200, 300, 400, 0, 0, 0]
    states = [
        [tcp(data_segs_out=packets[i], total_retrans=lost[i], last_sent_ms=silent_ms[i])]
        for i in range(11)
    ]
    return rows_of(packets, states)


def test_silence_that_ends_in_a_retransmission_is_waiting_for_the_timeout(limits: Find) -> None:
    """It sent last at 0.3 s and again at 0.8 s; the first round trip of that is the window's."""
    found = limits(silence(lost_after=1))
    assert found.idle_recovery_s == pytest.approx(0.4)
    assert found.cwnd_s == pytest.approx(0.4)
    assert found.retransmits == 1


def test_silence_between_packets_of_the_same_interval_is_waiting_too(limits: Find) -> None:
    """Of 500 ms from 0.34 to 0.84 s, beyond a round trip of 100 ms: whatever else was sent in these intervals.

    Its end is known by the time-out, which is 500 ms after the last packet.
    """
    packets = [0, 10, 20, 30, 38, 38, 38, 38, 38, 50, 60]
    silent_ms = [0, 0, 0, 0, 60, 160, 260, 360, 460, 0, 0]
    timeouts = [0] * 9 + [1] * 2
    states = [
        [
            tcp(
                data_segs_out=packets[i],
                total_retrans=timeouts[i],
                total_rto=timeouts[i],
                last_sent_ms=silent_ms[i],
                rto_us=500_000,
            )
        ]
        for i in range(11)
    ]
    assert limits(rows_of(packets, states)).idle_recovery_s == pytest.approx(0.4)


def test_silence_that_ends_in_new_data_is_no_recovery(limits: Find) -> None:
    assert limits(silence(lost_after=0)).idle_recovery_s == 0


def test_connections_that_send_share_the_time(limits: Find) -> None:
    states = [
        [
            tcp(data_segs_out=10 * index, total_retrans=3),
            tcp(peer_port=40001, data_segs_out=10 * index, ca_state=3, total_retrans=4),
            tcp(peer_port=40002),
        ]
        for index in range(11)
    ]
    found = limits(rows_of(list(STEADY), states))
    assert seconds(found) == {"handshake_s": 0.25, "recovery_s": 0.4, "cwnd_s": 0.4}
    assert found.retransmits == 7


def test_a_connection_that_is_gone_keeps_its_retransmissions(limits: Find) -> None:
    states = [[tcp(total_retrans=5, total_rto=2)] if index < 4 else [] for index in range(11)]
    found = limits(rows_of(list(STEADY), states))
    assert (found.retransmits, found.timeouts) == (5, 2)


def test_without_the_senders_word_a_constant_rate_is_a_plateau(limits: Find) -> None:
    found = limits(rows_of(list(range(0, 820, 20))), transfer(end_s=4.05))
    assert found.limits_source == "counters"
    assert found.limited_by == "plateau"
    assert found.plateau_s > 3
    assert found.retransmits is None


def test_without_the_senders_word_a_rate_that_doubles_is_growth(limits: Find) -> None:
    found = limits(rows_of([2**index // 8 for index in range(11)]), transfer(end_s=0.85))
    assert seconds(found) == {"handshake_s": 0.25, "growth_s": 0.6}


def test_without_the_senders_word_a_drop_is_noticed_a_round_trip_later(limits: Find) -> None:
    """Dropped at 0.4 s, noticed at 0.5, repaired at 0.6; the window is smaller from then on."""
    drops = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    found = limits(rows_of(list(STEADY), path_drops=drops))
    assert found.path_drops == 1
    assert found.recovery_s == pytest.approx(0.2, abs=0.11)
    assert found.cwnd_s == pytest.approx(0.8 - found.recovery_s - found.growth_s - found.plateau_s)
    assert found.cwnd_s > found.recovery_s


def test_without_the_senders_word_silence_after_a_drop_is_idle(limits: Find) -> None:
    packets = [0, 10, 20, 30, 30, 30, 30, 30, 30, 31, 40]
    found = limits(rows_of(packets, path_drops=[0, 0, 0] + [1] * 8))
    assert found.idle_recovery_s == pytest.approx(0.4)


def test_a_path_without_a_rate_has_no_queue(limits: Find) -> None:
    rows = [(at_s, None, loss, found) for at_s, _, loss, found in with_tcp(tcp())]
    found = limits(rows, transfer(segment=replace(SEGMENT, rate_mbit=None)))
    assert found.limited_by == "congestion window"
    assert (found.utilisation, found.queue_peak_bytes) == (None, 0)


def test_a_client_that_does_not_tell_its_first_byte_has_one_nonetheless(limits: Find) -> None:
    """The server sends its first data at 0.3 s, and it arrives at 0.35 s."""
    states = [[tcp(data_segs_out=max(0, index - 2))] for index in range(11)]
    of = replace(transfer(), start_s=None)
    assert seconds(limits(rows_of(list(STEADY), states), of)) == {
        "handshake_s": 0.35,
        "cwnd_s": 0.7,
    }
    of = replace(of, end_s=0.55)
    found = limits(rows_of([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), of)
    assert found.handshake_s == pytest.approx(0.25)
    assert sum(seconds(found).values()) == pytest.approx(0.55)


def test_no_samples_tell_nothing(tmp_path: Path) -> None:
    assert limits_of(observe(tmp_path, transfer()), transfer()) == TransferLimits()


def test_a_last_line_that_was_not_finished_is_left_out(tmp_path: Path, limits: Find) -> None:
    whole = limits(with_tcp(tcp()))
    file = tmp_path / "samples.jsonl"
    file.write_text(file.read_text() + "[1100000,[[1,")
    assert limits_of(observe(tmp_path, transfer()), transfer()) == whole


def test_a_transfer_is_kept_in_the_runs_directory(tmp_path: Path) -> None:
    transfer().save(tmp_path)
    assert Transfer.load(tmp_path) == transfer()
