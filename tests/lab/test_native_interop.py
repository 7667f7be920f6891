"""Headway's own endpoints with everybody else's: every byte, without loss and with."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

LOSSES = ["0 %", "3 %"]
CLIENTS = [
    ("curl", "h1"),
    ("curl", "h2"),
    ("curl", "h3"),
    ("wget2", "h2"),
    ("aioquic", "h3"),
    ("ngtcp2", "h3"),
    ("quic-go", "h3"),
]
SERVERS = [
    ("nginx", "h1"),
    ("nginx", "h2"),
    ("nginx", "h3"),
    ("nginx-1.26", "h3"),
    ("caddy", "h1"),
    ("caddy", "h2"),
    ("caddy", "h3"),
    ("envoy", "h1"),
    ("envoy", "h2"),
    ("envoy", "h3"),
    ("haproxy", "h2"),
    ("haproxy", "h3"),
    ("aioquic", "h3"),
    ("ngtcp2", "h3"),
    ("headway-server", "h1"),
    ("headway-server", "h2"),
    ("headway-server", "h3"),
]


def setting(client: str, server: str, protocol: str, loss: str) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "client": {"program": client},
        "server": {"program": server},
        "workload": {"kind": "parallel", "count": 3, "size": "400 kB"},
        "path": {"rate": "20 Mbit/s", "rtt": "40 ms", "loss": loss},
        "capture": {"bodies": True},
    }


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("client", "protocol"), CLIENTS)
def test_our_server(run_setting: RunSetting, client: str, protocol: str, loss: str) -> None:
    record = run_setting(setting(client, "headway-server", protocol, loss))
    assert record.error is None


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("server", "protocol"), SERVERS)
def test_our_client(run_setting: RunSetting, server: str, protocol: str, loss: str) -> None:
    record = run_setting(setting("headway-client", server, protocol, loss))
    assert record.error is None
    assert record.total_s is not None
    # 1.2 MB at 20 Mbit/s take half a second, and two round trips come before.
    assert record.total_s > 0.5


TABLES = {"qpack_capacity": "4096", "qpack_blocked_streams": "100", "hpack_capacity": "4096"}


def with_tables(client: str, server: str, protocol: str, loss: str, ours: str) -> dict[str, Any]:
    """Many short requests, with dynamic tables at one of our programs."""
    raw = setting(client, server, protocol, loss)
    raw["workload"] = {"kind": "parallel", "count": 50, "size": "5 kB"}
    raw[ours]["knobs"] = TABLES
    return raw


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("client", "protocol"),
    [c for c in CLIENTS if c[1] != "h1"] + [("headway-client", "h2"), ("headway-client", "h3")],
)
def test_our_server_with_tables(
    run_setting: RunSetting, client: str, protocol: str, loss: str
) -> None:
    raw = with_tables(client, "headway-server", protocol, loss, "server")
    if client == "headway-client":
        raw["client"]["knobs"] = TABLES
    record = run_setting(raw)
    assert record.error is None
    assert record.fields_sent_down_bytes and record.fields_raw_down_bytes
    assert record.fields_sent_down_bytes < record.fields_raw_down_bytes


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("server", "protocol"), [s for s in SERVERS if s[1] != "h1"])
def test_our_client_with_tables(
    run_setting: RunSetting, server: str, protocol: str, loss: str
) -> None:
    raw = with_tables("headway-client", server, protocol, loss, "client")
    assert run_setting(raw).error is None


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_our_client_through_envoy(run_setting: RunSetting, protocol: str, loss: str) -> None:
    raw = setting("headway-client", "nginx", protocol, loss)
    record = run_setting(raw | {"proxy": {"program": "envoy"}})
    assert record.error is None


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_equal_seeds_give_equal_runs(run_setting: RunSetting, protocol: str) -> None:
    raw = setting("headway-client", "headway-server", protocol, "3 %")
    first, second, other = (
        run_setting(raw, seed=seed, name=name)
        for name, seed in (("first", 1), ("second", 1), ("other", 2))
    )
    assert first.error is None
    assert (first.total_s, first.virtual_s) == (second.total_s, second.virtual_s)
    assert other.total_s != first.total_s
