"""Hosts with addresses of both families: what a study may say of them, and what becomes of that."""

from __future__ import annotations

from typing import Any

import pytest

from headway.contract.orders import Orders
from headway.lab.assemble import orders_for
from headway.planning.deploy import deploy
from headway.study.setting import Setting

SLOW = {"path": {"rtt": "20 ms"}, "dual_stack": {"path": {"rtt": "80 ms"}}}


def orders(**raw: Any) -> Orders:
    return orders_for(deploy(Setting.model_validate(raw), seed=1))


def ip_of(ordered: Orders, namespace: str) -> str:
    return "\n".join(next(one.ip for one in ordered.namespaces if one.name == namespace))


def test_client_and_server_have_both_families() -> None:
    ordered = orders(**SLOW)
    for host in ("client", "server"):
        lines = ip_of(ordered, host)
        assert "10.0." in lines
        assert "2001:db8:" in lines
    assert "fd00:" not in "".join(ip_of(ordered, one.name) for one in ordered.namespaces)
    (curl,) = (one.argv for one in ordered.programs if one.name == "curl")
    (told,) = (one for one in curl if one.startswith("server.test:443:"))
    assert told.startswith("server.test:443:[2001:db8:")
    assert ",10.0." in told


def test_the_family_of_the_study_is_that_of_its_path() -> None:
    legs = deploy(Setting.model_validate(SLOW | {"family": "ipv6"})).legs
    told = [(str(leg.right_address.family), leg.path and leg.path.rtt.ms) for leg in legs]
    assert told == [("ipv6", 20), ("ipv4", 80)]


def test_without_a_path_of_its_own_the_other_family_has_the_same() -> None:
    legs = deploy(Setting.model_validate({"path": {"rtt": "20 ms"}, "dual_stack": {}})).legs
    assert [leg.path and leg.path.rtt.ms for leg in legs] == [20, 20]


@pytest.mark.parametrize("client", ["curl", "headway-client"])
def test_packets_of_quic_fit_both_families(client: str) -> None:
    """RFC 8200: a header of 40 bytes, and 8 of UDP; IPv4's is 20 bytes shorter."""
    programs = {"server": {"program": "headway-server"}, "client": {"program": client}}
    ordered = orders(protocol="h3", **programs, **SLOW)
    words = [word for one in ordered.programs for word in one.argv if word.startswith("--quic=")]
    assert all("max-udp-payload=1452" in word for word in words)
    assert words


def test_headway_client_is_told_both_addresses_that_of_ipv6_first() -> None:
    ordered = orders(client={"program": "headway-client"}, **SLOW)
    (argv,) = (one.argv for one in ordered.programs if one.name == "headway-client")
    told = [word for word in argv if word.startswith("--resolve=")]
    assert [":[" in word or "2001:db8" in word for word in told] == [True, False]


def test_tcp_of_both_families_is_sampled() -> None:
    assert orders(**SLOW).sampling.both_families
    assert not orders(path={"rtt": "20 ms"}).sampling.both_families


def test_the_resolver_has_both_addresses() -> None:
    ordered = orders(dns={}, **SLOW)
    zone = ordered.files["/run/headway-dns.json"]
    assert "2001:db8:" in zone
    assert '"10.0.' in zone
