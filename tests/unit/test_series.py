from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headway.diagnosis.qlog import REDUCED_FILE, compact_qlog
from headway.diagnosis.reasons import Limit
from headway.diagnosis.segment import StateSource
from headway.diagnosis.series import SegmentSeries, read_series
from headway.diagnosis.transfer import Transfer
from headway.errors import WrongInputError
from tests.unit.made_samples import EPOCH_S, SEGMENT, Row, rows_of, tcp, transfer, write_samples
from tests.unit.test_qlog import NGTCP2, QUIC_GO, Events, metrics, packet, sequence

PACKETS = [20 * index for index in range(11)]


def series(directory: Path, rows: list[Row], of: Transfer | None = None) -> SegmentSeries:
    """The only segment's series."""
    write_samples(directory, rows)
    (of or transfer()).save(directory)
    (segment,) = read_series(directory).segments
    return segment


def test_a_run_over_time(tmp_path: Path) -> None:
    states = [[tcp(cwnd=10 + index, unacked=10 + index)] for index in range(11)]
    segment = series(tmp_path, rows_of(PACKETS, states, backlog=3000, path_drops=range(11)))
    assert (segment.sender, segment.receiver, segment.evidence) == (
        "server",
        "client",
        StateSource.TCP_INFO,
    )
    assert segment.at_s == pytest.approx([index / 10 for index in range(11)])
    assert (
        segment.cwnd_bytes == segment.in_flight_bytes == tuple((10 + i) * 1448 for i in range(11))
    )
    assert segment.srtt_ms == (100,) * 11
    assert segment.queue_bytes == (3000,) * 11
    assert segment.sent_bytes == tuple(1514 * packets for packets in PACKETS)
    assert segment.drops == tuple(range(11))


def test_the_limit_of_each_interval(tmp_path: Path) -> None:
    """The response is sent between 0.2 and 1.0 s at the server."""
    states = [[tcp(data_segs_out=20 * index, ca_state=3 * (index > 5))] for index in range(11)]
    segment = series(tmp_path, rows_of(PACKETS, states), transfer(end_s=0.95))
    assert segment.limit == (
        None,
        *[Limit.HANDSHAKE] * 2,
        *[Limit.CWND] * 3,
        *[Limit.RECOVERY] * 4,
        None,
    )


def test_a_run_that_did_not_end_has_limits_to_its_last_sample(tmp_path: Path) -> None:
    states = [[tcp(data_segs_out=20 * index)] for index in range(11)]
    segment = series(tmp_path, rows_of(PACKETS, states), Transfer(None, None, (SEGMENT,)))
    assert segment.limit == (None, Limit.HANDSHAKE, *[Limit.CWND] * 9)


def test_several_connections_are_added_up(tmp_path: Path) -> None:
    both = [tcp(rtt_us=100_000), tcp(peer_port=2, rtt_us=300_000, ssthresh=0x7FFFFFFF)]
    segment = series(tmp_path, rows_of(PACKETS, [both] * 11))
    assert segment.cwnd_bytes[3] == 20 * 1448
    assert segment.srtt_ms[3] == 200
    assert segment.ssthresh_bytes[3] is None


def qlog(directory: Path, text: str, host: str = "server") -> None:
    (directory / "qlog" / host).mkdir(parents=True)
    (directory / "qlog" / host / "one.sqlog").write_text(text)


QUIC_EVENTS: Events = [
    packet(1000, "sent", "crypto"),
    metrics(1000, congestion_window=12000, bytes_in_flight=1200, smoothed_rtt=333),
    metrics(1280, congestion_window=24000, bytes_in_flight=24000, smoothed_rtt=100),
]


@pytest.mark.parametrize("reduced", [False, True])
def test_quic_is_placed_in_time_by_its_first_packet(tmp_path: Path, reduced: bool) -> None:
    """The bottleneck has sent one between the first sample and the second."""
    qlog(tmp_path, sequence(NGTCP2, QUIC_EVENTS))
    if reduced:
        compact_qlog(tmp_path)
        assert (tmp_path / REDUCED_FILE).exists()
    segment = series(tmp_path, rows_of(PACKETS))
    assert segment.evidence is StateSource.QLOG
    assert segment.cwnd_bytes == (None, *[12000] * 3, *[24000] * 7)
    assert segment.srtt_ms == (None, *[333] * 3, *[100] * 7)


def test_quic_is_placed_in_time_by_the_wall_clock_if_told(tmp_path: Path) -> None:
    """The trace's clock starts 50 ms after the workload, and its first metrics are 100 ms later."""
    assert round(EPOCH_S, 1) == 1_767_225_600.5
    qlog(tmp_path, sequence(QUIC_GO, [{**e, "time": e["time"] - 900} for e in QUIC_EVENTS]))
    segment = series(tmp_path, rows_of(PACKETS))
    assert segment.cwnd_bytes == (None, None, *[12000] * 3, *[24000] * 6)


def test_what_the_receiver_logged_is_not_the_senders(tmp_path: Path) -> None:
    qlog(tmp_path, sequence(NGTCP2, QUIC_EVENTS), host="client")
    assert series(tmp_path, rows_of(PACKETS)).evidence is StateSource.COUNTERS


def test_columns_have_their_types_even_if_nothing_is_known(tmp_path: Path) -> None:
    frame = series(tmp_path, rows_of(PACKETS)).frame()
    assert frame.columns == [
        "at_s",
        "limit",
        "cwnd_bytes",
        "in_flight_bytes",
        "ssthresh_bytes",
        "srtt_ms",
        "queue_bytes",
        "sent_bytes",
        "drops",
    ]
    assert {str(frame[name].dtype) for name in ("at_s", "srtt_ms")} == {"Float64"}
    assert str(frame["limit"].dtype) == "String"
    assert str(frame["cwnd_bytes"].dtype) == "Int64"


def test_two_hops_are_two_series(tmp_path: Path) -> None:
    write_samples(tmp_path, rows_of(PACKETS))
    segments = (replace(SEGMENT, sender="proxy"), replace(SEGMENT, receiver="proxy"))
    Transfer(0.2, 0.9, segments).save(tmp_path)
    found = read_series(tmp_path)
    assert [segment.sender for segment in found.segments] == ["proxy", "server"]
    assert (found.start_s, found.end_s) == (0.2, 0.9)


def test_a_directory_of_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=r"transfer\.json"):
        read_series(tmp_path)
