"""What QUIC packets carry: the samples of RFC 9001, appendix A, and frames by their layout in RFC 9000."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.quic_carried import QuicReader
from headway.diagnosis.quic_frames import frames
from headway.diagnosis.quic_keys import PacketKeys, initial_keys

_CLIENT_ID = bytes.fromhex("8394c8f03e515708")
_SERVER_INITIAL = bytes.fromhex(
    "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb3"
    "8cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84"
    "022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee"
)
"""Appendix A.3."""
_CHACHA_SECRET = bytes.fromhex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b")
_CHACHA_PACKET = bytes.fromhex("4cfe4189655e5cd55c41f69080575d7999c25a5bfb")
"""Appendix A.5: a packet of number 654360564 that carries PING."""


def test_a_servers_initial_is_opened_by_the_clients_connection_id() -> None:
    keys = initial_keys(_CLIENT_ID, of_client=False)
    number_at = 18
    opened = keys.opened(_SERVER_INITIAL, number_at)
    assert opened is not None
    number, payload = opened
    assert number == 1
    assert frames(payload) == ("ACK", "CRYPTO (ServerHello)")
    assert initial_keys(_CLIENT_ID, of_client=True).opened(_SERVER_INITIAL, number_at) is None


def test_a_shortened_number_is_completed_by_what_came_before() -> None:
    keys = PacketKeys(_CHACHA_SECRET, "chacha20")
    assert keys.opened(_CHACHA_PACKET, 1, 654360560) == (654360564, b"\x01")
    assert keys.opened(_CHACHA_PACKET, 1, 0) is None


def test_without_keys_a_packet_is_told_by_its_type() -> None:
    reader = QuicReader("")
    assert [str(one) for one in reader.packets(_SERVER_INITIAL, of_client=False)] == ["Initial"]
    assert [str(one) for one in reader.packets(b"\x40" * 30, of_client=True)] == ["1-RTT"]


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        (b"\x01" + bytes(20), ("PING",)),
        (b"\x02\x05\x00\x01\x00\x01\x02\x01", ("ACK", "PING")),
        (b"\x03\x05\x00\x00\x00\x01\x02\x03\x1e", ("ACK", "HANDSHAKE_DONE")),
        (
            b"\x06\x00\x05\x08\x00\x00\x01\xff\x1e",
            ("CRYPTO (EncryptedExtensions)", "HANDSHAKE_DONE"),
        ),
        (b"\x06\x40\x64\x01\xff", ("CRYPTO (from byte 100)",)),
        (b"\x0b\x04\x03abc", ("STREAM 4 FIN",)),
        (b"\x0c\x00\x05abc", ("STREAM 0",)),
        (b"\x18\x01\x00\x04abcd" + bytes(16) + b"\x10\x05", ("NEW_CONNECTION_ID", "MAX_DATA")),
        (b"\x1c\x0a\x00\x02no", ("CONNECTION_CLOSE",)),
        (b"\x07\x02ab\x1a" + bytes(8), ("NEW_TOKEN", "PATH_CHALLENGE")),
        (b"\x40\xaf\x01\x02\x03\x04\x1f", ("ACK_FREQUENCY", "IMMEDIATE_ACK")),
        (b"\x3f\x01", ("frame 0x3f",)),
    ],
)
def test_frames_are_told_by_their_names(payload: bytes, told: tuple[str, ...]) -> None:
    assert frames(payload) == told


@given(datagrams=st.lists(st.tuples(st.binary(max_size=80), st.booleans()), max_size=4))
def test_any_bytes_are_told_without_an_error(datagrams: list[tuple[bytes, bool]]) -> None:
    reader = QuicReader("CLIENT_HANDSHAKE_TRAFFIC_SECRET 00 " + "11" * 32)
    for datagram, of_client in datagrams:
        for one in reader.packets(datagram, of_client=of_client):
            assert str(one)
