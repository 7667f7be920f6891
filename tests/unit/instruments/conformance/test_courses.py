"""Courses of senders from what runs leave: qlog, the kernel's samples, and packets that the client's secrets open."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from headway.instruments.conformance.capturecourse import (
    acknowledged_ranges,
    capture_course,
    marked_packets,
)
from headway.instruments.conformance.course import CourseSource, plain_state
from headway.instruments.conformance.courses import read_course
from headway.instruments.conformance.qlogcourse import qlog_course
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.tcpcourse import tcp_course
from headway.lab.pcapng import to_pcapng
from headway.programs.base import SECRETS_FILE
from tests.unit.made_quic import KEY_LOG, MadeConnection, integer, write_pcap
from tests.unit.made_samples import EPOCH_S, SEGMENT, counters, tcp, transfer, write_samples

QLOG_HEADER = {
    "qlog_version": "0.3",
    "qlog_format": "JSON-SEQ",
    "trace": {
        "vantage_point": {"type": "server"},
        "common_fields": {"time_format": "relative", "reference_time": EPOCH_S * 1e3},
    },
}


def write_qlog(directory: Path, events: list[dict[str, object]]) -> None:
    place = directory / "qlog" / "server"
    place.mkdir(parents=True)
    texts = [json.dumps(event) for event in (QLOG_HEADER, *events)]
    (place / "one.sqlog").write_text("".join(f"\x1e{text}\n" for text in texts))


def metrics(time: float, **data: float) -> dict[str, object]:
    return {"time": time, "name": "recovery:metrics_updated", "data": data}


def sent(time: float, length: int, kind: str = "stream") -> dict[str, object]:
    data = {"raw": {"length": length}, "frames": [{"frame_type": kind}]}
    return {"time": time, "name": "transport:packet_sent", "data": data}


def test_a_qlog_tells_windows_flights_losses_and_states(tmp_path: Path) -> None:
    write_samples(tmp_path, [(0.1, counters(0), counters(0), [])])
    write_qlog(
        tmp_path,
        [
            metrics(0, congestion_window=12000, bytes_in_flight=0),
            sent(10, 1200),
            sent(11, 40, "ack"),
            sent(12, 1200),
            metrics(110, congestion_window=13200, latest_rtt=100, bytes_in_flight=1200),
            sent(111, 1200),
            # What is in flight is what was logged last, and so it is left out.
            metrics(120, smoothed_rtt=100, pacing_rate=8_000_000),
            {"time": 130, "name": "recovery:packet_lost", "data": {}},
            {
                "time": 130,
                "name": "recovery:congestion_state_updated",
                "data": {"old": "slow_start", "new": "ProbeBW"},
            },
            metrics(131, congestion_window=6000, ssthresh=6000, bytes_in_flight=0),
        ],
    )
    course = qlog_course(tmp_path, SEGMENT)
    assert course is not None
    assert course.source is CourseSource.QLOG
    assert course.packet_bytes == 1200
    assert course.at_s == pytest.approx([0.0, 0.01, 0.012, 0.11, 0.111, 0.12, 0.131])
    assert course.in_flight_bytes.tolist() == [0, 1200, 2400, 1200, 2400, 1200, 0]
    assert course.losses_s == pytest.approx([0.13])
    assert [state.name for state in course.states] == ["probe_bw"]
    assert course.window_at(0.1305) == 13200
    assert course.cut(0.13).ratio == pytest.approx(6000 / 13200)
    assert course.pacing_bytes_s[-1] == 1e6
    assert course.rtt_at(0.0) == 0.1


def test_a_program_without_qlog_has_no_such_course(tmp_path: Path) -> None:
    write_samples(tmp_path, [(0.1, counters(0), counters(0), [])])
    assert qlog_course(tmp_path, SEGMENT) is None


def test_samples_of_the_kernel_tell_a_course(tmp_path: Path) -> None:
    rows = [
        (0.1, counters(0), counters(0), [tcp(cwnd=100, ssthresh=0x7FFFFFFF, bytes_sent=1)]),
        (0.2, counters(0), counters(0), [tcp(cwnd=100, ca_state=3, total_retrans=2, ssthresh=70)]),
        (0.3, counters(0), counters(0), [tcp(cwnd=70, ssthresh=70, total_retrans=2, bytes_sent=9)]),
    ]
    write_samples(tmp_path, rows)
    course = tcp_course(tmp_path, SEGMENT)
    assert course is not None
    assert course.source is CourseSource.TCP_INFO
    assert course.window_bytes.tolist() == [144800, 144800, 101360]
    assert course.losses_s.tolist() == [0.2, 0.2]
    assert [state.name for state in course.states] == [
        "slow_start",
        "recovery",
        "congestion_avoidance",
    ]
    assert course.cut(0.2).ratio == pytest.approx(0.7)
    assert np.isnan(course.threshold_bytes[0])


def acknowledgment(*ranges: tuple[int, int]) -> bytes:
    """An ACK frame of ranges from low to high, the highest first."""
    (low, high), *others = ranges
    frame = b"\x02" + integer(high) + integer(0) + integer(len(others)) + integer(high - low)
    for other_low, other_high in others:
        frame += integer(low - other_high - 2) + integer(other_high - other_low)
        low = other_low
    return frame


@pytest.mark.parametrize("ranges", [((0, 7),), ((9, 9), (3, 6), (0, 1))])
def test_ranges_of_acknowledgments_are_read(ranges: tuple[tuple[int, int], ...]) -> None:
    assert tuple(acknowledged_ranges(b"\x01\x00" + acknowledgment(*ranges))) == ranges


def test_other_frames_acknowledge_nothing() -> None:
    assert not list(acknowledged_ranges(b"\x10" + integer(9)))


def counted(frame: bytes, marked: int) -> bytes:
    """An ACK frame with counts of ECN: of ECT(0), ECT(1) and CE."""
    return b"\x03" + frame[1:] + integer(70) + integer(0) + integer(marked)


def test_acknowledgments_tell_how_many_packets_were_marked() -> None:
    frame = acknowledgment((9, 9), (3, 6), (0, 1))
    assert marked_packets(b"\x01" + counted(frame, 3)) == 3
    assert list(acknowledged_ranges(counted(frame, 3))) == [(9, 9), (3, 6), (0, 1)]
    assert marked_packets(frame) == 0
    assert marked_packets(b"\x10" + integer(9)) == 0


def test_a_qlog_tells_of_marks(tmp_path: Path) -> None:
    def received(time: float, marked: int) -> dict[str, object]:
        frame = {"frame_type": "ack", "acked_ranges": [[0, 9]], "ect0": 9, "ce": marked}
        data = {"frames": [frame]}
        return {"time": time, "name": "transport:packet_received", "data": data}

    write_samples(tmp_path, [(0.1, counters(0), counters(0), [])])
    events = [metrics(0, congestion_window=12000, bytes_in_flight=0), sent(1, 1200)]
    marked = [received(50, 0), received(100, 2), received(110, 2), received(120, 3)]
    last = [metrics(121, congestion_window=6000, bytes_in_flight=0), sent(122, 1200)]
    write_qlog(tmp_path, [*events, *marked, *last])
    course = qlog_course(tmp_path, SEGMENT)
    assert course is not None
    assert course.marks_s == pytest.approx([0.1, 0.1, 0.12])
    assert course.first_mark_s(0.11) == pytest.approx(0.12)
    assert course.first_mark_s(0.2) is None
    assert len(course.between(0.0, 0.11).marks_s) == 2


def test_the_kernel_tells_when_it_reacts_to_marks(tmp_path: Path) -> None:
    states = (0, 2, 2, 0, 2)
    rows = [
        (0.1 * n, counters(0), counters(0), [tcp(ca_state=state, bytes_sent=1)])
        for n, state in enumerate(states, 1)
    ]
    write_samples(tmp_path, rows)
    course = tcp_course(tmp_path, SEGMENT)
    assert course is not None
    assert course.marks_s == pytest.approx([0.2, 0.5])


def write_capture(directory: Path, connection: MadeConnection) -> None:
    """The server's capture, as a lab leaves it."""
    frames = [(at_ns, frame[:12] + b"\x08\x00" + frame[14:]) for at_ns, frame in connection.frames]
    write_pcap(directory / "server.pcap", frames)
    to_pcapng(directory / "server.pcap", (), directory / "server.pcapng")


