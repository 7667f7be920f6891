"""NATs: what a file may say, what a rebinding does, and by which mappings packets go."""

from __future__ import annotations

from typing import Any

from headway.contract.orders import Change
from headway.diagnosis.disturbances import named_disturbances
from headway.diagnosis.validation.passage import match
from headway.lab.network import two_hosts
from headway.selftest.mapping import mappings
from headway.study.host import Host, Protocol
from headway.study.path import Path
from headway.study.setting import Setting
from headway.study.units import Duration

SECOND = 10**9


def path(nat: object, **more: Any) -> Path:
    return Path.model_validate({"rtt": "20 ms", "nat": nat} | more)


def changes(nat: object) -> tuple[Change, ...]:
    host = Host(program="probe")
    return two_hosts(path(nat), host, host, 1, Duration(100 * SECOND))[0].changes


def test_no_nat_is_none() -> None:
    assert path(False).links[0].nat is None
    assert path(False) == Path.model_validate({"rtt": "20 ms"})


def test_a_rebinding_of_ports_forgets_mappings_and_keeps_the_address() -> None:
    (change,) = changes({"rebindings": ["1 s"]})
    assert change.at_ns == SECOND
    assert change.ip_lines[:4] == (
        "addr add 10.0.1.11/24 dev link0a-up",
        "addr del 10.0.1.1/24 dev link0a-up",
        "addr add 10.0.1.1/24 dev link0a-up",
        "addr del 10.0.1.11/24 dev link0a-up",
    )
    assert all(line.startswith("route replace") for line in change.ip_lines[4:])
    assert "masquerade to :20000-29999" in change.nft_rules


def test_addresses_alternate() -> None:
    first, second = changes({"rebindings": [{"at": f"{at} s", "what": "address"} for at in (1, 2)]})
    assert first.ip_lines[:2] == (
        "addr add 10.0.1.11/24 dev link0a-up",
        "addr del 10.0.1.1/24 dev link0a-up",
    )
    assert second.ip_lines[:2] == (
        "addr add 10.0.1.1/24 dev link0a-up",
        "addr del 10.0.1.11/24 dev link0a-up",
    )


def test_the_other_end_knows_the_second_address() -> None:
    host = Host(program="probe")

    def neighbours(nat: object) -> list[str]:
        layout, _ = two_hosts(path(nat), host, host, 1, Duration(0))
        (router,) = (one for one in layout.namespaces if one.name == "link0b")
        return [line for line in router.ip if line.startswith("neigh") and "10.0.1.11 " in line]

    assert not neighbours({"rebindings": ["1 s"]})
    assert len(neighbours({"rebindings": [{"at": "1 s", "what": "address"}]})) == 1


def test_mappings_end_by_idle_times_and_rebindings() -> None:
    stated = path({"udp_idle": "5 s", "rebindings": ["20 s"]})
    sent_s = (0, 4, 9, 13, 19, 20.5)
    sent_ns = [round(at * SECOND) for at in sent_s]
    assert mappings(stated, 0, sent_ns) == [(0,), (0,), (1,), (1,), (2,), (3,)]


def test_behind_another_nat_connections_are_new_if_its_mappings_are() -> None:
    links = [{"nat": {"rebindings": ["1 s"]}}, {"nat": True}]
    stated = Path.model_validate({"links": links})
    assert mappings(stated, 0, [0, 2 * SECOND]) == [(0, 0), (1, 1)]


def test_a_page_behind_a_nat_has_a_boot_of_its_own() -> None:
    page = {"workload": {"kind": "page", "site": "kepler"}, "client": {"program": "chromium"}}
    assert Setting.model_validate(page).may_share_a_boot
    assert not Setting.model_validate(page | {"path": {"nat": True}}).may_share_a_boot


def test_a_rebinding_is_named() -> None:
    nat = {"rebindings": ["1 s", {"at": "2 s", "what": "address"}]}
    path, quiet = (Path.model_validate({"nat": one}) for one in (nat, True))
    assert named_disturbances([path], [Protocol.H2]) == (
        "rebinding up: port at 1 s, address at 2 s",
    )
    assert named_disturbances([quiet], [Protocol.H2]) == ()


def frame(protocol: int, address: int, port: int, data: bytes) -> bytes:
    header = bytes(
        [0x45, 0, 0, 40, 0, 7, 0x40, 0, 64, protocol, 1, 2, 10, 0, 0, address, 10, 0, 2, 2]
    )
    return bytes(12) + b"\x08\x00" + header + port.to_bytes(2) + (443).to_bytes(2) + data


def test_packets_are_found_again_whatever_their_addresses_and_ports() -> None:
    from headway.diagnosis.validation.passage import _untranslated

    for protocol, one, other in (
        (17, b"\0\x10\xaa\xbbdata", b"\0\x10\xcc\xdddata"),
        (
            6,
            b"seq!ack!\x50\x10\xff\xff\xaa\xbb\0\0data",
            b"seq!ack!\x50\x10\xff\xff\xcc\xdd\0\0data",
        ),
    ):
        sent = [(0, frame(protocol, 1, 40000, one))]
        same, another = frame(protocol, 9, 10001, other), frame(protocol, 9, 10001, other + b"!")
        assert match(sent, [(5, same)], 9, _untranslated).delays_ns == [5]
        assert match(sent, [(5, another)], 9, _untranslated).strangers == 1
        assert match(sent, [(5, same)], 9).strangers == 1
