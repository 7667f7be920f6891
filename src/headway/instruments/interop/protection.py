"""Packet protection of QUIC versions 1 and 2 (RFC 9001, RFC 9369), through all key updates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, HashAlgorithm
from cryptography.hazmat.primitives.hmac import HMAC

from headway.diagnosis.quic_keys import expand_label, whole_packet_number

VERSION_1, VERSION_2 = 0x00000001, 0x6B3343CF
_SALTS = {
    VERSION_1: bytes.fromhex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a"),
    VERSION_2: bytes.fromhex("0dede3def700a6db819381be6e269dcbf9bd2ed9"),
}
"""RFC 9001, section 5.2; RFC 9369, section 3.3.1."""
_LABELS = {VERSION_1: b"quic ", VERSION_2: b"quicv2 "}
_RETRY_KEYS = {
    VERSION_1: ("be0c690b9f66575a1d766b54e368c84e", "461599d35d632bf2239825bb"),
    VERSION_2: ("8fb4b01b56ac48e260fbcbcead7ccc92", "d86969bc2d7c6d9990efb04a"),
}
"""Key and nonce of the Retry Integrity Tag: RFC 9001, section 5.8; RFC 9369, section 3.3.3."""
_TAG_BYTES = 16
_SAMPLE_BYTES = 16
_FULL_NUMBER_BYTES = 4
_LONG_HEADER = 0x80
_PHASE = 0x04


@dataclass(frozen=True)
class Opened:
    """A packet without its protection.

    Attributes:
        number: its packet number.
        first: its first byte, whose lower bits the header protection hid.
        payload: its frames.
    """

    number: int
    first: int
    payload: bytes

    @property
    def phase(self) -> int:
        """The key phase of a packet with a short header (RFC 9000, section 17.3.1)."""
        return 1 if self.first & _PHASE else 0


@dataclass
class Protection:
    """What protects the packets that one endpoint sends at one encryption level.

    Attributes:
        secret: the traffic secret, of before the first key update.
        cipher: the AEAD with its header protection: ``aes`` or ``chacha20``.
        version: of QUIC.
    """

    secret: bytes
    cipher: str = "aes"
    version: int = VERSION_1

    def __post_init__(self) -> None:
        self._generations = [_Generation(self.secret, self.cipher, self.version)]
        self._latest = 0
        self.expected = 0

    @cached_property
    def _header_key(self) -> bytes:
        generation = self._generations[0]
        return generation.expanded(b"hp", generation.key_bytes)

    def _mask(self, sample: bytes) -> bytes:
        """RFC 9001, sections 5.4.3 and 5.4.4."""
        if self.cipher == "aes":
            # Header protection is a block of AES by itself.
            encryptor = Cipher(algorithms.AES(self._header_key), modes.ECB()).encryptor()
            return encryptor.update(sample)
        return (
            Cipher(algorithms.ChaCha20(self._header_key, sample), None).encryptor().update(bytes(5))
        )

    def opened(self, packet: bytes, number_at: int) -> Opened | None:
        """A packet whose number is at a place; None if these are not its keys.

        An endpoint's key updates are followed: a packet of the other phase is tried with the next keys, and with the
        ones before (RFC 9001, section 6).
        """
        sample = packet[number_at + _FULL_NUMBER_BYTES :][:_SAMPLE_BYTES]
        if len(sample) < _SAMPLE_BYTES:
            return None
        mask = self._mask(sample)
        is_long = bool(packet[0] & _LONG_HEADER)
        first = packet[0] ^ (mask[0] & (0x0F if is_long else 0x1F))
        length = 1 + (first & 3)
        written = bytes(
            left ^ right
            for left, right in zip(packet[number_at : number_at + length], mask[1:], strict=False)
        )
        number = whole_packet_number(int.from_bytes(written), 8 * length, self.expected)
        header = bytes([first]) + packet[1:number_at] + written
        for place in self._candidates(first, is_long=is_long):
            payload = self._generation(place).opened(number, packet[number_at + length :], header)
            if payload is not None:
                self._latest = max(self._latest, place)
                self.expected = max(self.expected, number + 1)
                return Opened(number, first, payload)
        return None

    def _candidates(self, first: int, *, is_long: bool) -> tuple[int, ...]:
        """Which generations of keys may have protected a packet."""
        if is_long:
            return (0,)
        if bool(first & _PHASE) == bool(self._latest & 1):
            return (self._latest,)
        return tuple(place for place in (self._latest + 1, self._latest - 1) if place >= 0)

    def _generation(self, place: int) -> _Generation:
        while len(self._generations) <= place:
            self._generations.append(self._generations[-1].next)
        return self._generations[place]


@dataclass
class _Generation:
    """The keys between two key updates."""

    secret: bytes
    cipher: str
    version: int

    @cached_property
    def _hash(self) -> HashAlgorithm:
        return SHA256() if len(self.secret) == 32 else SHA384()

    def expanded(self, label: bytes, length: int) -> bytes:
        return expand_label(self._hash, self.secret, _LABELS[self.version] + label, length)

    @property
    def key_bytes(self) -> int:
        return 16 if self.cipher == "aes" and len(self.secret) == 32 else 32

    @cached_property
    def _aead(self) -> AESGCM | ChaCha20Poly1305:
        key = self.expanded(b"key", self.key_bytes)
        return AESGCM(key) if self.cipher == "aes" else ChaCha20Poly1305(key)

    @cached_property
    def _iv(self) -> int:
        return int.from_bytes(self.expanded(b"iv", 12))

    @property
    def next(self) -> _Generation:
        """Those behind the next key update (RFC 9001, section 6.1)."""
        return _Generation(self.expanded(b"ku", len(self.secret)), self.cipher, self.version)

    def opened(self, number: int, sealed: bytes, header: bytes) -> bytes | None:
        try:
            return self._aead.decrypt((self._iv ^ number).to_bytes(12), sealed, header)
        except InvalidTag:
            return None


def initial_protection(connection_id: bytes, version: int, *, of_client: bool) -> Protection:
    """Protection of Initials, from the connection ID to which a client sent its first one."""
    extract = HMAC(_SALTS[version], SHA256())
    extract.update(connection_id)
    label = b"client in" if of_client else b"server in"
    return Protection(expand_label(SHA256(), extract.finalize(), label, 32), "aes", version)


def is_whole_retry(packet: bytes, version: int, original_id: bytes) -> bool:
    """Whether a Retry is what a server sent in answer to an Initial to a connection ID (RFC 9001, section 5.8)."""
    if version not in _RETRY_KEYS or len(packet) < _TAG_BYTES:
        return False
    key, nonce = map(bytes.fromhex, _RETRY_KEYS[version])
    pseudo = bytes([len(original_id)]) + original_id + packet[:-_TAG_BYTES]
    return AESGCM(key).encrypt(nonce, b"", pseudo) == packet[-_TAG_BYTES:]


def is_known(version: int) -> bool:
    """Whether packets of a version of QUIC can be opened."""
    return version in _SALTS
