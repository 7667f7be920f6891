"""What segments are said to carry of TLS, by records that a test made."""

from __future__ import annotations

from headway.diagnosis.tls_carried import TlsReader


def record(kind: int, content: bytes) -> bytes:
    return bytes((kind, 3, 3)) + len(content).to_bytes(2) + content


def message(kind: int, length: int = 20) -> bytes:
    return record(22, bytes((kind,)) + length.to_bytes(3) + bytes(length))


CHANGE = record(20, b"\x01")
DATA = record(23, bytes(50))


def names(*records: bytes) -> list[tuple[str, ...]]:
    """Of segments with a record each."""
    reader, at, told = TlsReader(), 1000, []
    for one in records:
        told.append(reader.names(at, one))
        at += len(one)
    return told


def test_handshake_messages_of_tls_12_have_names() -> None:
    told = names(message(2), message(11), message(12), message(14))
    assert [one for (one,) in told] == [
        "ServerHello",
        "Certificate",
        "ServerKeyExchange",
        "ServerHelloDone",
    ]


def test_behind_a_change_of_cipher_messages_are_encrypted() -> None:
    encrypted_finished = record(22, bytes((0, 0, 0, 0, 0, 0, 0, 0)) + bytes(range(32)))
    told = names(message(16), CHANGE, encrypted_finished, DATA)
    assert [one for (one,) in told] == [
        "ClientKeyExchange",
        "ChangeCipherSpec",
        "encrypted",
        "encrypted",
    ]


def test_a_second_hello_of_tls_13_is_in_the_clear_behind_one() -> None:
    assert names(message(1), CHANGE, message(1)) == [
        ("ClientHello",),
        ("ChangeCipherSpec",),
        ("ClientHello",),
    ]


def test_a_segment_that_comes_again_says_the_same() -> None:
    reader = TlsReader()
    hello = message(1, 100)
    first = reader.names(7, hello[:60])
    assert first == reader.names(7, hello[:60]) == ("ClientHello",)
    assert reader.names(67, hello[60:] + CHANGE) == ("ClientHello", "ChangeCipherSpec")