@pytest.mark.parametrize("updates", [0, 1])
def test_packets_tell_what_is_in_flight(tmp_path: Path, updates: int) -> None:
    connection = MadeConnection()
    connection.shake()
    for number in range(40):
        # From the twentieth packet on keys are others, as a key update has them.
        later = updates if number >= 20 else 0
        stream = b"\x0a" + integer(4) + integer(1200) + bytes(1200)
        connection.send(100 + number, "1-RTT", stream, of_client=False, updates=later)
    connection.send(200, "1-RTT", acknowledgment((0, 9)), of_client=True)
    later = counted(acknowledgment((20, 29), (0, 17)), 2)
    connection.send(210, "1-RTT", later, of_client=True, updates=updates)
    write_capture(tmp_path, connection)
    (tmp_path / SECRETS_FILE).write_text(KEY_LOG)
    course = capture_course(tmp_path, SEGMENT, tmp_path)
    assert course is not None
    assert course.source is CourseSource.CAPTURE
    size = course.packet_bytes
    assert (course.in_flight_bytes[39], course.in_flight_bytes[40]) == (40 * size, 30 * size)
    # Of 40, 28 are acknowledged; 18 and 19 are lost, since three later ones have come.
    assert course.in_flight_bytes[-1] == 10 * size
    assert len(course.losses_s) == len(course.marks_s) == 2
    assert course.window_bytes[-1] == 40 * size


