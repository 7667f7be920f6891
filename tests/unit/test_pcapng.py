from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.lab.captures import convert_captures
from headway.lab.pcapng import CaptureError, to_pcapng
from headway.planning.deploy import deploy
from headway.programs.base import SECRETS_FILE
from headway.study.load import study_from


def pcap(packets: list[tuple[int, bytes]]) -> bytes:
    """A capture as tcpdump writes it with nanosecond time stamps."""
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    for time_ns, packet in packets:
        head = (time_ns // 10**9, time_ns % 10**9, len(packet), len(packet))
        data += struct.pack("<IIII", *head) + packet
    return data


def blocks(data: bytes) -> list[tuple[int, bytes]]:
    """Type and body of the blocks of a pcapng file; checks both lengths of each."""
    found, offset = [], 0
    while offset < len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        assert length % 4 == 0
        assert struct.unpack_from("<I", data, offset + length - 4)[0] == length
        found.append((kind, data[offset + 8 : offset + length - 4]))
        offset += length
    return found


@given(st.lists(st.tuples(st.integers(0, 2**32 * 10**9 - 1), st.binary(max_size=99)), max_size=9))
def test_packets_and_times_survive(
    tmp_path_factory: pytest.TempPathFactory, packets: list[tuple[int, bytes]]
) -> None:
    directory = tmp_path_factory.mktemp("capture")
    (directory / "c.pcap").write_bytes(pcap(packets))
    to_pcapng(directory / "c.pcap", (), directory / "c.pcapng")
    found = blocks((directory / "c.pcapng").read_bytes())
    assert [kind for kind, _ in found[:2]] == [0x0A0D0D0A, 1]
    seen = []
    for kind, body in found[2:]:
        assert kind == 6
        _, high, low, captured, length = struct.unpack_from("<IIIII", body)
        assert captured == length
        seen.append(((high << 32) + low, body[20 : 20 + captured]))
    assert seen == packets


def test_secrets_stand_before_the_packets(tmp_path: Path) -> None:
    (tmp_path / "c.pcap").write_bytes(pcap([(5, b"x")]))
    (tmp_path / "keys").write_bytes(b"CLIENT_RANDOM 00 11\n")
    to_pcapng(tmp_path / "c.pcap", [tmp_path / "keys"], tmp_path / "c.pcapng")
    kinds = [kind for kind, _ in blocks((tmp_path / "c.pcapng").read_bytes())]
    assert kinds == [0x0A0D0D0A, 1, 0x0A, 6]


def test_an_unfinished_packet_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "c.pcap").write_bytes(pcap([(5, b"whole"), (6, b"torn")])[:-2])
    to_pcapng(tmp_path / "c.pcap", (), tmp_path / "c.pcapng")
    assert len(blocks((tmp_path / "c.pcapng").read_bytes())) == 3


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.pcap").write_bytes(b"not a capture at all, but long enough")
    with pytest.raises(CaptureError, match="not a pcap file"):
        to_pcapng(tmp_path / "c.pcap", (), tmp_path / "c.pcapng")


@pytest.mark.parametrize(
    "workload",
    [
        {"workload": {"size": "10 kB"}},
        {
            "flows": {
                name: {"protocol": "tcp", "workload": {"kind": "bulk", "duration": "1 s"}}
                for name in ("left", "right")
            }
        },
    ],
    ids=["one flow", "two flows"],
)
def test_captures_have_the_secrets_of_every_flow(tmp_path: Path, workload: dict[str, Any]) -> None:
    told = {"name": "s", "path": {"rate": "9 Mbit/s", "rtt": "10 ms"}, **workload}
    (experiment,) = study_from(told).experiments
    contender = next(iter(experiment.contenders))
    flows = deploy(experiment.setting({}, contender), 1).flows
    for flow in flows:
        (tmp_path / flow.directory).mkdir(parents=True, exist_ok=True)
        secret = f"CLIENT_RANDOM {flow.directory} 11\n"
        (tmp_path / flow.directory / SECRETS_FILE).write_text(secret)
    for host in ("client", "server"):
        (tmp_path / f"{host}.pcap").write_bytes(pcap([(5, b"x")]))
    convert_captures(tmp_path, flows)
    for host in ("client", "server"):
        found = blocks((tmp_path / f"{host}.pcapng").read_bytes())
        secrets = [body for kind, body in found if kind == 0x0A]
        assert len(secrets) == len(flows)
        for flow, body in zip(flows, secrets, strict=True):
            assert f"CLIENT_RANDOM {flow.directory} 11".encode() in body
