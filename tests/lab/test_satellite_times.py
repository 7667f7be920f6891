"""When a connection over a satellite stands and its first byte comes, with PEPs and without: closed forms.

A round trip over the satellite takes S, one behind the gateway N, and one over all of it R = S + N.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

S, N = 0.5, 0.08
R = S + N
SLACK_S = 0.005
"""Serialisation: 0.6 ms for a full packet towards the client, 1.5 ms towards the server."""
PEPS = ("proxy-st", "proxy-gw")
SMALL = {"tls_record_bytes": "1400"}
"""A TLS record in a segment; by default one takes twelve, two more than an initial window."""


def chain(protocol: str, mode: str) -> dict[str, Any]:
    """The client beside the first PEP, the second one beside the gateway; as in Kosek et al. 2022."""
    wide = {"congestion_control": "reno", "initial_window": 100}
    quic = {"program": "headway-quic-pep", "knobs": {"mode": mode}}
    tcp = {"program": "headway-tcp-pep"}
    satellite = {"delay": "250 ms", "down": {"rate": "20 Mbit/s"}, "up": {"rate": "8 Mbit/s"}}
    return {
        "protocol": protocol,
        "client": {"program": "headway-perf"},
        "workload": {"kind": "bulk", "size": "20 kB"},
        "hops": [
            {
                "name": PEPS[0],
                **{f"{k}_pep": v | {"upstream": wide} for k, v in (("quic", quic), ("tcp", tcp))},
            },
            {"name": "terminal", "path": satellite},
            {
                "name": PEPS[1],
                "path": {"delay": "40 ms"},
                **{f"{k}_pep": v | {"downstream": wide} for k, v in (("quic", quic), ("tcp", tcp))},
            },
        ],
    }


class Times(NamedTuple):
    """Seconds from the client's start; no TLS, no time."""

    connect_s: float
    tls_s: float | None
    ttfb_s: float


@pytest.mark.parametrize(
    ("protocol", "tls", "peps", "knobs", "expected"),
    [
        pytest.param("quic", True, None, {}, Times(R, R, 2 * R), id="quic"),
        # The client's handshake is with the PEP beside it. Only the PEPs' own one costs time: that
        # with the server begins with its first packet and is over before it is.
        pytest.param("quic", True, "default", {}, Times(0, 0, S + R), id="quic-pep"),
        # Every handshake waits for the one behind it.
        pytest.param("quic", True, "h3-capable", {}, Times(R, R, 2 * R), id="quic-pep-h3"),
        pytest.param("tcp", False, None, {}, Times(R, None, 2 * R), id="tcp"),
        # Connections are opened one after the other, from PEP to PEP to server.
        pytest.param("tcp", False, "default", {}, Times(0, None, 2 * R), id="tcp-pep"),
        pytest.param("tcp", True, None, SMALL, Times(R, 2 * R, 3 * R), id="tls"),
        pytest.param("tcp", True, "default", SMALL, Times(0, 2 * R, 3 * R), id="tls-pep"),
        # The rest of the first record waits for acknowledgments: from the client,
        pytest.param("tcp", True, None, {}, Times(R, 2 * R, 4 * R), id="tls-long-records"),
        # or from the PEP next to the server, the other one's window being wide enough.
        pytest.param(
            "tcp", True, "default", {}, Times(0, 2 * R, 3 * R + N), id="tls-pep-long-records"
        ),
    ],
)
def test_times_in_round_trips(
    run_setting: RunSetting,
    protocol: str,
    tls: bool,
    peps: str | None,
    knobs: dict[str, str],
    expected: Times,
) -> None:
    raw = chain(protocol, peps or "default") | {
        "tls": tls,
        "bypass": [] if peps else PEPS,
        "server": {"program": "headway-perf", "knobs": knobs},
    }
    record = run_setting(raw)
    assert record.error is None
    told = (record.connect_s, record.tls_s, record.ttfb_s)
    assert told == pytest.approx(tuple(expected), abs=SLACK_S)


def test_the_section_that_held_a_flow_back_is_named(run_setting: RunSetting) -> None:
    """The server could send without limit, and the client is one cable away from its PEP."""
    raw = chain("tcp", "default") | {"tls": False, "server": {"program": "headway-perf"}}
    record = run_setting(raw | {"workload": {"kind": "bulk", "duration": "15 s"}})
    assert (record.limited_by, record.limited_section) == ("path", "proxy-gw > proxy-st")
    assert record.path_s is not None and record.path_s > 9
    assert (record.proxy_iw, record.proxy_upstream_iw) == ("10, 100", "100, 10")
