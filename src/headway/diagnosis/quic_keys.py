"""Keys of QUIC packets (RFC 9001): of Initials, which everybody can make, and of a key log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, HashAlgorithm
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

_INITIAL_SALT = bytes.fromhex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a")
"""RFC 9001, section 5.2."""
_SAMPLE_BYTES = 16
_LONG_HEADER_BITS, _SHORT_HEADER_BITS = 0x0F, 0x1F
_FULL_NUMBER_BYTES = 4
"""A packet number's place is as long as it can be when the sample is taken (section 5.4.2)."""


@dataclass(frozen=True)
class PacketKeys:
    """What protects the packets that one endpoint sends at one encryption level.

    Attributes:
        secret: the traffic secret.
        cipher: AEAD with its header protection: ``aes`` or ``chacha20``.
        header_secret: the secret of header protection, if it is another one: a key update leaves that (section 6.1).
    """

    secret: bytes
    cipher: str = "aes"
    header_secret: bytes = b""

    @property
    def updated(self) -> PacketKeys:
        """The keys after the next key update (section 6.1)."""
        secret = expand_label(self._hash, self.secret, b"quic ku", len(self.secret))
        return PacketKeys(secret, self.cipher, self.header_secret or self.secret)

    @cached_property
    def _hash(self) -> HashAlgorithm:
        return SHA256() if len(self.secret) == 32 else SHA384()

    def _expanded(self, label: bytes, length: int) -> bytes:
        return expand_label(self._hash, self.secret, label, length)

    @property
    def _key_bytes(self) -> int:
        return 16 if self.cipher == "aes" and len(self.secret) == 32 else 32

    @cached_property
    def _aead(self) -> AESGCM | ChaCha20Poly1305:
        key = self._expanded(b"quic key", self._key_bytes)
        return AESGCM(key) if self.cipher == "aes" else ChaCha20Poly1305(key)

    def _mask(self, sample: bytes) -> bytes:
        """RFC 9001, sections 5.4.3 and 5.4.4."""
        secret = self.header_secret or self.secret
        key = expand_label(self._hash, secret, b"quic hp", self._key_bytes)
        if self.cipher == "aes":
            # A block of AES by itself is what header protection asks for.
            return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(sample)
        return Cipher(algorithms.ChaCha20(key, sample), None).encryptor().update(bytes(5))

    def opened(self, packet: bytes, number_at: int, expected: int = 0) -> tuple[int, bytes] | None:
        """Number and payload of a packet whose number is at a place; None if these are not its keys.

        Args:
            packet: the packet.
            number_at: where its number begins.
            expected: one more than the largest number before, which completes a shortened one.
        """
        sample = packet[number_at + _FULL_NUMBER_BYTES :][:_SAMPLE_BYTES]
        if len(sample) < _SAMPLE_BYTES:
            return None
        mask = self._mask(sample)
        bits = _LONG_HEADER_BITS if packet[0] & 0x80 else _SHORT_HEADER_BITS
        first = packet[0] ^ (mask[0] & bits)
        length = 1 + (first & 3)
        masked = packet[number_at : number_at + length]
        written = bytes(left ^ other for left, other in zip(masked, mask[1:], strict=False))
        number = whole_packet_number(int.from_bytes(written), 8 * length, expected)
        header = bytes([first]) + packet[1:number_at] + written
        iv = self._expanded(b"quic iv", 12)
        nonce = (int.from_bytes(iv) ^ number).to_bytes(12)
        try:
            return number, self._aead.decrypt(nonce, packet[number_at + length :], header)
        except InvalidTag:
            return None


def whole_packet_number(written: int, bits: int, expected: int) -> int:
    """A packet number of which the last bits are written: the one nearest to what is expected (RFC 9000, A.3)."""
    window = 1 << bits
    candidate = (expected & ~(window - 1)) | written
    if candidate <= expected - window // 2:
        return candidate + window
    if candidate > expected + window // 2 and candidate >= window:
        return candidate - window
    return candidate


def expand_label(algorithm: HashAlgorithm, secret: bytes, label: bytes, length: int) -> bytes:
    """HKDF-Expand-Label with an empty context (RFC 8446, section 7.1)."""
    name = b"tls13 " + label
    data = length.to_bytes(2) + bytes([len(name)]) + name + b"\0"
    return HKDFExpand(algorithm, length, data).derive(secret)


def initial_keys(connection_id: bytes, *, of_client: bool) -> PacketKeys:
    """Keys of Initials, from the connection ID to which a client sent its first one."""
    extract = HMAC(_INITIAL_SALT, SHA256())
    extract.update(connection_id)
    label = b"client in" if of_client else b"server in"
    return PacketKeys(expand_label(SHA256(), extract.finalize(), label, 32))


def logged_keys(log: str, *, of_client: bool) -> dict[str, tuple[PacketKeys, ...]]:
    """Candidates for what protects the packets of an endpoint, by their type, from a key log in NSS's format."""
    end = "CLIENT" if of_client else "SERVER"
    secrets = dict[str, list[bytes]]()
    for line in log.splitlines():
        words = line.split()
        if len(words) == 3:
            secrets.setdefault(words[0], []).append(bytes.fromhex(words[2]))
    labels = {
        "Handshake": f"{end}_HANDSHAKE_TRAFFIC_SECRET",
        "1-RTT": f"{end}_TRAFFIC_SECRET_0",
        "0-RTT": "CLIENT_EARLY_TRAFFIC_SECRET",
    }
    return {kind: tuple(_keys(secrets.get(label, ()))) for kind, label in labels.items()}


def _keys(secrets: Iterable[bytes]) -> Iterator[PacketKeys]:
    """The log does not tell the cipher: a secret of 48 bytes leaves one, of 32 bytes two."""
    for secret in secrets:
        yield PacketKeys(secret)
        if len(secret) == 32:
            yield PacketKeys(secret, "chacha20")
