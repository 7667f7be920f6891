"""Groups of the key exchange, as each program can be limited to one (RFC 8446, section 4.2.7)."""

from __future__ import annotations

from typing import Any

import pytest

from headway.columns import Record
from headway.programs.keyexchange import MLKEM, P256, X25519
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S = 0.1
TCP_SERVERS = ["caddy", "haproxy", "headway-server", "nginx"]
QUIC_SERVERS = [*TCP_SERVERS, "ngtcp2"]
SERVERS = [
    *(("h2", server) for server in TCP_SERVERS),
    *(("h3", server) for server in QUIC_SERVERS),
]
CLIENTS = [
    (protocol, client)
    for protocol in ("h2", "h3")
    for client in ("curl", "curl-8.14", "headway-client")
]
POST_QUANTUM_BYTES = 1184
"""An encapsulation key of ML-KEM-768 (FIPS 203, table 3)."""


def setting(protocol: str, client: dict[str, Any], server: dict[str, Any]) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "path": {"rate": "100 Mbit/s", "rtt": "100 ms"},
        "workload": {"size": "10 kB"},
        "client": client,
        "server": server,
    }


def limited(program: str, group: str) -> dict[str, Any]:
    return {"program": program, "knobs": {"key_exchange": group}}


def connected_s(record: Record) -> float:
    assert not record.error
    assert record.handshake_s is not None
    return record.handshake_s


@pytest.mark.parametrize(("protocol", "server"), SERVERS)
def test_a_server_that_wants_another_share_costs_a_round_trip(
    run_setting: RunSetting, protocol: str, server: str
) -> None:
    client = {"program": "headway-client"}
    usual, other = (
        connected_s(
            run_setting(
                setting(protocol, client, limited(server, group)), name=f"limited to {group}"
            )
        )
        for group in (X25519, P256)
    )
    # The client's first share is for X25519: a HelloRetryRequest asks for one of P-256 (RFC 8446, section 4.1.4).
    assert other - usual == pytest.approx(RTT_S, abs=2e-3)


@pytest.mark.parametrize(("protocol", "server"), [("h2", name) for name in TCP_SERVERS])
def test_servers_take_the_post_quantum_share(
    run_setting: RunSetting, protocol: str, server: str
) -> None:
    client, host = limited("headway-client", MLKEM), limited(server, MLKEM)
    usual = setting(protocol, {"program": "headway-client"}, limited(server, X25519))
    plain = connected_s(run_setting(usual, name="plain"))
    hybrid = connected_s(run_setting(setting(protocol, client, host), name="hybrid"))
    # The shares of both take time on the link, and no round trip.
    serialised_s = 2 * POST_QUANTUM_BYTES * 8 / 100e6
    assert 0 < hybrid - plain < 2 * serialised_s


@pytest.mark.parametrize(("protocol", "client"), CLIENTS)
def test_a_client_offers_what_it_is_limited_to(
    run_setting: RunSetting, protocol: str, client: str
) -> None:
    for group in (X25519, MLKEM, P256):
        own, server = limited(client, group), limited("headway-server", group)
        connected_s(run_setting(setting(protocol, own, server), name=f"both {group}"))
    refused = setting(protocol, limited(client, P256), limited("headway-server", X25519))
    record = run_setting(refused, name="nothing in common")
    assert record.error


def test_envoy_takes_what_it_is_limited_to_over_tcp(run_setting: RunSetting) -> None:
    usual, other = (
        connected_s(
            run_setting(
                {
                    **setting("h2", {"program": "headway-client"}, {"program": "nginx"}),
                    "proxy": {"program": "envoy", "knobs": {"key_exchange": group}},
                },
                name=f"limited to {group}",
            )
        )
        for group in (X25519, P256)
    )
    assert other - usual == pytest.approx(RTT_S, abs=2e-3)
