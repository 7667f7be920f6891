"""A resolver beside the client: what a study may say of it, and what becomes of that."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from headway.contract.orders import Orders
from headway.diagnosis.questions import question_columns
from headway.lab.assemble import orders_for
from headway.lab.pcapng import to_pcapng
from headway.planning.capability_checks import remarks
from headway.planning.deploy import deploy
from headway.sites.finding import find_outline
from headway.study.setting import Setting

ZONE = "/run/headway-dns.json"


def orders(**dns: Any) -> Orders:
    return orders_for(deploy(Setting.model_validate({"dns": dns}), seed=1))


def zone(**dns: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(orders(**dns).files[ZONE])
    return found


def argv(ordered: Orders, program: str) -> tuple[str, ...]:
    return next(one.argv for one in ordered.programs if one.name == program)


def test_a_client_is_told_the_address_unless_there_is_a_resolver() -> None:
    told = orders_for(deploy(Setting(), seed=1))
    assert "--resolve" in argv(told, "curl")
    assert not {"/etc/resolv.conf", ZONE} & told.files.keys()
    asking = orders(path={"rtt": "30 ms"})
    assert "--resolve" not in argv(asking, "curl")
    (listen,) = (one for one in argv(asking, "resolver-headway-dns") if "--listen" in one)
    address = listen.removeprefix("--listen=").removesuffix(":53")
    assert f"nameserver {address}\n" in asking.files["/etc/resolv.conf"]


def test_the_transport_is_what_the_client_is_told() -> None:
    files = orders(transport="tcp").files
    assert "options use-vc" in files["/etc/resolv.conf"]


def test_a_zone_has_the_address_behind_the_aliases_and_the_https_record() -> None:
    found = zone(cname=["a.test", "b.test"], https=True, ttl="60 s", drops=["HTTPS"])
    assert found["ttl_s"] == 60
    assert found["drops"] == ["HTTPS"]
    names = found["names"]
    assert names["server.test"] == {"alias": "a.test"}
    assert names["a.test"] == {"alias": "b.test"}
    (address,) = names["b.test"]["addresses"]
    assert names["b.test"]["https"] == [{"priority": 1, "alpn": ["h3", "h2"], "hints": [address]}]


def test_a_zone_may_have_no_answer() -> None:
    assert zone(silent=True)["names"] == {"server.test": {"silent": True}}
    assert zone(unknown=True)["names"] == {}


@pytest.mark.parametrize(
    ("alpn", "protocol", "told"),
    [
        (["h3", "h2"], "h2", ["the HTTPS record names h3, which the server does not speak"]),
        (["h3", "h2"], "h3", []),
    ],
)
def test_a_record_that_contradicts_the_server_is_named(
    alpn: list[str], protocol: str, told: list[str]
) -> None:
    raw = {
        "dns": {"https": {"alpn": alpn}},
        "discovery": {},
        "protocol": protocol,
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server"},
    }
    found = [one for one in remarks(deploy(Setting.model_validate(raw))) if "HTTPS" in one]
    assert [one.split(" (")[0] for one in found] == told


def test_over_https_curl_is_told_where_and_others_are_refused() -> None:
    asked = orders(transport="https")
    (url,) = (one for one in argv(asked, "curl") if one.endswith("/dns-query"))
    assert url == "https://dns.server.test/dns-query"
    assert "dns.server.test" in asked.files["/etc/hosts"]
    assert "/etc/resolv.conf" not in asked.files
    assert any(one.startswith("--https=") for one in argv(asked, "resolver-headway-dns"))


def asked(kind: int, port: int, number: int) -> bytes:
    """A frame with a question for server.test."""
    name = b"\x06server\x04test\x00"
    message = (
        struct.pack("!HHHHHH", number, 0x0100, 1, 0, 0, 0) + name + struct.pack("!HH", kind, 1)
    )
    datagram = struct.pack("!HHHH", port, 53, 8 + len(message), 0) + message
    header = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 0, 0, 64, 17, 0, b"\n\0\0\1", b"\n\0\0\2"
    )
    return bytes(12) + b"\x08\x00" + header + datagram


def written(directory: Path, frames: list[bytes], every_s: int = 0) -> None:
    """The capture of a client's questions."""
    packets = [
        struct.pack("<IIII", 1 + number * every_s, 0, len(one), len(one)) + one
        for number, one in enumerate(frames)
    ]
    file = directory / "client-upstream.pcap"
    header = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    file.write_bytes(header + b"".join(packets))
    to_pcapng(file, (), file.with_suffix(".pcapng"))


