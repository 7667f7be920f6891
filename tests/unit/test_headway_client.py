"""What Headway's own client is taken to have measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headway.contract.outcome import Ended
from headway.programs.headway_client import REPORT
from headway.programs.registry import CLIENTS
from headway.study.setting import Setting
from tests.deployed import flow_of

ENDED = Ended("headway-client", at_ns=1_500_000_000, exit_status=0)


def setting(early_data: str) -> Setting:
    client = {"program": "headway-client", "knobs": {"early_data": early_data}}
    return Setting.model_validate(
        {"protocol": "h3", "client": client, "workload": {"size": "10 kB"}}
    )


@pytest.mark.parametrize(("early_data", "began_s"), [("on", 1.1), ("off", 0.0)])
def test_what_yields_a_ticket_comes_before_what_counts(
    tmp_path: Path, early_data: str, began_s: float
) -> None:
    """The process ends at 1.5 s, and its report, which begins with the requests, at 0.4 s."""
    request = {
        "connected_s": 0.1,
        "secured_s": 0.1,
        "first_byte_s": 0.1,
        "last_byte_s": 0.3,
        "status": 200,
        "bytes": 10_000,
        "error": None,
    }
    (tmp_path / REPORT).write_text(json.dumps({"ended_s": 0.4, "requests": [request]}))
    measured = CLIENTS["headway-client"].measure(flow_of(setting(early_data)), tmp_path, ENDED)
    assert measured.error is None
    assert measured.began_s == pytest.approx(began_s)
    assert (measured.ttfb_s, measured.total_s) == (0.1, 0.3)


def attempt(protocol: str, remote: str, at_s: float) -> dict[str, object]:
    return {"protocol": protocol, "remote": remote, "connect_start_s": at_s}


def test_where_it_came_to_is_where_the_first_response_came_from(tmp_path: Path) -> None:
    """QUIC, which both families are tried for first, loses to TCP."""
    tried = [
        attempt("h3", "[2001:db8::1]:443", 0.0),
        attempt("h3", "10.0.0.1:443", 0.25),
        attempt("h2", "[2001:db8::1]:443", 0.5),
        attempt("h2", "10.0.0.1:443", 0.75),
    ]
    request = {
        "connection": 1,
        "connected_s": 0.8,
        "secured_s": 0.85,
        "first_byte_s": 0.9,
        "last_byte_s": 0.9,
        "status": 200,
        "bytes": 10_000,
        "error": None,
    }
    report = {"ended_s": 0.9, "requests": [request], "connections": [{**tried[3], "tried": tried}]}
    (tmp_path / REPORT).write_text(json.dumps(report))
    raw = {
        "protocol": "h3",
        "client": {"program": "headway-client", "knobs": {"fall_back": "on"}},
        "server": {"program": "headway-server"},
        "workload": {"size": "10 kB"},
        "dns": {"https": True},
        "discovery": {},
        "dual_stack": {},
    }
    client = CLIENTS["headway-client"]
    measured = client.measure(flow_of(Setting.model_validate(raw)), tmp_path, ENDED)
    assert (measured.error, measured.spoken, measured.won) == (None, "h2", "ipv4")
    assert measured.race and (measured.race.lost, measured.race.wait_s) == (True, 0.5)
    told = [(one.family, one.at_s) for one in measured.tried]
    assert told == [("ipv6", 0.0), ("ipv4", 0.25), ("ipv6", 0.5), ("ipv4", 0.75)]
