from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.lab.pcapng import CaptureError, to_pcapng


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
    to_pcapng(directory / "c.pcap", None, directory / "c.pcapng")
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
    to_pcapng(tmp_path / "c.pcap", tmp_path / "keys", tmp_path / "c.pcapng")
    kinds = [kind for kind, _ in blocks((tmp_path / "c.pcapng").read_bytes())]
    assert kinds == [0x0A0D0D0A, 1, 0x0A, 6]


def test_an_unfinished_packet_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "c.pcap").write_bytes(pcap([(5, b"whole"), (6, b"torn")])[:-2])
    to_pcapng(tmp_path / "c.pcap", None, tmp_path / "c.pcapng")
    assert len(blocks((tmp_path / "c.pcapng").read_bytes())) == 3


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.pcap").write_bytes(b"not a capture at all, but long enough")
    with pytest.raises(CaptureError, match="not a pcap file"):
        to_pcapng(tmp_path / "c.pcap", None, tmp_path / "c.pcapng")
