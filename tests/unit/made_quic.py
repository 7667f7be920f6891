"""Made QUIC connections: packets sealed by the rules of RFC 9001, in captures as a lab writes them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from headway.diagnosis.quic_keys import expand_label

CLIENT, SERVER = "10.0.0.1", "10.0.2.2"
CLIENT_ID, SERVER_ID, FIRST_ID = b"\xc1" * 8, b"\x5e" * 8, b"\xf0" * 8
RANDOM = bytes(range(32))
SECRETS = {
    "CLIENT_HANDSHAKE_TRAFFIC_SECRET": b"\x01" * 32,
    "SERVER_HANDSHAKE_TRAFFIC_SECRET": b"\x02" * 32,
    "CLIENT_TRAFFIC_SECRET_0": b"\x03" * 32,
    "SERVER_TRAFFIC_SECRET_0": b"\x04" * 32,
    "CLIENT_EARLY_TRAFFIC_SECRET": b"\x05" * 32,
}
KEY_LOG = "".join(f"{label} {RANDOM.hex()} {secret.hex()}\n" for label, secret in SECRETS.items())
_SALT = bytes.fromhex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a")
_KINDS = {"Initial": 0, "0-RTT": 1, "Handshake": 2}
HELLO = bytes([1, 0, 0, 0x29]) + b"\x03\x03" + RANDOM + b"\x00\x00\x02\x13\x01\x01\x00"
FINISHED = bytes([20, 0, 0, 4]) + b"done"
"""A ClientHello that offers TLS_AES_128_GCM_SHA256, and a Finished."""


def integer(value: int) -> bytes:
    """An integer of variable length, in two or four bytes."""
    if value < 0x4000:
        return (value | 0x4000).to_bytes(2)
    return (value | 0x80000000).to_bytes(4)


def crypto(data: bytes, offset: int = 0) -> bytes:
    return b"\x06" + integer(offset) + integer(len(data)) + data


def sealed(
    secret: bytes, first: int, header: bytes, number: int, payload: bytes, updates: int = 0
) -> bytes:
    """A packet with AES-128-GCM, whose number has two bytes, after some key updates."""
    name = SHA256()
    mask_key = expand_label(name, secret, b"quic hp", 16)
    for _ in range(updates):
        secret = expand_label(name, secret, b"quic ku", 32)
    key, iv = (
        expand_label(name, secret, f"quic {what}".encode(), size)
        for what, size in (("key", 16), ("iv", 12))
    )
    written = number.to_bytes(2)
    whole = bytes([first | 1]) + header + written
    nonce = (int.from_bytes(iv) ^ number).to_bytes(12)
    box = AESGCM(key).encrypt(nonce, payload + bytes(max(4 - len(payload), 0)), whole)
    mask = Cipher(algorithms.AES(mask_key), modes.ECB()).encryptor().update(box[2:18])
    bits = 0x0F if first & 0x80 else 0x1F
    hidden = bytes([whole[0] ^ (mask[0] & bits)])
    return hidden + header + bytes(a ^ b for a, b in zip(written, mask[1:3], strict=True)) + box


@dataclass
class MadeConnection:
    """Datagrams of a connection, as frames of Ethernet with their times in ms."""

    frames: list[tuple[int, bytes]] = field(default_factory=list)
    _numbers: dict[tuple[bool, str], int] = field(default_factory=dict)

    def send(
        self,
        at_ms: int,
        kind: str,
        *payloads: bytes,
        of_client: bool,
        client: tuple[str, int] = (CLIENT, 40000),
        server: tuple[str, int] = (SERVER, 443),
        updates: int = 0,
        token: bytes = b"",
        destination: bytes | None = None,
        ecn: int = 2,
        version: int = 1,
    ) -> bytes:
        """Send a packet in a datagram of its own; returns that."""
        number = self._numbers.get((of_client, kind), 0)
        self._numbers[of_client, kind] = number + 1
        datagram = self._packet(
            kind, b"".join(payloads), number, of_client, updates, token, destination, version
        )
        self.raw(at_ms, datagram, of_client=of_client, client=client, server=server, ecn=ecn)
        return datagram

    def raw(
        self,
        at_ms: int,
        datagram: bytes,
        *,
        of_client: bool,
        client: tuple[str, int] = (CLIENT, 40000),
        server: tuple[str, int] = (SERVER, 443),
        ecn: int = 0,
    ) -> None:
        ends = (client, server) if of_client else (server, client)
        self.frames.append((at_ms * 10**6, framed(*ends, datagram, ecn)))

    def _packet(
        self,
        kind: str,
        payload: bytes,
        number: int,
        of_client: bool,
        updates: int,
        token: bytes,
        destination: bytes | None,
        version: int,
    ) -> bytes:
        to, own = (SERVER_ID, CLIENT_ID) if of_client else (CLIENT_ID, SERVER_ID)
        end = "CLIENT" if of_client else "SERVER"
        if kind == "1-RTT":
            first = 0x40 | (0x04 if updates % 2 else 0)
            secret = SECRETS[f"{end}_TRAFFIC_SECRET_0"]
            return sealed(secret, first, destination or to, number, payload, updates)
        if kind == "Initial":
            to = (destination or FIRST_ID) if of_client else to
            secret = initial_secret(destination or FIRST_ID, of_client=of_client)
        elif kind == "0-RTT":
            to, secret = FIRST_ID, SECRETS["CLIENT_EARLY_TRAFFIC_SECRET"]
        else:
            secret = SECRETS[f"{end}_HANDSHAKE_TRAFFIC_SECRET"]
        payload += bytes(max(4 - len(payload), 0))
        head = version.to_bytes(4) + bytes([len(to)]) + to + bytes([len(own)]) + own
        if kind == "Initial":
            head += integer(len(token)) + token
        head += integer(2 + len(payload) + 16)
        return sealed(secret, 0xC0 | _KINDS[kind] << 4, head, number, payload)

    def shake(
        self, at_ms: int = 0, *, hello: bytes = HELLO, extensions: bytes = b"\x00\x00"
    ) -> None:
        """A whole handshake."""
        server_messages = (
            bytes([8]) + len(extensions).to_bytes(3) + extensions + bytes([11, 0, 0, 2, 0, 0])
        )
        self.send(at_ms, "Initial", crypto(hello), of_client=True)
        self.send(at_ms + 30, "Initial", crypto(bytes([2, 0, 0, 2, 3, 3])), of_client=False)
        self.send(at_ms + 31, "Handshake", crypto(server_messages), of_client=False)
        self.send(at_ms + 32, "Handshake", crypto(FINISHED), of_client=True)


def retry(token: bytes = b"token", identity: bytes = FIRST_ID) -> bytes:
    """A Retry with its integrity tag (RFC 9001, section 5.8)."""
    ids = bytes([len(CLIENT_ID)]) + CLIENT_ID + bytes([len(SERVER_ID)]) + SERVER_ID
    packet = bytes([0xF0]) + (1).to_bytes(4) + ids + token
    key = bytes.fromhex("be0c690b9f66575a1d766b54e368c84e")
    nonce = bytes.fromhex("461599d35d632bf2239825bb")
    return packet + AESGCM(key).encrypt(nonce, b"", bytes([len(identity)]) + identity + packet)


def initial_secret(identity: bytes, *, of_client: bool) -> bytes:
    extract = HMAC(_SALT, SHA256())
    extract.update(identity)
    return expand_label(
        SHA256(), extract.finalize(), b"client in" if of_client else b"server in", 32
    )


def framed(
    source: tuple[str, int], destination: tuple[str, int], content: bytes, ecn: int
) -> bytes:
    """A datagram in an Ethernet frame, without checksums, which nobody reads."""
    udp = struct.pack("!HHHH", source[1], destination[1], 8 + len(content), 0) + content
    addresses = [ip_address(end[0]) for end in (source, destination)]
    packed = b"".join(address.packed for address in addresses)
    if addresses[0].version == 6:
        return (
            bytes(14) + struct.pack("!IHBB", 6 << 28 | ecn << 20, len(udp), 17, 64) + packed + udp
        )
    head = struct.pack("!BBHHHBBH", 0x45, ecn, 20 + len(udp), 0, 0, 64, 17, 0)
    return bytes(14) + head + packed + udp


def write_pcap(file: Path, frames: Sequence[tuple[int, bytes]]) -> None:
    """A capture as tcpdump writes it here."""
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    for at_ns, frame in frames:
        data += struct.pack("<IIII", at_ns // 10**9, at_ns % 10**9, len(frame), len(frame)) + frame
    file.write_bytes(data)