def test_the_kernels_statement_comes_first(tmp_path: Path) -> None:
    write_samples(tmp_path, [(0.1, counters(0), counters(0), [tcp()])])
    transfer().save(tmp_path)
    course = read_course(tmp_path, tmp_path)
    assert course is not None
    assert course.source is CourseSource.TCP_INFO


@pytest.mark.parametrize(
    ("name", "plain"),
    [("ProbeBW", "probe_bw"), ("PROBE_RTT", "probe_rtt"), ("SlowStart", "slow_start")],
)
def test_states_have_one_spelling(name: str, plain: str) -> None:
    assert plain_state(name) == plain


def test_a_scenario_is_a_path_with_losses_at_times() -> None:
    scenario = SenderScenario(
        rate_mbit=20,
        rtt_ms=60,
        queue_bdp=2,
        seconds=2,
        losses_s=(1.0,),
        blackouts_s=((0.5, 0.75),),
        silences_s=((1.5, 1.6),),
        lost_packets=(7,),
        fault="delay down 3 by 20 ms",
    )
    tables = scenario.tables()
    assert tables["path"]["down"] == {
        "blackouts": [["500000 us", "750000 us"], ["1000000 us", "1001332 us"]],
        "drop_packets": [7],
    }
    assert tables["path"]["up"] == {"blackouts": [["1500000 us", "1600000 us"]]}
    assert tables["workload"] == {"size": "5000000 B"}
    assert tables["fault"] == "delay down 3 by 20 ms"
    assert scenario.bdp_bytes == 150_000


def test_a_scenario_may_mark_packets_and_have_rivals() -> None:
    scenario = SenderScenario(
        rate_mbit=20, rtt_ms=60, queue_bdp=2, seconds=2, marks_s=(2.5, 2.504), rivals=2
    )
    tables = scenario.tables()
    marked = {"ect0": "ce", "ect1": "ce", "start": "2500000 us", "end": "2504000 us"}
    assert tables["path"]["down"] == {"ecn": marked}
    assert tables["flows"]["judged"] == {}
    assert tables["flows"]["rival"]["count"] == 2
