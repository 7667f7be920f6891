"""Transfers without loss against closed forms."""

from __future__ import annotations

from math import ceil, log2

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S = 0.1
RATE = 10e6
SEGMENT_BYTES = 1448
"""Payload of a full TCP segment: MTU of 1500 less 40 bytes of headers and 12 of timestamps."""
FRAME_BYTES = 1514


def setting(protocol: str, size: str, **path: object) -> dict[str, object]:
    return {
        "protocol": protocol,
        "workload": {"size": size},
        "path": {"rate": "10 Mbit/s", "rtt": "100 ms", **path},
        "server": {"program": "nginx", "congestion_control": "reno"},
    }


@pytest.mark.parametrize(
    ("protocol", "tls", "connect", "secure", "first_byte"),
    [
        ("h1", False, 1, None, 2),
        ("h2", True, 1, 2, 3),
        ("h3", True, 1, 1, 2),
    ],
)
def test_handshakes_take_their_round_trips(
    run_setting: RunSetting,
    protocol: str,
    tls: bool,
    connect: int,
    secure: int | None,
    first_byte: int,
) -> None:
    record = run_setting(setting(protocol, "1 kB") | {"tls": tls})
    assert record.error is None
    # A TLS server's flight has up to 4 packets; the last waits for the others' serialisation.
    serialisation_s = 4 * FRAME_BYTES * 8 / RATE
    assert record.connect_s is not None and record.ttfb_s is not None
    assert (
        0 <= record.connect_s - connect * RTT_S < (serialisation_s if protocol == "h3" else 10e-6)
    )
    assert 0 <= record.ttfb_s - first_byte * RTT_S < 2 * serialisation_s
    if secure is None:
        assert record.tls_s is None
    else:
        assert record.tls_s is not None
        assert 0 <= record.tls_s - secure * RTT_S < serialisation_s


@pytest.mark.parametrize(("window", "size"), [(2, 10_000), (4, 20_000), (10, 12_000), (10, 40_000)])
def test_slow_start_takes_its_rounds(run_setting: RunSetting, window: int, size: int) -> None:
    """With an initial window of w, n segments need ceil(log2(n / w + 1)) round trips."""
    raw = setting("h1", f"{size} B", rate="1 Gbit/s") | {"tls": False}
    raw["server"] = {"program": "nginx", "congestion_control": "reno", "initial_window": window}
    record = run_setting(raw)
    segments = ceil((size + 300) / SEGMENT_BYTES)
    rounds = ceil(log2(segments / window + 1))
    # One round trip for the TCP handshake; the request travels with the first round's ACK.
    expected_s = (1 + rounds) * RTT_S
    assert record.total_s is not None
    # Up to one delayed ACK (40 ms) where a flight has an odd number of segments.
    assert 0 <= record.total_s - expected_s < 0.045


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_a_large_body_takes_its_serialisation_time(run_setting: RunSetting, protocol: str) -> None:
    """At a short RTT the bottleneck is busy throughout: wire bytes over rate."""
    size = 10 * 2**20
    raw = setting(protocol, "10 MiB", rtt="4 ms", queue="100 kB")
    record = run_setting(raw)
    if protocol == "h3":
        # 1500 bytes of IP packet less IP, UDP, short header, packet number, tag, STREAM header.
        payload = 1500 - 28 - 1 - 20 - 2 - 16 - 9
    else:
        payload = SEGMENT_BYTES * 16384 / (16384 + 22 + (9 if protocol == "h2" else 0))
    expected_s = size / payload * FRAME_BYTES * 8 / RATE
    assert record.total_s is not None
    assert record.total_s == pytest.approx(expected_s, rel=0.015)
    assert record.total_s > expected_s * 0.998
    assert record.utilisation is not None and record.utilisation > 0.98
    assert record.limited_by == "path"


def test_a_droptail_queue_of_one_bdp_holds_one_bdp(run_setting: RunSetting) -> None:
    record = run_setting(setting("h2", "10 MiB"))
    assert record.queue_bytes == 125_000
    assert record.queue_peak_bytes is not None
    assert 125_000 - 3 * FRAME_BYTES <= record.queue_peak_bytes <= 125_000
    assert record.queue_drops


def test_a_buffer_that_limits_a_program_is_recognised(run_setting: RunSetting) -> None:
    """nginx's default stream buffer caps HTTP/3 at 64 KiB per round trip: 5.2 Mbit/s here."""
    raw = setting("h3", "4 MB")
    raw["server"] = {"program": "nginx", "knobs": {"http3_stream_buffer_size": "64k"}}
    record = run_setting(raw)
    assert record.limited_by == "plateau"
    assert record.goodput_mbit is not None and record.goodput_mbit < 65_536 * 8e-6 / RTT_S


def test_congestion_control_decides_under_heavy_loss(run_setting: RunSetting) -> None:
    """10 MiB at 4 % loss each way: BBR under 15 s, loss-based control more than five times that."""
    total_s = {}
    for control in ("reno", "bbr"):
        raw = setting("h2", "10 MiB", loss="4 %")
        raw["server"] = {"program": "nginx", "congestion_control": control}
        record = run_setting(raw, name=control)
        assert record.total_s is not None
        total_s[control] = record.total_s
    assert total_s["bbr"] < 15
    assert total_s["reno"] > 5 * total_s["bbr"]