def test_questions_are_counted_before_the_path_loses_or_doubles_them(tmp_path: Path) -> None:
    """Of a question for A the second try came, twice; of that for AAAA none."""
    written(tmp_path, [asked(1, 4001, 7), asked(1, 4002, 7), asked(28, 4003, 8)])
    came = {"name": "server.test", "type": "A", "transport": "udp", "id": 7, "at_unix_s": 1.5}
    lines = [came | {"client": "10.0.0.1:4002"}] * 2
    report = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "questions.jsonl").write_text(report, encoding="utf-8")
    (flow,) = deploy(Setting.model_validate({"dns": {}})).flows
    assert question_columns(flow, tmp_path) == {"dns_queries": 3, "dns_lost": 2, "dns_retries": 1}
    (told,) = deploy(Setting()).flows
    assert question_columns(told, tmp_path) == {}


@pytest.mark.parametrize(("second_s", "lost"), [(1.04, 1), (6.02, 0)])
def test_a_copy_of_a_question_does_not_hide_that_the_retry_was_lost(
    tmp_path: Path, second_s: float, lost: int
) -> None:
    """The same client asks again after 5 s, with the same number from the same port."""
    written(tmp_path, [asked(1, 4001, 7), asked(1, 4001, 7)], every_s=5)
    came = {"name": "server.test", "type": "A", "transport": "udp", "id": 7}
    times = (1.02, second_s)
    lines = [came | {"client": "10.0.0.1:4001", "at_unix_s": at_s} for at_s in times]
    report = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "questions.jsonl").write_text(report, encoding="utf-8")
    (flow,) = deploy(Setting.model_validate({"dns": {"path": {"rtt": "40 ms"}}})).flows
    expected = {"dns_queries": 2, "dns_lost": lost, "dns_retries": 1}
    assert question_columns(flow, tmp_path) == expected


def test_behind_a_nat_questions_arrive_from_other_ports(tmp_path: Path) -> None:
    """Of two questions for A one came, and that for AAAA did."""
    written(tmp_path, [asked(1, 4001, 7), asked(28, 4001, 8), asked(1, 4002, 7)])
    came = {"name": "server.test", "transport": "udp", "at_unix_s": 1.5}
    lines = [
        came | {"type": kind, "id": number, "client": "10.0.1.1:20311"}
        for kind, number in (("A", 7), ("AAAA", 8))
    ]
    report = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "questions.jsonl").write_text(report, encoding="utf-8")
    (flow,) = deploy(Setting.model_validate({"dns": {"path": {"nat": True}}})).flows
    assert question_columns(flow, tmp_path) == {"dns_queries": 3, "dns_lost": 1, "dns_retries": 1}


def test_all_hosts_of_a_page_are_in_the_zone() -> None:
    page = {"kind": "page", "site": "sander-22"}
    raw = {"dns": {"cname": ["cdn.test"]}, "workload": page, "client": {"program": "chromium"}}
    setting = Setting.model_validate(raw)
    orders = orders_for(deploy(setting))
    names = json.loads(orders.files["/run/headway-dns.json"])["names"]
    first, *others = find_outline("sander-22").hosts
    assert names[first] == {"alias": "cdn.test"}
    assert others
    assert set(names) == {first, "cdn.test", *others}
    configuration = orders.files["/run/browser/client/configuration.json"]
    assert "host-resolver-rules" not in configuration
