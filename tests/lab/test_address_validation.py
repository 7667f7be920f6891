"""What a server may send before it knows that the client is where it says (RFC 9000, section 8.1), and Fast Open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.diagnosis.fault import CarriedPacket, carried_packets
from headway.study.path import Way
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S = 0.1
QUIC_SERVERS = ["haproxy", "headway-server", "nginx", "ngtcp2"]


def setting(server: str, **changes: Any) -> dict[str, Any]:
    """A small body; a fault that is none has the packets kept and opened."""
    return {
        "protocol": "h3",
        "path": {"rate": "10 Mbit/s", "rtt": "100 ms"},
        "workload": {"size": "10 kB"},
        "server": {"program": server},
        "fault": "none",
        **changes,
    }


def of_way(packets: list[CarriedPacket], way: Way) -> list[CarriedPacket]:
    return [one for one in packets if one.way is way]


@pytest.mark.parametrize("server", QUIC_SERVERS)
def test_a_retry_costs_a_round_trip(run_setting: RunSetting, tmp_path: Path, server: str) -> None:
    host = {"program": server, "knobs": {"retry": "on"}}
    records = [
        run_setting(setting(server) | changes, name=name)
        for name, changes in (("plain", {}), ("retry", {"server": host}))
    ]
    first = {
        name: of_way(carried_packets(tmp_path / name), Way.DOWN)[0].words
        for name in ("plain", "retry")
    }
    assert first["retry"] == "Retry"
    assert "Retry" not in first["plain"]
    connected = [record.connect_s or 0.0 for record in records]
    assert connected[1] - connected[0] == pytest.approx(RTT_S, abs=2e-3)


@pytest.mark.parametrize("server", ["caddy", *QUIC_SERVERS])
def test_large_certificates_wait_for_the_address(
    run_setting: RunSetting, tmp_path: Path, server: str
) -> None:
    host: dict[str, Any] = {"program": server}
    if server == "headway-server":
        # It takes curl's large share, whose bytes cost 15 ms more beside such certificates.
        host["knobs"] = {"key_exchange": "x25519"}
    records = [
        run_setting(setting(server) | {"server": host} | changes, name=name)
        for name, changes in (("usual", {}), ("large", {"certificate_chain": "12 kB"}))
    ]
    connected = [record.connect_s or 0.0 for record in records]
    assert connected[1] - connected[0] == pytest.approx(RTT_S, abs=0.01)
    packets = carried_packets(tmp_path / "large")
    up = of_way(packets, Way.UP)
    # The client's first flight is there half a round trip after it left, the next one a round trip later.
    hello = [one for one in up if one.at_s < RTT_S / 2]
    before = [one for one in of_way(packets, Way.DOWN) if one.at_s < RTT_S * 1.4]
    headers = 28
    received = sum(one.bytes - headers for one in hello)
    # quic-go and quinn-proto ask whether the next datagram may begin, not whether it may end (docs/native-quic.md).
    beyond = 1472 if server in ("caddy", "headway-server") else 0
    assert sum(one.bytes - headers for one in before) <= 3 * received + beyond
    # And over TCP nothing waits but for the window.
    tcp = setting("nginx", protocol="h2", fault="none")
    times = [
        run_setting(tcp | changes, name=f"tcp-{name}").connect_s
        for name, changes in (("usual", {}), ("large", {"certificate_chain": "12 kB"}))
    ]
    assert times[0] == pytest.approx(times[1], abs=2e-3)


def test_chains_have_the_size_that_is_asked_for(run_setting: RunSetting, tmp_path: Path) -> None:
    """TLS 1.3 encrypts them, so that the server's bytes tell."""
    sent = {}
    for size in ("3 kB", "9 kB"):
        run_setting(setting("nginx", protocol="h2", certificate_chain=size), name=size)
        sent[size] = sum(one.bytes for one in of_way(carried_packets(tmp_path / size), Way.DOWN))
    assert sent["9 kB"] - sent["3 kB"] == pytest.approx(6000, rel=0.05)


def test_fast_open_carries_the_hello_in_the_syn(run_setting: RunSetting, tmp_path: Path) -> None:
    opened = {"kernel": {"sysctls": {"net.ipv4.tcp_fastopen": 0x607}}}
    client = {"program": "curl", "knobs": {"tcp_fast_open": "on"}, **opened}
    both = setting("nginx", client=client, protocol="h2")
    run_setting(both | {"server": {"program": "nginx", **opened}}, name="open")
    run_setting(setting("nginx", protocol="h2"), name="plain")
    first = {name: carried_packets(tmp_path / name)[0] for name in ("open", "plain")}
    assert first["plain"].words == first["open"].words == "SYN"
    assert first["plain"].bytes == 60
    assert first["open"].bytes > 1400


def test_fast_open_saves_a_round_trip_if_the_syn_takes_the_whole_hello(
    run_setting: RunSetting,
) -> None:
    opened = {"kernel": {"sysctls": {"net.ipv4.tcp_fastopen": 0x607}}}
    took_s = {}
    for group in ("x25519", "x25519mlkem768"):
        for fast in ("off", "on"):
            knobs = {"tcp_fast_open": fast, "key_exchange": group}
            client = {"program": "curl", "knobs": knobs, **opened}
            asked = setting("nginx", client=client, protocol="h2")
            record = run_setting(
                asked | {"server": {"program": "nginx", **opened}}, name=f"{group}-{fast}"
            )
            assert record.total_s is not None
            took_s[group, fast] = record.total_s
    rtt_s = took_s["x25519", "off"] - took_s["x25519", "on"]
    assert rtt_s == pytest.approx(0.1, rel=0.05)
    assert took_s["x25519mlkem768", "off"] == pytest.approx(
        took_s["x25519mlkem768", "on"], rel=0.02
    )
