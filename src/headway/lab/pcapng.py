"""Captures as pcapng with the TLS secrets inside, so that Wireshark shows HTTP and QUIC frames.

tcpdump writes pcap; the blocks around its packets are those of the pcapng specification
(draft-ietf-opsawg-pcapng): section header, interface description, decryption secrets, enhanced
packets.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from headway.contract.artifact import read_bytes
from headway.errors import HeadwayError

_PCAP_NANOSECONDS = 0xA1B23C4D
_SECTION, _INTERFACE, _SECRETS, _PACKET = 0x0A0D0D0A, 1, 0x0000000A, 6
_BYTE_ORDER = 0x1A2B3C4D
_TLS_KEY_LOG = 0x544C534B
_LEAST_BLOCK_BYTES = 12
_ETHERNET = 1
_OPTION_NAME, _OPTION_RESOLUTION = 2, 9


class CaptureError(HeadwayError):
    """A file is not a capture as tcpdump writes it here."""


def to_pcapng(capture: Path, secrets: Iterable[Path], target: Path) -> None:
    """Write a capture as pcapng.

    Args:
        capture: pcap file with nanosecond time stamps; an unfinished last packet is left out.
        secrets: TLS key log files (NSS format), of which some may not be there; each becomes a block.
        target: the pcapng file; replaced if it exists.

    Raises:
        CaptureError: the capture is not such a file.
    """
    data = read_bytes(capture)
    if len(data) < 24 or struct.unpack_from("<I", data)[0] != _PCAP_NANOSECONDS:
        raise CaptureError(f"{capture}: not a pcap file with nanosecond time stamps")
    with target.open("wb") as out:
        out.write(_block(_SECTION, struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1)))
        out.write(_block(_INTERFACE, _interface(capture.stem)))
        for file in secrets:
            if not file.exists():
                continue
            text = read_bytes(file)
            out.write(_block(_SECRETS, struct.pack("<II", _TLS_KEY_LOG, len(text)) + _padded(text)))
        for time_ns, length, packet in _packets(data):
            header = struct.pack(
                "<IIIII", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(packet), length
            )
            out.write(_block(_PACKET, header + _padded(packet)))


def read_pcapng(file: Path) -> Iterator[tuple[int, bytes]]:
    """Times in nanoseconds and frames of a capture that `to_pcapng` wrote."""
    data = read_bytes(file)
    offset = 0
    while offset + 8 <= len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        if length < _LEAST_BLOCK_BYTES:
            raise CaptureError(f"{file}: a block of {length} bytes")
        if kind == _PACKET:
            high, low, captured = struct.unpack_from("<III", data, offset + 12)
            yield (high << 32) + low, data[offset + 28 : offset + 28 + captured]
        offset += length


def _packets(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    offset = 24
    while offset + 16 <= len(data):
        seconds, nanoseconds, captured, length = struct.unpack_from("<IIII", data, offset)
        packet = data[offset + 16 : offset + 16 + captured]
        if len(packet) < captured:
            return
        yield seconds * 10**9 + nanoseconds, length, packet
        offset += 16 + captured


def _interface(name: str) -> bytes:
    options = _option(_OPTION_NAME, name.encode()) + _option(_OPTION_RESOLUTION, b"\x09")
    return struct.pack("<HHI", _ETHERNET, 0, 0) + options + struct.pack("<HH", 0, 0)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)
