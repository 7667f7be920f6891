"""What is captured for pacing, and which of its packets count."""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from headway.contract.names import SAMPLES_FILE
from headway.contract.samples import TCP_FIELDS, QueueStats, SamplesHeader
from headway.diagnosis.departures import (
    BOTTLENECK_FILE,
    SENDER_FILE,
    keep_departures,
    read_departures,
)
from headway.lab.assemble import orders_for
from headway.lab.pcapng import to_pcapng
from headway.planning.deploy import deploy
from headway.planning.deployment import Deployment
from headway.planning.narrowlink import narrow_link
from headway.study.setting import Setting
from tests.unit.test_pcapng import pcap

RATE = {"path": {"rate": "10 Mbit/s", "rtt": "40 ms"}}
PACING = {"capture": {"pacing": True}}
EPOCH_S = 1_700_000_000
SERVER, CLIENT = "10.0.2.2", "10.0.0.1"


def deployed(raw: dict[str, Any]) -> Deployment:
    return deploy(Setting.model_validate(raw), 1)


def captured(raw: dict[str, Any]) -> list[tuple[str, str, str]]:
    orders = orders_for(deployed(raw))
    return [(one.namespace, one.device, one.file) for one in orders.captures]


def frame(source: str, destination: str, segment: bytes, protocol: int) -> bytes:
    length = 20 + len(segment)
    ends = socket.inet_aton(source) + socket.inet_aton(destination)
    head = struct.pack("!BBHHHBBH", 0x45, 0, length, 0, 0, 64, protocol, 0) + ends
    return bytes(12) + b"\x08\x00" + head + segment


def tcp(source: str, destination: str, payload: int, port: int = 40_000) -> bytes:
    ports = (443, port) if source == SERVER else (port, 443)
    head = struct.pack("!HHIIBBHHH", *ports, 1, 1, 5 << 4, 0x10, 9, 0, 0)
    return frame(source, destination, head + bytes(payload), 6)


def quic(first: int, payload: int) -> bytes:
    body = bytes([first]) + bytes(payload - 1)
    head = struct.pack("!HHHH", 443, 40_000, 8 + payload, 0)
    return frame(SERVER, CLIENT, head + body, 17)


def kept(
    tmp_path: Path, raw: dict[str, Any], frames: list[tuple[int, bytes]]
) -> list[tuple[list[int], list[int]]]:
    """Times and sizes of each connection at the sender, of a capture of these frames."""
    times = [(EPOCH_S * 10**9 + at_ns, one) for at_ns, one in frames]
    for name in ("server", "link0b-up"):
        (tmp_path / f"{name}.pcap").write_bytes(pcap(times))
        to_pcapng(tmp_path / f"{name}.pcap", (), tmp_path / f"{name}.pcapng")
    header = SamplesHeader(EPOCH_S * 10**9, (), (), QueueStats._fields, TCP_FIELDS)
    (tmp_path / SAMPLES_FILE).write_text(json.dumps(asdict(header)) + "\n")
    keep_departures(deployed(raw), tmp_path)
    found = read_departures(tmp_path, SENDER_FILE)
    return [(one.at_ns.tolist(), one.bytes.tolist()) for one in found]


def test_the_sender_and_the_narrowest_links_entry_are_captured() -> None:
    assert captured(RATE | PACING) == [
        ("server", "server-down", "server.pcap"),
        ("link0b", "link0b-up", "link0b-up.pcap"),
    ]
    assert captured(RATE) == []


def test_of_several_links_the_narrowest_one_and_how_long_packets_take_to_it() -> None:
    link = {"rate": "10 Mbit/s", "delay": "3 ms"}
    raw = {"path": {"links": [link, {"rate": "100 Mbit/s", "delay": "7 ms"}]}} | PACING
    assert [one[0] for one in captured(raw)] == ["server", "link0b"]
    found = narrow_link(deployed(raw).only)
    assert found is not None and (found.rate.mbit, found.lag.ms) == (10, 7)


