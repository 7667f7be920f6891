"""Families of addresses: how they are written, and that everything in a lab has the one that is asked for."""

from __future__ import annotations

import json
import re
from ipaddress import ip_interface, ip_network
from pathlib import Path
from typing import Any

import pytest

from headway.contract.text import dump
from headway.errors import WrongInputError
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.programs.registry import CLIENTS, PROXIES, SERVERS
from headway.study.family import Family, HostAddress
from headway.study.host import HTTP
from headway.study.load import load_study
from headway.study.queue import FRAME_BYTES
from headway.study.setting import Setting
from tests.deployed import flow_of, orders_of

V4, V6 = Family.IPV4, Family.IPV6
ADDRESSES = {
    V4: re.compile(r"(?<![\d.])10(?:\.\d+){3}"),
    V6: re.compile(r"(?<![0-9a-f])fd00:[0-9a-f:]*"),
}
BEFORE_A_PORT = re.compile(r"([^\s\"=]*):(?:443|80)\b")


def setting(**keys: Any) -> Setting:
    return Setting.model_validate({"family": "ipv6", **keys})


@pytest.mark.parametrize(
    ("family", "network", "address", "last", "origin"),
    [
        (V4, "10.0.3.0/24", "10.0.3.2", "10.0.255.2", "10.200.1.2"),
        (V6, "fd00:0:0:3::/64", "fd00:0:0:3::2", "fd00:0:0:ff::2", "fd00:0:1:1::2"),
    ],
)
def test_wires_and_origins_have_networks_of_their_own(
    family: Family, network: str, address: str, last: str, origin: str
) -> None:
    assert family.network(3) == network
    assert (family.address(3, 2), family.address(255, 2), family.origin(251)) == (
        address,
        last,
        origin,
    )
    lab, origins = ip_network(family.lab_network), ip_network(family.origins_network)
    assert not lab.overlaps(origins)
    assert ip_interface(family.address(255, 2)).ip in lab
    assert ip_interface(family.origin(251)).ip in origins


@pytest.mark.parametrize(
    ("address", "family", "port", "migrated", "on_its_wire", "alone"),
    [
        ("10.0.3.2", V4, "10.0.3.2:443", "10.0.3.21", "10.0.3.2/24", "10.0.3.2/32"),
        ("fd00::1", V6, "[fd00::1]:443", "fd00::11", "fd00::1/64", "fd00::1/128"),
    ],
)
def test_an_address_is_written_as_its_place_asks(
    address: str, family: Family, port: str, migrated: str, on_its_wire: str, alone: str
) -> None:
    one = HostAddress(address)
    assert (one, one.family, one.at(443)) == (address, family, port)
    assert (one.migrated, one.in_network, one.alone) == (migrated, on_its_wire, alone)
    assert json.loads(json.dumps(one)) == address


def test_a_header_is_twenty_bytes_longer() -> None:
    """RFC 8200, section 3; RFC 791, section 3.1."""
    assert (V4.tcp_payload_bytes, V6.tcp_payload_bytes) == (1448, 1428)
    assert (V4.udp_payload_bytes, V6.udp_payload_bytes) == (1472, 1452)
    assert V6.payload_share == 1428 / FRAME_BYTES


ENDS = [
    *(
        pytest.param(
            {"client": {"program": name}, "protocol": str(protocol)}, id=f"{name}-{protocol}"
        )
        for name, one in CLIENTS.items()
        for protocol in sorted(one.protocols & HTTP)
        if one.can(Setting().workload, protocol)
    ),
    *(
        pytest.param(
            {"server": {"program": name}, "protocol": str(protocol)}, id=f"{name}-{protocol}"
        )
        for name, one in SERVERS.items()
        for protocol in sorted(one.protocols & HTTP)
    ),
    *(
        pytest.param(
            {"proxy": {"program": name, "upstream": {"protocol": "h1"}}}, id=f"proxy-{name}"
        )
        for name in PROXIES
    ),
    *(
        pytest.param(
            {
                "hops": [{"name": "a", "quic_pep": {"program": "headway-quic-pep"}}],
                "protocol": "h3",
            },
            id="quic-pep",
        ),
        pytest.param(
            {"hops": [{"name": "a", "tcp_pep": {"program": "headway-tcp-pep"}}]}, id="tcp-pep"
        ),
        pytest.param(
            {
                "client": {"program": "headway-call"},
                "server": {"program": "headway-call"},
                "protocol": "udp",
                "workload": {"kind": "call", "rate": "1 Mbit/s", "duration": "1 s"},
            },
            id="call",
        ),
        *(
            pytest.param(
                {
                    "client": {"program": "headway-perf"},
                    "server": {"program": "headway-perf"},
                    "protocol": protocol,
                    "workload": {"kind": "bulk", "duration": "1 s"},
                },
                id=f"perf-{protocol}",
            )
            for protocol in ("tcp", "quic")
        ),
    ),
]


