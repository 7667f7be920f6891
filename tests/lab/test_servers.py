"""Every server delivers every body exactly, repeatably, and with the controller it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.programs.registry import SERVERS
from headway.study.host import HTTP
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

SPOKEN = [
    (server.name, str(protocol))
    for server in SERVERS.values()
    for protocol in sorted(server.protocols & HTTP)
]


def setting(server: str, protocol: str, size: str, control: str = "cubic") -> dict[str, Any]:
    return {
        "protocol": protocol,
        "server": {"program": server, "congestion_control": control},
        "workload": {"size": size},
        "path": {"rate": "100 Mbit/s", "rtt": "10 ms"},
    }


@pytest.mark.parametrize("size", ["0 B", "1 MB"])
@pytest.mark.parametrize(("server", "protocol"), SPOKEN)
def test_bodies_arrive_as_they_are(
    run_setting: RunSetting, server: str, protocol: str, size: str
) -> None:
    record = run_setting(setting(server, protocol, size) | {"capture": {"bodies": True}})
    assert record.error is None
    assert record.total_s is not None
    # Handshake and request at least, and the body's serialisation; slow start adds round trips.
    handshake_s = 0.01 if protocol == "h3" else 0.02
    least_s = handshake_s + 0.01 + (0.08 if size == "1 MB" else 0)
    assert least_s < record.total_s < least_s + (0.08 if size == "1 MB" else 0.012)


@pytest.mark.parametrize("server", ["haproxy", "ngtcp2"])
def test_quic_uses_the_congestion_control_that_it_is_asked_for(
    run_setting: RunSetting, server: str
) -> None:
    """At 4 % loss, BBR is several times as fast as CUBIC."""
    total_s = {}
    for control in ("cubic", "bbr"):
        raw = setting(server, "h3", "500 kB", control)
        raw["path"] = {"rate": "10 Mbit/s", "rtt": "100 ms", "loss": "4 %"}
        record = run_setting(raw, name=control)
        assert record.total_s is not None, record.error
        total_s[control] = record.total_s
    assert 3 * total_s["bbr"] < total_s["cubic"]


@pytest.mark.parametrize("server", ["nginx", "caddy", "haproxy", "ngtcp2"])
def test_no_server_holds_quic_back(run_setting: RunSetting, server: str) -> None:
    """Slow start alone decides at 1 Gbit/s and 100 ms: 4 MB take some 9 round trips.

    HAProxy's own largest window would make them 14, nginx's own buffer 63.
    """
    raw = setting(server, "h3", "4 MB")
    raw["path"] = {"rate": "1 Gbit/s", "rtt": "100 ms"}
    record = run_setting(raw)
    assert record.error is None
    assert record.total_s is not None
    assert record.total_s < 1.2


@pytest.mark.parametrize(
    ("server", "protocol"),
    [("caddy", "h2"), ("caddy", "h3"), ("haproxy", "h3"), ("ngtcp2", "h3")],
)
def test_equal_seeds_give_equal_runs(
    run_setting: RunSetting, tmp_path: Path, server: str, protocol: str
) -> None:
    raw = setting(server, protocol, "500 kB") | {"capture": {"packets": True}}
    raw["path"] = {"rate": "10 Mbit/s", "rtt": "40 ms", "loss": "3 %"}
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.error is None
    assert first.total_s == second.total_s
    captures = [(tmp_path / name / "client.pcapng").read_bytes() for name in ("first", "second")]
    assert captures[0] == captures[1]


@pytest.mark.parametrize("server", [name for name, protocol in SPOKEN if protocol == "h3"])
def test_a_path_is_the_same_however_it_is_encoded(run_setting: RunSetting, server: str) -> None:
    """RFC 3986, section 6.2.2.2; ngtcp2's client asks so for bodies of one size that need names of their own."""
    raw = setting(server, "h3", "10 kB") | {"client": {"program": "ngtcp2"}}
    raw["workload"] = {"kind": "parallel", "count": 8, "size": "10 kB"}
    record = run_setting(raw)
    assert record.error is None
