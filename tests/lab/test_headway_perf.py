"""Bulk flows over QUIC, TLS and TCP in a lab: what they carry, and when their connections are there."""

from __future__ import annotations

from typing import Any

import pytest

from headway.diagnosis.series import read_series
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

TRANSPORTS = [("quic", True), ("tcp", True), ("tcp", False)]
PATH = {"rate": "10 Mbit/s", "rtt": "100 ms"}
ENDS = {role: {"program": "headway-perf"} for role in ("client", "server")}


def setting(protocol: str, tls: bool, workload: dict[str, Any], **more: Any) -> dict[str, Any]:
    bulk = {"kind": "bulk", **workload}
    return {"protocol": protocol, "tls": tls, "path": PATH, "workload": bulk} | ENDS | more


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize(("protocol", "tls"), TRANSPORTS)
def test_a_flow_fills_the_path(
    run_setting: RunSetting, tmp_path: Any, protocol: str, tls: bool, direction: str
) -> None:
    raw = setting(protocol, tls, {"duration": "15 s", "direction": direction})
    record = run_setting(raw)
    assert record.error is None
    # Headers take 5 %, handshake and slow start half a second.
    assert record.goodput_mbit is not None and 9.0 < record.goodput_mbit < 9.6
    assert record.connect_s == pytest.approx(0.1, abs=0.002)
    if tls:
        # TLS takes a round trip of its own over TCP.
        assert record.tls_s == pytest.approx(0.1 if protocol == "quic" else 0.2, abs=0.002)
    (flow,) = read_series(tmp_path / "run").flows
    assert sum(flow.bytes) == record.bytes
    # A full interval in the middle: 125 kB less the headers.
    assert flow.bytes[100] == pytest.approx(119_000, rel=0.15)
    assert record.received_bytes is not None and sum(record.received_bytes) == record.bytes
    if direction == "upload":
        # Its receiver knows of it a one-way delay late, and its sender is not observed.
        assert record.ramp_s is None and record.slow_start_s is None
        return
    assert record.received_bytes == flow.bytes[: len(record.received_bytes)]
    # From 10 packets to the path's 83 in a round trip are three doublings, unless HyStart ends them.
    assert record.slow_start_s is not None and 0.4 < record.slow_start_s < 1.0
    assert record.ramp_s is not None and record.slow_start_s - 0.2 < record.ramp_s < 2.0


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize(("protocol", "tls"), TRANSPORTS)
def test_every_byte_comes_although_packets_are_lost(
    run_setting: RunSetting, protocol: str, tls: bool, direction: str
) -> None:
    workload = {"size": "500 kB", "direction": direction, "starts": ["0 s", "0 s", "1 s"]}
    record = run_setting(setting(protocol, tls, workload, path=PATH | {"loss": "3 %"}))
    assert record.error is None
    assert record.bytes == 1_500_000
    assert len(record.each_s) == 3


def test_early_data_save_a_round_trip(run_setting: RunSetting, tmp_path: Any) -> None:
    ends = {role: {"program": "headway-perf", "knobs": {"early_data": "on"}} for role in ENDS}
    record = run_setting(setting("quic", True, {"size": "100 kB"}) | ends)
    assert record.error is None
    assert record.ttfb_s == pytest.approx(0.1, abs=0.005)
    # The connection that yields the ticket comes before, and does not count.
    (flow,) = read_series(tmp_path / "run").flows
    assert flow.start_s > 0.2
