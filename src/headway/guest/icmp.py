"""ICMP echo messages (RFC 792)."""

import struct

ECHO_REPLY, ECHO_REQUEST = 0, 8
FRAME_HEADER_BYTES = 14 + 20
"""Ethernet and IPv4 headers around a message."""

_HEADER = struct.Struct("!BBHHH")  # type, code, checksum, identifier, sequence number


def echo_request(identifier: int, sequence: int, frame_bytes: int) -> bytes:
    """An echo request, padded with zeros to fill a frame of so many bytes."""
    total = (ECHO_REQUEST << 8) + identifier + sequence
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    message = _HEADER.pack(ECHO_REQUEST, 0, checksum, identifier, sequence)
    return message.ljust(frame_bytes - FRAME_HEADER_BYTES, b"\0")
