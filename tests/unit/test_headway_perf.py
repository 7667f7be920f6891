"""headway-perf's adapters: what is started, and what becomes of its reports."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from headway.contract.outcome import Ended
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.programs.headway_perf import CLIENT_REPORT, server_report
from headway.programs.measurement import BulkFlow, Measurement
from headway.programs.registry import CLIENTS, SERVERS
from headway.study.host import Host
from headway.study.setting import Setting
from tests.deployed import flow_of, orders_of

OK = Ended("headway-perf", 0, 2_000_000_000)
TWO = {"kind": "bulk", "duration": "15 s", "starts": ["0 s", "5 s"]}
UPLOAD = {"kind": "bulk", "size": "1 MB", "direction": "upload"}


def setting(protocol: str, workload: dict[str, Any], **more: Any) -> Setting:
    hosts = {
        role: {"program": "headway-perf"} | more.pop(role, {}) for role in ("client", "server")
    }
    path = {"rate": "10 Mbit/s"}
    told = {"protocol": protocol, "workload": workload, "path": path, **hosts, **more}
    return Setting.model_validate(told)


def test_a_flow_for_a_time_wants_a_path_that_takes_some() -> None:
    for path in ({"rate": "10 Mbit/s"}, {"rtt": "10 ms"}):
        check_programs(deploy(setting("tcp", TWO, path=path)))
    check_programs(deploy(setting("tcp", UPLOAD, path={})))


def started(of: Setting) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of server and client."""
    check_programs(deploy(of))
    server, client = orders_of(of).programs
    assert server.service and not client.service
    return server.argv, client.argv


def flow(**changes: Any) -> dict[str, Any]:
    told = {
        "start_s": 0.0,
        "connected_s": 0.1,
        "secured_s": 0.2,
        "first_byte_s": 0.3,
        "end_s": 1.0,
        "received_bytes": 30,
        "error": None,
        "series": [{"received_bytes": 10}, {"received_bytes": 20}],
    }
    return told | changes


def measured(of: Setting, directory: Path, *flows: dict[str, Any]) -> Measurement:
    report = {"started_unix_s": 1000.0, "interval_s": 0.1, "flows": flows}
    (directory / CLIENT_REPORT).write_text(json.dumps(report))
    return CLIENTS["headway-perf"].measure(flow_of(of), directory, OK)


def record(directory: Path, *flows: dict[str, Any]) -> None:
    lines = (json.dumps(one | {"started_unix_s": 999.0, "interval_s": 0.1}) for one in flows)
    (directory / server_report()).write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    ("protocol", "tls", "transport", "socket"),
    [
        ("quic", True, "quic", "443"),
        ("tcp", True, "tls", "443"),
        ("tcp", False, "tcp", "80"),
    ],
)
def test_both_sides_speak_the_same(protocol: str, tls: bool, transport: str, socket: str) -> None:
    server, client = started(setting(protocol, TWO, tls=tls))
    for words in (server, client):
        assert f"--transport={transport}" in words
        assert any(re.fullmatch(rf"(--listen=)?10\.0\.\d+\.2:{socket}", word) for word in words)
    assert ("--server-name=server.test" in client) is tls
    assert any(word.startswith("--certificate=") for word in server) is tls


def test_workloads_are_told_in_seconds_and_bytes() -> None:
    _, client = started(setting("quic", TWO))
    assert "--duration=15.000000000s" in client
    assert "--start-offsets=0.000000000s,5.000000000s" in client
    assert "--direction=download" in client
    _, client = started(setting("tcp", UPLOAD))
    assert "--bytes=1000000" in client
    assert "--direction=upload" in client


def test_knobs_reach_the_host_that_they_are_of() -> None:
    knobs = {"pacing": "off", "slow_start": "classic", "early_data": "on"}
    sender = {"congestion_control": "reno", "initial_window": 32, "knobs": knobs}
    server, client = started(setting("quic", TWO, server=sender))
    quic = next(word for word in server if word.startswith("--quic=")).removeprefix("--quic=")
    told = dict(word.split("=") for word in quic.split(","))
    assert told["congestion-control"] == "newreno"
    assert told["initial-window"] == "32"
    assert (told["pacing"], told["slow-start"]) == ("off", "classic")
    assert "--early-data" in server
    assert "--early-data" not in client
    server, client = started(setting("tcp", TWO, server=sender))
    assert "--tcp-congestion-control=reno" in server
    assert "--tcp-congestion-control=cubic" in client


def test_early_data_are_asked_of_both_sides() -> None:
    early = {"knobs": {"early_data": "on"}}
    assert "--early-data" in started(setting("tcp", TWO, client=early, server=early))[1]


def test_a_download_is_what_its_client_received(tmp_path: Path) -> None:
    late = flow(start_s=5.0, connected_s=5.1, end_s=6.5, series=[{"received_bytes": 7}])
    found = measured(setting("quic", TWO), tmp_path, flow(), late)
    assert found == Measurement(
        connect_s=0.1,
        tls_s=0.2,
        ttfb_s=0.3,
        total_s=6.5,
        bytes=37,
        each_s=(1.0, 6.5),
        flows=(BulkFlow(0.0, 0.1, (10, 20)), BulkFlow(5.0, 0.1, (7,))),
    )


def test_an_upload_is_what_the_server_received(tmp_path: Path) -> None:
    of = setting("tcp", UPLOAD)
    # The server started a second earlier; a connection that only fetched a ticket came first.
    record(tmp_path, flow(start_s=1.05), flow(start_s=0.9, received_bytes=0, series=[]))
    found = measured(of, tmp_path, flow(received_bytes=0, series=[], first_byte_s=None))
    (uploaded,) = found.flows
    assert uploaded.start_s == pytest.approx(0.05)
    assert uploaded.bytes == (10, 20)
    assert (found.bytes, found.total_s, found.ttfb_s) == (30, 1.0, None)


def test_an_upload_that_the_server_does_not_know_has_failed(tmp_path: Path) -> None:
    found = measured(setting("tcp", UPLOAD), tmp_path, flow())
    assert found.error == "headway-perf: the server reports 0 of 1 flows"


def test_a_flows_error_is_the_runs(tmp_path: Path) -> None:
    bad = flow(error="cannot connect: nothing came", connected_s=None, end_s=None)
    found = measured(setting("quic", TWO), tmp_path, flow(), bad)
    assert found == Measurement(error="headway-perf: cannot connect: nothing came")


def test_a_client_that_left_no_report_has_failed(tmp_path: Path) -> None:
    (tmp_path / "headway-perf.err").write_text("headway-perf: TLS: no certificate\n")
    of = setting("quic", TWO)
    found = CLIENTS["headway-perf"].measure(flow_of(of), tmp_path, Ended("headway-perf", 1, 1))
    assert found.error is not None
    assert "TLS: no certificate" in found.error


def test_the_same_controllers_for_both_sides() -> None:
    client, server = CLIENTS["headway-perf"], SERVERS["headway-perf"]
    for control in client.quic_congestion_controls:
        host = Host.model_validate({"program": "headway-perf", "congestion_control": control})
        assert client.quic_congestion_control(host) == control
        assert server.quic_congestion_control(host) == control
