"""Every client fetches every body exactly and repeatably, and its times agree with physics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headway.programs.base import Listener, Started
from headway.programs.nginx import Nginx
from headway.programs.registry import CLIENTS
from headway.study.capture import Capture
from headway.study.host import HTTP, Host, Protocol
from headway.study.workload import Download, Parallel
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S = 0.02
SPOKEN = [
    (client.name, str(protocol))
    for client in CLIENTS.values()
    if Download in client.workloads
    for protocol in sorted(client.protocols & HTTP)
]
NAGLE_S = 0.08
"""wget leaves Nagle's algorithm on: parts of its flights wait for acknowledgements, which the
server delays by 40 ms, or for the round trip."""


def setting(client: str, protocol: str, workload: dict[str, Any], **path: str) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "client": {"program": client},
        "workload": workload,
        "path": {"rate": "10 Mbit/s", "rtt": "20 ms", **path},
        "capture": {"bodies": True},
    }


@pytest.mark.parametrize(("client", "protocol"), SPOKEN)
def test_set_up_takes_its_round_trips(run_setting: RunSetting, client: str, protocol: str) -> None:
    """A body of 0 bytes: one round trip for the request, and one or two before it."""
    record = run_setting(setting(client, protocol, {"size": "0 B"}))
    assert record.error is None
    assert record.total_s is not None and record.bytes == 0
    # The TLS flight has some packets, each with 1.2 ms of serialisation.
    least_s = (2 if protocol == "h3" else 3) * RTT_S
    slack_s = 0.006 + (NAGLE_S if CLIENTS[client].package == "wget" else 0)
    assert least_s < record.total_s < least_s + slack_s
    if protocol == "h3":
        assert record.connect_s is not None and record.ttfb_s is not None
        assert RTT_S <= record.connect_s < RTT_S + 0.005
        assert 2 * RTT_S <= record.ttfb_s <= record.total_s


@pytest.mark.parametrize(("client", "protocol"), SPOKEN)
def test_a_download_is_exact_and_equal_seeds_give_equal_times(
    run_setting: RunSetting, client: str, protocol: str
) -> None:
    raw = setting(client, protocol, {"size": "100 kB"}, loss="3 %")
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.error is None
    assert first.bytes == 100_000
    assert first.path_drops
    assert (first.total_s, first.ttfb_s) == (second.total_s, second.ttfb_s)


@pytest.mark.parametrize(
    ("client", "protocol"), [pair for pair in SPOKEN if Parallel in CLIENTS[pair[0]].workloads]
)
def test_bodies_at_once_are_exact(run_setting: RunSetting, client: str, protocol: str) -> None:
    """Adapters fail a run with a second connection where there is to be one."""
    workload = {"kind": "parallel", "size": "30 kB", "count": 8}
    record = run_setting(setting(client, protocol, workload))
    assert record.error is None
    assert record.bytes == 240_000
    assert len(record.each_s) == 8
    assert record.total_s == max(record.each_s)
    if protocol != "h1":
        # 0.2 s on the link, and slow start; one after another would add 7 round trips.
        assert record.total_s < 0.2 + 5 * RTT_S


@pytest.mark.parametrize("client", ["curl", "wget2"])
def test_another_version_than_asked_for_is_an_error(
    run_setting: RunSetting, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve = Nginx.serve

    def without_h2(self: Nginx, listener: Listener, host: Host, capture: Capture) -> Started:
        only = replace(listener, protocols=frozenset({Protocol.H1}))
        return serve(self, only, host, capture)

    monkeypatch.setattr(Nginx, "serve", without_h2)
    record = run_setting(setting(client, "h2", {"size": "10 kB"}))
    assert record.status == "failed"
    # wget2 ends the handshake, curl takes what there is.
    expected = "it spoke HTTP/1.1, not h2" if client == "curl" else "Failed to connect"
    assert record.error is not None and expected in record.error