@pytest.mark.parametrize("raw", ENDS)
def test_all_addresses_of_orders_are_of_the_family(raw: dict[str, Any]) -> None:
    """Where a port follows, those of IPv6 have brackets (RFC 3986, section 3.2.2)."""
    told = {family: dump(orders_of(setting(**raw, family=family))) for family in Family}
    counts = [len(ADDRESSES[family].findall(told[family])) for family in Family]
    assert counts[0] == counts[1] > 10
    assert not ADDRESSES[V6].search(told[V4]) and not ADDRESSES[V4].search(told[V6])
    hosts = [host for host in BEFORE_A_PORT.findall(told[V6]) if ADDRESSES[V6].search(host)]
    assert all(re.search(r"\[fd00:[0-9a-f:]+\]$", host) for host in hosts), hosts


def test_only_the_workload_sends_packets() -> None:
    """No duplicates are looked for, no neighbours, no routers; no groups are joined."""
    orders = orders_of(setting())
    for namespace in orders.namespaces:
        assert namespace.sysctls["net.ipv6.conf.all.addr_gen_mode"] == "1"
        assert "net.ipv6.conf.all.forwarding" not in namespace.sysctls
        for device in namespace.devices:
            quiet = namespace.ip.index(f"link set {device} arp off")
            assert quiet < namespace.ip.index(f"link set {device} up")
        added = [line for line in namespace.ip if line.startswith("addr add")]
        assert added and all(line.endswith(" nodad") for line in added)
        assert sum(line.startswith("neigh add") for line in namespace.ip) >= len(namespace.devices)


def test_packets_of_own_quic_fill_frames_of_either_family() -> None:
    for family, size in ((V4, 1472), (V6, 1452)):
        raw = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}
        orders = orders_of(setting(**raw, protocol="h3", family=family))
        told = [word for one in orders.programs for word in one.argv if "max-udp-payload" in word]
        assert len(told) == 2 and all(f"max-udp-payload={size}" in word for word in told)
    asked = {"program": "headway-client", "knobs": {"max_udp_payload": "1300"}}
    flow = deploy(setting(client=asked, protocol="h3")).only
    (program,) = flow.client.start(flow.asked).programs
    assert any("max-udp-payload=1300" in word for word in program.argv)


def test_a_program_that_lacks_a_family_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SERVERS["nginx"], "families", frozenset({V4}))
    check_programs(deploy(Setting()))
    with pytest.raises(WrongInputError, match=r"^family: nginx has IPv4 only, not IPv6$"):
        check_programs(deploy(setting()))


def test_a_study_compares_families(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        'name = "families"\naxes.family = ["ipv4", "ipv6"]\naxes.protocol = ["h2", "h3"]\n'
    )
    (experiment,) = load_study(str(file)).experiments
    assert "family" in str(experiment)
    file.write_text('name = "families"\nfamily = "ipv5"\n')
    with pytest.raises(WrongInputError, match="ipv5"):
        load_study(str(file))


def test_the_usual_family_is_not_said() -> None:
    """What is kept of settings, and their keys, are what they were before there were families."""
    assert "family" not in Setting().model_dump()
    assert setting().model_dump()["family"] is V6
    assert '"family"' not in dump(orders_of(Setting()))
    assert flow_of(setting()).socket_address == "[fd00:0:0:2::2]:443"
