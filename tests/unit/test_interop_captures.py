"""Captures of QUIC opened: samples of RFC 9001 and RFC 9369, key updates, several connections, spoilt packets."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from headway.instruments.interop.connection import HANDSHAKE, INITIAL, ONE_RTT, key_log
from headway.instruments.interop.datagram import datagrams
from headway.instruments.interop.frames import (
    ACK_ECN,
    CONNECTION_CLOSE,
    CRYPTO,
    PATH_CHALLENGE,
    QuicFrame,
    parsed,
)
from headway.instruments.interop.handshake import CryptoStream, cipher_suites, transport_parameters
from headway.instruments.interop.protection import (
    VERSION_1,
    VERSION_2,
    Protection,
    initial_protection,
    is_whole_retry,
)
from headway.instruments.interop.trace import CapturedQuic
from tests.unit.made_quic import HELLO, KEY_LOG, SERVER, MadeConnection, crypto

_FIRST_ID = bytes.fromhex("8394c8f03e515708")
_SERVER_INITIAL = bytes.fromhex(
    "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb3"
    "8cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84"
    "022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee"
)
"""RFC 9001, appendix A.3."""
_CHACHA_SECRET = bytes.fromhex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b")
_CHACHA_PACKET = bytes.fromhex("4cfe4189655e5cd55c41f69080575d7999c25a5bfb")
"""Appendix A.5: number 654360564, PING."""
_CHACHA_PACKET_2 = bytes.fromhex("5558b1c60ae7b6b932bc27d786f4bc2bb20f2162ba")
"""RFC 9369, appendix A.5: the same in version 2."""


def captured(*made: MadeConnection, log: str = KEY_LOG) -> CapturedQuic:
    frames = sorted((frame for each in made for frame in each.frames), key=lambda pair: pair[0])
    return CapturedQuic.read(datagrams(frames, frozenset({SERVER})), key_log(log))


def test_the_samples_of_version_1_are_opened() -> None:
    opened = initial_protection(_FIRST_ID, VERSION_1, of_client=False).opened(_SERVER_INITIAL, 18)
    assert opened is not None
    assert opened.number == 1
    assert [frame.kind for frame in parsed(opened.payload)] == [2, CRYPTO]
    protection = Protection(_CHACHA_SECRET, "chacha20")
    protection.expected = 654360560
    opened = protection.opened(_CHACHA_PACKET, 1)
    assert opened is not None
    assert (opened.number, opened.payload) == (654360564, b"\x01")


def test_the_sample_of_version_2_is_opened_by_its_labels_alone() -> None:
    for version, opens in ((VERSION_2, True), (VERSION_1, False)):
        protection = Protection(_CHACHA_SECRET, "chacha20", version)
        protection.expected = 654360560
        assert (protection.opened(_CHACHA_PACKET_2, 1) is not None) is opens


def test_the_samples_of_retries_are_whole() -> None:
    """RFC 9001, appendix A.4; RFC 9369, appendix A.4."""
    first = bytes.fromhex(
        "ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba"
    )
    second = bytes.fromhex(
        "cf6b3343cf0008f067a5502a4262b5746f6b656ec8646ce8bfe33952d955543665dcc7b6"
    )
    assert is_whole_retry(first, VERSION_1, _FIRST_ID)
    assert is_whole_retry(second, VERSION_2, _FIRST_ID)
    assert not is_whole_retry(first, VERSION_1, b"")
    assert not is_whole_retry(first[:-1] + b"\0", VERSION_1, _FIRST_ID)


def test_a_connection_is_opened_with_the_key_log_and_told_by_its_random_number() -> None:
    made = MadeConnection()
    made.shake()
    made.send(60, "1-RTT", b"\x1a12345678", of_client=False)
    trace = captured(made)
    (connection,) = trace.connections
    assert trace.has_keys
    assert [packet.kind for packet in connection.packets] == [
        INITIAL,
        INITIAL,
        HANDSHAKE,
        HANDSHAKE,
        ONE_RTT,
    ]
    assert not any(packet.is_sealed for packet in connection.packets)
    assert connection.packets[-1].frames == (QuicFrame(PATH_CHALLENGE, (), b"12345678"),)
    other = KEY_LOG.replace("00010203", "ff010203")
    assert not captured(made, log=other).has_keys
    assert not captured(made, log="").has_keys


def test_key_updates_of_both_sides_are_followed_also_out_of_order() -> None:
    made = MadeConnection()
    made.shake()
    for at_ms, updates in ((60, 0), (61, 1), (62, 0), (63, 1), (64, 2), (65, 3)):
        made.send(at_ms, "1-RTT", b"\x01", of_client=True, updates=updates)
    packets = captured(made).of(ONE_RTT, of_client=True)
    assert [packet.opened and packet.opened.phase for packet in packets] == [0, 1, 0, 1, 0, 1]
    assert [packet.opened and packet.opened.number for packet in packets] == list(range(6))


def test_a_spoilt_initial_begins_no_connection_and_spoils_none() -> None:
    made = MadeConnection()
    datagram = bytearray(made.send(0, "Initial", crypto(HELLO), of_client=True))
    datagram[8] ^= 0xFF
    made.frames.clear()
    made.raw(0, bytes(datagram), of_client=True)
    made.shake(10)
    trace = captured(made)
    assert len(trace.connections) == 1
    assert len(trace.strays) == 1


def test_padding_of_a_datagram_is_no_packet_and_a_packet_may_begin_with_0() -> None:
    made = MadeConnection()
    made.shake()
    whole = made.send(60, "Handshake", b"\x01", of_client=True)
    made.raw(61, whole + bytes(40), of_client=True)
    made.raw(62, whole + bytes(1) + b"\x5e" * 40, of_client=True)
    kinds = [packet.kind for packet in captured(made).connections[0].packets[-4:]]
    assert kinds == [HANDSHAKE, HANDSHAKE, HANDSHAKE, ONE_RTT]


def test_a_connection_goes_on_from_another_port() -> None:
    made = MadeConnection()
    made.shake()
    made.send(60, "1-RTT", b"\x01", of_client=True, client=("10.0.1.1", 12345))
    made.send(61, "1-RTT", b"\x01", of_client=False, client=("10.0.1.1", 12345))
    trace = captured(made)
    (connection,) = trace.connections
    assert len(connection.packets) == 6
    assert connection.packets[-1].datagram.path == (("10.0.1.1", 12345), (SERVER, 443))


def test_ecn_marks_are_read_of_both_families() -> None:
    for client, server in (("10.0.0.1", SERVER), ("fd00::1", "fd00:0:0:2::2")):
        made = MadeConnection()
        made.send(
            0,
            "Initial",
            crypto(HELLO),
            of_client=True,
            client=(client, 9),
            server=(server, 443),
            ecn=1,
        )
        (datagram,) = datagrams(made.frames, frozenset({server}))
        assert (datagram.ecn, datagram.of_client, datagram.source) == (1, True, (client, 9))


def test_frames_have_their_numbers_and_bytes() -> None:
    payload = bytes.fromhex("03050000000102 03 1c0a0602 6e6f 18010004 61626364" + "00" * 16)
    assert parsed(payload) == (
        QuicFrame(ACK_ECN, (5, 1, 2, 3)),
        QuicFrame(CONNECTION_CLOSE, (10, 6), b"no"),
        QuicFrame(0x18, (1, 0), b"abcd"),
    )
    assert parsed(b"\x0e\x04\x40\x50\x03abc\x01")[0] == QuicFrame(0x0E, (4, 80), b"abc")


@given(payload=st.binary(max_size=100))
def test_any_payload_is_parsed_without_an_error(payload: bytes) -> None:
    parsed(payload)


@given(
    made=st.lists(st.tuples(st.binary(max_size=90), st.booleans()), max_size=5),
)
def test_any_datagrams_are_sorted_without_an_error(made: list[tuple[bytes, bool]]) -> None:
    connection = MadeConnection()
    for at_ms, (content, of_client) in enumerate(made):
        connection.raw(at_ms, content, of_client=of_client)
    assert len(captured(connection).datagrams) == len(made)


@given(
    cuts=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    order=st.randoms(use_true_random=False),
)
def test_a_crypto_stream_is_put_in_order(cuts: list[int], order: object) -> None:
    places = sorted({0, *(min(cut, len(HELLO)) for cut in cuts), len(HELLO)})
    pieces = [(a, HELLO[a : b + 2]) for a, b in itertools.pairwise(places)]
    order.shuffle(pieces)  # type: ignore[attr-defined]
    stream = CryptoStream()
    for offset, data in pieces:
        stream.add(offset, data)
    assert stream.content == HELLO
    ((kind, body),) = stream.messages
    assert kind == 1
    assert cipher_suites(body) == (0x1301,)


def test_transport_parameters_are_found_among_extensions() -> None:
    parameters = bytes.fromhex("0801 0a 0d02 beef")
    extension = (57).to_bytes(2) + len(parameters).to_bytes(2) + parameters
    body = (4 + len(extension)).to_bytes(2) + bytes(4) + extension
    assert transport_parameters(body) == {8: b"\x0a", 13: b"\xbe\xef"}
