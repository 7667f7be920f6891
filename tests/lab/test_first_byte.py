"""The first byte of bulk flows, from which intervals of published goodput may count, beside captures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.analysis.goodput import FlowRun
from headway.lab.pcapng import read_pcapng
from headway.study.published import RunInterval, TimeOrigin
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

_TCP = 6
_ETHERNET = 14
_UDP_HEADER = 8
_QUIC_LONG_HEADER = 0x80
_LEAST_QUIC_DATA = 1000
"""UDP payload of 1-RTT packets with data is larger, that of those without smaller."""


def arrivals(capture: Path) -> tuple[int, list[tuple[int, int]]]:
    """When the client sent its first packet, and the packets with data that it received: times and bytes.

    Bytes are payload of TCP; of QUIC they are those of the UDP datagram.
    """
    frames = [frame for frame in read_pcapng(capture) if frame[1][12:14] == b"\x08\x00"]
    client = frames[0][1][26:30]
    return frames[0][0], list(_data(frames, client))


def _data(frames: list[tuple[int, bytes]], client: bytes) -> Iterator[tuple[int, int]]:
    for time_ns, frame in frames:
        packet = frame[_ETHERNET:]
        if packet[16:20] != client:
            continue
        header = 4 * (packet[0] & 0xF)
        length = int.from_bytes(packet[2:4], "big") - header
        if packet[9] == _TCP:
            payload = length - 4 * (packet[header + 12] >> 4)
            counts = payload > 0
        else:
            payload = length - _UDP_HEADER
            long_header = packet[header + _UDP_HEADER] & _QUIC_LONG_HEADER
            counts = payload > _LEAST_QUIC_DATA and not long_header
        if counts:
            yield time_ns, payload


@pytest.mark.parametrize(("protocol", "share"), [("tcp", 1.0), ("quic", 0.98)])
def test_the_first_byte_is_the_captures(
    run_setting: RunSetting, tmp_path: Path, protocol: str, share: float
) -> None:
    """Flights of slow start, a round trip apart, fall into the intervals that the capture has them in.

    Args:
        protocol: of the flow.
        share: of the captured bytes that is payload of the flow.
    """
    ends = {role: {"program": "headway-perf"} for role in ("client", "server")}
    record = run_setting(
        {
            "protocol": protocol,
            "tls": protocol == "quic",
            "path": {"rate": "20 Mbit/s", "rtt": "400 ms"},
            "workload": {"kind": "bulk", "duration": "3 s"},
            "capture": {"packets": True},
            **ends,
        }
    )
    assert record.error is None and record.received_bytes is not None
    began_ns, data = arrivals(tmp_path / "run" / "client.pcapng")
    first_ns = data[0][0]
    assert record.ttfb_s == pytest.approx((first_ns - began_ns) / 1e9, abs=0.002)
    flow = FlowRun(1, 1, record.received_bytes, record.ttfb_s, record.total_s)
    for from_s, to_s in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.1)):
        captured = sum(count for at_ns, count in data if from_s <= (at_ns - first_ns) / 1e9 < to_s)
        goodput = flow.goodput_mbit(RunInterval(from_s, to_s, TimeOrigin.FIRST_BYTE))
        assert goodput is not None and captured
        assert goodput * 1e6 / 8 * (to_s - from_s) == pytest.approx(share * captured, rel=0.01)