def test_with_a_proxy_it_is_who_sends_over_that_link() -> None:
    proxy = {"program": "envoy", "upstream": {"path": {"rate": "5 Mbit/s", "rtt": "10 ms"}}}
    assert [one[0] for one in captured(RATE | PACING | {"proxy": proxy})] == ["server", "link1b"]
    proxy["upstream"] = {"path": {"rate": "50 Mbit/s", "rtt": "10 ms"}}
    assert captured(RATE | PACING | {"proxy": proxy})[0] == ("proxy", "proxy-down", "proxy.pcap")


def test_no_device_is_captured_twice() -> None:
    both = captured(RATE | {"capture": {"pacing": True, "packets": True}})
    assert both == [
        ("client", "client-up", "client.pcap"),
        ("server", "server-down", "server.pcap"),
        ("link0b", "link0b-up", "link0b-up.pcap"),
    ]


def test_flows_have_their_senders_and_the_link_once() -> None:
    flows = {"flows": {"one": {}, "two": {"protocol": "h3"}}}
    devices = [one[1] for one in captured(RATE | PACING | flows)]
    assert len(devices) == len(set(devices)) == 3


def test_without_a_constant_rate_nothing_is_captured() -> None:
    assert captured({"path": {"rtt": "40 ms"}} | PACING) == []


def test_of_uploads_nothing_is_captured() -> None:
    ends = {role: {"program": "headway-perf"} for role in ("client", "server")}
    bulk = {"kind": "bulk", "duration": "1 s", "direction": "upload"}
    upload = RATE | PACING | ends | {"protocol": "tcp", "workload": bulk}
    assert captured(upload) == []
    assert captured(upload | {"workload": bulk | {"direction": "download"}})


def test_what_the_server_sends_with_data_counts(tmp_path: Path) -> None:
    frames = [
        (1000, tcp(SERVER, CLIENT, 0)),
        (2000, tcp(SERVER, CLIENT, 1448)),
        (2000, tcp(CLIENT, SERVER, 100)),
        (3000, tcp("10.0.9.9", CLIENT, 1448)),
        (4000, quic(0x40, 1200)),
        (5000, tcp(SERVER, CLIENT, 10)),
    ]
    assert kept(tmp_path, RATE | PACING, frames) == [([2000, 5000], [1502, 64])]
    assert read_departures(tmp_path, BOTTLENECK_FILE)[0].at_ns.tolist() == [2000, 5000]
    assert not list(tmp_path.glob("*.pcapng"))


def test_of_quic_neither_the_handshake_nor_acknowledgments(tmp_path: Path) -> None:
    frames = [(1, quic(0xC0, 1200)), (2, quic(0x40, 1200)), (3, quic(0x40, 40))]
    found = kept(tmp_path, RATE | PACING | {"protocol": "h3"}, frames)
    assert found == [([2], [1200 + 42])]


def test_connections_are_told_apart(tmp_path: Path) -> None:
    ports = (40_000, 40_001, 40_000)
    frames = [(at, tcp(SERVER, CLIENT, 1448, port)) for at, port in enumerate(ports)]
    found = kept(tmp_path, RATE | PACING, frames)
    assert [times for times, _ in found] == [[0, 2], [1]]


def test_what_is_larger_than_a_frame_is_several_at_once(tmp_path: Path) -> None:
    found = kept(tmp_path, RATE | PACING, [(7, tcp(SERVER, CLIENT, 4000))])
    assert found == [([7, 7, 7], [1514, 1514, 54 + 4000 - 2 * 1514])]


def test_captures_that_are_asked_for_stay(tmp_path: Path) -> None:
    both = RATE | {"capture": {"pacing": True, "packets": True}}
    assert kept(tmp_path, both, [(7, tcp(SERVER, CLIENT, 1000))])
    assert len(list(tmp_path.glob("*.pcapng"))) == 2


def test_captures_that_missed_packets_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / "tcpdump-server-down.err").write_text("3 packets dropped by kernel\n")
    assert kept(tmp_path, RATE | PACING, [(7, tcp(SERVER, CLIENT, 1000))]) == []
    assert read_departures(tmp_path, BOTTLENECK_FILE)


@pytest.mark.parametrize("pacing", [True, False])
def test_only_who_asks_for_it_has_another_setting(pacing: bool) -> None:
    plain = Setting.model_validate({}).model_dump_json()
    asked = Setting.model_validate({"capture": {"pacing": pacing}}).model_dump_json()
    assert (asked == plain) is not pacing
