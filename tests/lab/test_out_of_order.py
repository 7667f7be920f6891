"""Segments behind a gap: what the client's kernel counts is what a capture shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.lab.pcapng import read_pcapng
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

_ETHERNET = 14


def behind_a_gap(capture: Path) -> int:
    """Segments with data that came to the client while what goes before them was missing."""
    packets = [
        frame[_ETHERNET:] for _, frame in read_pcapng(capture) if frame[12:14] == b"\x08\x00"
    ]
    client = packets[0][12:16]
    expected, waiting, found = 0, dict[int, int](), 0
    for packet in packets:
        header = 4 * (packet[0] & 0xF)
        tcp = packet[header : int.from_bytes(packet[2:4])]
        if packet[16:20] != client or packet[9] != 6:
            continue
        sequence, syn = int.from_bytes(tcp[4:8]), tcp[13] & 2
        end = sequence + len(tcp) - 4 * (tcp[12] >> 4)
        if syn:
            expected = sequence + 1
        elif end > sequence > expected:
            found += 1
            waiting[sequence] = end
        elif end > expected:
            expected = end
            while expected in waiting:
                expected = waiting.pop(expected)
    return found


@pytest.mark.parametrize("protocol", ["h1", "h2"])
@pytest.mark.parametrize("loss", ["0 %", "3 %"])
def test_the_kernel_counts_what_a_capture_shows(
    run_setting: RunSetting, tmp_path: Path, protocol: str, loss: str
) -> None:
    record = run_setting(
        {
            "protocol": protocol,
            "workload": {"size": "500 kB"},
            "path": {"rate": "10 Mbit/s", "rtt": "40 ms", "loss": loss, "queue": "1 MB"},
            "capture": {"packets": True},
        }
    )
    assert record.error is None
    assert record.out_of_order_segments == behind_a_gap(tmp_path / "run" / "client.pcapng")
    assert bool(record.out_of_order_segments) is (loss != "0 %")


def test_quic_has_none(run_setting: RunSetting) -> None:
    record = run_setting(
        {
            "protocol": "h3",
            "client": {"program": "headway-client"},
            "server": {"program": "headway-server"},
            "workload": {"size": "500 kB"},
            "path": {"rate": "10 Mbit/s", "rtt": "40 ms", "loss": "3 %"},
        }
    )
    assert (record.error, record.out_of_order_segments) == (None, None)
