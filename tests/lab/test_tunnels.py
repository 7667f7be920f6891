"""Tunnels: what they leave of a link's rate and MTU, and how programs find that out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.diagnosis.validation import load_evidence
from headway.lab.machine import Machine
from headway.selftest.probing import measure_path
from headway.study.path import Path as NetworkPath
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

TWO = {
    "links": [
        {"rate": "20 Mbit/s", "rtt": "10 ms", "tunnel": {"kind": "vxlan", "over": "ipv6"}},
        {"rate": "21 Mbit/s", "rtt": "10 ms", "mtu": "1540 B", "tunnel": "100 B"},
    ]
}


@pytest.mark.parametrize(
    "path", [{"rate": "10 Mbit/s", "rtt": "20 ms", "tunnel": "wireguard"}, TWO]
)
def test_tunnels_cost_what_they_say(path: dict[str, Any], machine: Machine, tmp_path: Path) -> None:
    stated = NetworkPath.model_validate(path)
    checks = measure_path(machine, stated, seed=1, directory=tmp_path, cpu=0)
    assert {"tunnel 60 B up", "tunnel 60 B down", "rules up"} <= {check.name for check in checks}
    assert not [str(check) for check in checks if not check.passed]


OWN = {"client": {"program": "headway-perf"}, "server": {"program": "headway-perf"}}


def bulk(protocol: str, path: dict[str, Any], **more: Any) -> dict[str, Any]:
    workload = {"kind": "bulk", "duration": "10 s"}
    control = {"pings": 2, "interval": "100 ms"}
    path = {"rate": "20 Mbit/s", "rtt": "20 ms"} | path
    return (
        {"protocol": protocol, "workload": workload, "path": path, "control": control} | OWN | more
    )


@pytest.mark.parametrize(
    ("path", "overhead"),
    [
        ({}, 0),
        ({"tunnel": "gre"}, 24),
        ({"tunnel": "vxlan"}, 50),
        ({"tunnel": {"kind": "wireguard", "over": "ipv6"}}, 80),
        ({"tunnel": "200 B"}, 200),
    ],
)
def test_goodput_of_tcp_is_what_headers_and_overhead_leave(
    run_setting: RunSetting, tmp_path: Path, path: dict[str, Any], overhead: int
) -> None:
    """A frame of 1514 bytes has the overhead, and headers of 20 and 32 bytes with the time stamps (RFC 7323)."""
    record = run_setting(bulk("tcp", {"queue": "1 MB"} | path, tls=False))
    assert record.error is None
    assert record.validation == "passed"
    found = load_evidence(tmp_path / "run")
    assert found and found.rates
    expected_mbit = 20 * (1500 - overhead - 52) / 1514
    assert found.rates.payload_mbit == pytest.approx(expected_mbit)
    assert found.rates.steady_mbit == pytest.approx(expected_mbit, rel=1e-3)


def test_below_jumbo_frames_tunnels_carry_what_hosts_send(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    path = {"queue": "1 MB", "mtu": "1560 B", "tunnel": "wireguard"}
    record = run_setting(bulk("tcp", path, tls=False))
    assert record.too_long_down == 0
    found = load_evidence(tmp_path / "run")
    assert found and found.rates and found.rates.steady_mbit
    assert found.rates.steady_mbit == pytest.approx(20 * 1448 / 1574, rel=1e-3)


@pytest.mark.parametrize("tunnel", ["wireguard", "200 B"])
def test_quic_finds_what_a_tunnel_carries(
    run_setting: RunSetting, tmp_path: Path, tunnel: str
) -> None:
    """RFC 8899: it looks for the largest datagram, and needs nobody to tell it."""
    silent = {"size": "1500 B", "icmp": False}
    record = run_setting(bulk("quic", {"mtu": silent, "tunnel": tunnel}))
    assert record.error is None
    assert record.too_long_down
    found = load_evidence(tmp_path / "run")
    assert found and found.rates and found.rates.steady_mbit
    assert 0.96 < found.rates.steady_mbit / found.rates.payload_mbit < 1


def download(protocol: str, server: str, path: dict[str, Any]) -> dict[str, Any]:
    path = {"rate": "10 Mbit/s", "rtt": "40 ms"} | path
    return {
        "protocol": protocol,
        "path": path,
        "server": {"program": server},
        "workload": {"size": "1 MB"},
        "limits": {"virtual": "60 s"},
    }


def test_in_a_silent_tunnel_tcp_stands_still_and_quic_does_not(run_setting: RunSetting) -> None:
    path = {"mtu": {"size": "1500 B", "icmp": False}, "tunnel": "wireguard"}
    over_tcp, over_quic = (
        run_setting(download(protocol, "nginx", path), name=protocol) for protocol in ("h2", "h3")
    )
    assert over_tcp.status == "timeout"
    assert over_quic.error is None


@pytest.mark.parametrize(("server", "status"), [("caddy", "failed"), ("nginx", "ok")])
def test_quic_go_needs_more_than_quic_does(
    run_setting: RunSetting, server: str, status: str
) -> None:
    """Its first datagrams have 1280 bytes, which no packet of 1280 bytes can carry; 1200 must do (RFC 9000, section 14)."""
    record = run_setting(download("h3", server, {"tunnel": "220 B"}))
    assert record.status == status
    if status == "failed":
        assert record.too_long_down


def test_what_quic_needs_is_more_than_some_tunnels_leave(run_setting: RunSetting) -> None:
    record = run_setting(download("h3", "nginx", {"tunnel": "300 B"}))
    assert record.status == "failed"
    assert record.too_long_up
