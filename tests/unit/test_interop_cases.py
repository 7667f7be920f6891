"""Checks of test cases, held against made captures: each holds for what is right, and fails for each way to be wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headway.instruments.interop.catalogue import known_cases
from headway.instruments.interop.evidence import CaseEvidence, CheckError, UncheckableError
from headway.instruments.interop.reasons import explained
from headway.lab.pcapng import to_pcapng
from tests.unit.made_quic import (
    FINISHED,
    FIRST_ID,
    HELLO,
    KEY_LOG,
    SERVER,
    SERVER_ID,
    MadeConnection,
    crypto,
    integer,
    retry,
    write_pcap,
)

CASES = known_cases()
NAME = "file"
ACK_ECN = bytes.fromhex("03000000000001" + "0000")
NEW = ("10.0.1.1", 10007)


@dataclass
class Run:
    """A made run: what both hosts saw is the same unless something else is said."""

    made: MadeConnection = field(default_factory=MadeConnection)
    at_server: MadeConnection | None = None
    content: bytes | None = b"right"
    keys: str = KEY_LOG

    def evidence(self, directory: Path, name: str = NAME) -> CaseEvidence:
        served, downloads = directory / "www", directory / "downloads"
        served.mkdir()
        downloads.mkdir()
        (served / name).write_bytes(b"right")
        if self.content is not None:
            (downloads / name).write_bytes(self.content)
        for side, made in (("left", self.made), ("right", self.at_server or self.made)):
            write_pcap(directory / f"{side}.pcap", made.frames)
            to_pcapng(directory / f"{side}.pcap", [], directory / f"{side}.pcapng")
        captures = directory / "left.pcapng", directory / "right.pcapng"
        return CaseEvidence(*captures, self.keys, served, downloads, [name], frozenset({SERVER}))


def judged(case: str, run: Run, directory: Path) -> str:
    """What a case says of a run: nothing if it succeeds."""
    try:
        CASES[case].verify(run.evidence(directory))
    except CheckError as error:
        return error.reason
    return ""


def shaken(**options: bytes) -> Run:
    run = Run()
    run.made.shake(**options)  # type: ignore[arg-type]
    return run


def test_a_handshake_with_its_file_succeeds(tmp_path: Path) -> None:
    assert judged("handshake", shaken(), tmp_path) == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "the file did not arrive (file)"),
        (b"", "file arrived with 0 of 5 bytes"),
        (b"wrong", "file arrived with other content from byte 0 on"),
    ],
)
def test_doing_nothing_or_the_wrong_thing_fails(
    content: bytes | None, reason: str, tmp_path: Path
) -> None:
    run = shaken()
    run.content = content
    assert judged("handshake", run, tmp_path) == reason


def test_a_file_without_a_handshake_fails(tmp_path: Path) -> None:
    assert judged("handshake", Run(), tmp_path) == "1 handshakes were to be completed, and 0 were"


def test_an_unfinished_handshake_counts_for_none(tmp_path: Path) -> None:
    run = shaken()
    run.made.send(
        90,
        "Initial",
        crypto(HELLO),
        of_client=True,
        client=("10.0.0.1", 40001),
        destination=b"\xf1" * 8,
    )
    assert run.evidence(tmp_path).handshakes == 1


def test_files_that_nobody_asked_for_fail(tmp_path: Path) -> None:
    evidence = shaken().evidence(tmp_path)
    (evidence.downloads / "other").touch()
    with pytest.raises(CheckError, match="nobody asked for: other"):
        evidence.check_files()


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("", "the captures have no keys: neither endpoint wrote TLS secrets to SSLKEYLOGFILE"),
        (KEY_LOG.replace("0001", "ff01"), "the captures lack the keys of 1 of 1 connections"),
    ],
)
def test_captures_without_keys_are_told(keys: str, reason: str, tmp_path: Path) -> None:
    run = shaken()
    run.keys = keys
    with pytest.raises(UncheckableError, match=reason):
        CASES["keyupdate"].verify(run.evidence(tmp_path))


def test_without_keys_handshakes_are_counted_all_the_same(tmp_path: Path) -> None:
    run = shaken()
    run.keys = ""
    assert judged("handshake", run, tmp_path) == ""


def test_a_retry_where_none_is_asked_for_fails(tmp_path: Path) -> None:
    run = shaken()
    run.made.raw(10, retry(), of_client=False)
    assert "sent a Retry" in judged("handshake", run, tmp_path)


def test_a_spoilt_packet_that_looks_like_a_retry_is_none(tmp_path: Path) -> None:
    run = shaken()
    run.made.raw(10, retry()[:-1] + b"\0", of_client=False)
    assert judged("handshake", run, tmp_path) == ""


def retried(*, token: bytes = b"token", again: int = 1, other_hello: bool = False) -> Run:
    run = Run()
    made = run.made
    made.send(0, "Initial", crypto(HELLO), of_client=True)
    made.raw(15, retry(), of_client=False)
    made._numbers[True, "Initial"] = again
    hello = HELLO[:-1] + b"\x01" if other_hello else HELLO
    made.send(30, "Initial", crypto(hello), of_client=True, token=token, destination=SERVER_ID)
    made.send(
        40, "Initial", crypto(bytes([2, 0, 0, 2, 3, 3])), of_client=False, destination=SERVER_ID
    )
    made.send(41, "Handshake", crypto(bytes([11, 0, 0, 2, 0, 0])), of_client=False)
    made.send(42, "Handshake", crypto(FINISHED), of_client=True)
    return run


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (retried(), ""),
        (shaken(), "the server sent no Retry"),
        (retried(token=b"other"), "no Initial of the client has the token of a Retry"),
        (retried(again=0), "it must not begin anew"),
    ],
)
def test_retry(run: Run, reason: str, tmp_path: Path) -> None:
    told = judged("retry", run, tmp_path)
    assert reason in told if reason else not told


def test_another_client_hello_after_a_retry_is_remarked(tmp_path: Path) -> None:
    remark = CASES["retry"].verify(retried(other_hello=True).evidence(tmp_path))
    assert "another ClientHello" in remark


def test_a_client_hello_has_to_be_sent_twice_over_a_long_round_trip(tmp_path: Path) -> None:
    assert "sent its ClientHello 1 time" in judged("longrtt", shaken(), tmp_path)


def test_a_repeated_client_hello_is_one(tmp_path: Path) -> None:
    run = Run()
    run.made.send(0, "Initial", crypto(HELLO), of_client=True)
    run.made.shake(100)
    assert judged("longrtt", run, tmp_path) == ""


def test_chacha20_has_to_be_alone(tmp_path: Path) -> None:
    assert "offered 0x1301" in judged("chacha20", shaken(), tmp_path)


def test_chacha20_alone_succeeds(tmp_path: Path) -> None:
    hello = HELLO.replace(b"\x00\x02\x13\x01", b"\x00\x02\x13\x03")
    assert judged("chacha20", shaken(hello=hello), tmp_path) == ""


@pytest.mark.parametrize(
    ("updates", "reason"),
    [
        ((1, 1), ""),
        ((0, 1), "the client sent 1 packets of key phase 0 and none of phase 1"),
        ((1, 0), "the server sent 1 packets of key phase 0 and none of phase 1"),
    ],
)
def test_key_updates_of_both(updates: tuple[int, int], reason: str, tmp_path: Path) -> None:
    run = shaken()
    for of_client, count in zip((True, False), updates, strict=True):
        run.made.send(60, "1-RTT", b"\x01", of_client=of_client, updates=count)
    assert judged("keyupdate", run, tmp_path) == reason


@pytest.mark.parametrize(
    ("marks", "acknowledged", "reason"),
    [
        ((2, 1), (True, True), ""),
        ((0, 2), (True, True), "the client marked none of its 2 datagrams"),
        ((2, 0), (True, True), "the server marked none of its 2 datagrams"),
        ((2, 3), (True, True), "1 datagrams left the server with CE"),
        ((2, 2), (False, True), "the client sent no ACK_ECN frame"),
        ((2, 2), (True, False), "the server sent no ACK_ECN frame"),
    ],
)
def test_ecn_both_ways(
    marks: tuple[int, int], acknowledged: tuple[bool, bool], reason: str, tmp_path: Path
) -> None:
    run = shaken()
    for place, of_client in enumerate((True, False)):
        run.made.frames = [frame for frame in run.made.frames if frame]
        payload = ACK_ECN if acknowledged[place] else b"\x01"
        run.made.send(60, "1-RTT", payload, of_client=of_client, ecn=marks[place])
    if 0 in marks:
        run.made.frames = [unmarked(frame, marks) for frame in run.made.frames]
    told = judged("ecn", run, tmp_path)
    assert reason.split(" of its ")[0] in told if reason else not told


def unmarked(frame: tuple[int, bytes], marks: tuple[int, int]) -> tuple[int, bytes]:
    """A frame without a mark if its sender's are to have none."""
    at_ns, data = frame
    of_server = data[26:30] == bytes((10, 0, 2, 2))
    return at_ns, data[:15] + bytes([marks[of_server]]) + data[16:]


def rebound(*, challenges: bool = True, answers: bool = True, packets: int = 3) -> Run:
    run = shaken()
    made = run.made
    made.send(60, "1-RTT", b"\x01", of_client=True, client=NEW)
    for number in range(packets):
        payload = b"\x1a12345678" if challenges and number == 1 else b"\x01"
        made.send(61 + number, "1-RTT", payload, of_client=False, client=NEW)
    if answers:
        made.send(70, "1-RTT", b"\x1b12345678", of_client=True, client=NEW)
    return run


@pytest.mark.parametrize("case", ["rebind-port", "rebind-addr"])
@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (rebound(), ""),
        (shaken(), "only"),
        (rebound(challenges=False), "without a PATH_CHALLENGE"),
        (rebound(answers=False), "answered none of the server's PATH_CHALLENGEs"),
        (rebound(packets=0), "sent nothing to 10.0.1.1 port 10007|sent to one address"),
    ],
)
def test_new_paths_are_validated(case: str, run: Run, reason: str, tmp_path: Path) -> None:
    told = judged(case, run, tmp_path)
    assert any(part in told for part in reason.split("|")) if reason else not told


@pytest.mark.parametrize(("same", "reason"), [(False, ""), (True, "has connection ID")])
def test_a_migrating_client_takes_another_connection_id(
    same: bool, reason: str, tmp_path: Path
) -> None:
    run = shaken()
    made, new = run.made, ("10.0.2.2", 4443)
    made.send(60, "1-RTT", b"\x01", of_client=True)
    made.send(
        61,
        "1-RTT",
        b"\x01",
        of_client=True,
        server=new,
        destination=SERVER_ID if same else b"\xaa" * 8,
    )
    made.send(62, "1-RTT", b"\x1a12345678", of_client=False, server=new)
    made.send(63, "1-RTT", b"\x01", of_client=False, server=new)
    made.send(64, "1-RTT", b"\x1b12345678", of_client=True, server=new, destination=b"\xaa" * 8)
    told = judged("connectionmigration", run, tmp_path)
    assert reason in told if reason else not told


@pytest.mark.parametrize(
    ("bytes_sent", "reason"),
    [(3000, ""), (5200, "times as many"), (None, "does not use the certificate chain")],
)
def test_amplification(bytes_sent: int | None, reason: str, tmp_path: Path) -> None:
    run = Run()
    made = run.made
    made.send(0, "Initial", crypto(HELLO), bytes(1100), of_client=True)
    made.send(10, "Initial", crypto(bytes([2, 0, 0, 2, 3, 3])), of_client=False)
    chain = bytes([11]) + (8000).to_bytes(3) + bytes(8000)
    first = bytes_sent or 0
    if bytes_sent is not None:
        for offset in range(0, first, 1000):
            made.send(
                11,
                "Handshake",
                crypto(chain[offset : min(offset + 1000, first)], offset),
                of_client=False,
            )
    made.send(100, "Handshake", crypto(FINISHED), of_client=True)
    if bytes_sent is not None:
        for offset in range(first, len(chain), 1000):
            made.send(
                101, "Handshake", crypto(chain[offset : offset + 1000], offset), of_client=False
            )
    told = judged("amplificationlimit", run, tmp_path)
    assert reason in told if reason else not told


def test_ipv4_fails_where_only_ipv6_is_asked_for(tmp_path: Path) -> None:
    assert "datagrams came over IPv4" in judged("ipv6", shaken(), tmp_path)


def test_version_1_alone_fails_where_version_2_is_asked_for(tmp_path: Path) -> None:
    assert "stayed with version 1" in judged("v2", shaken(), tmp_path)


def test_multiplexing_needs_a_limit_that_can_be_raised(tmp_path: Path) -> None:
    run = shaken(extensions=_extensions(100))
    assert judged("multiplexing", run, tmp_path) == ""
    more = tmp_path / "more"
    more.mkdir()
    assert "allows 5000 streams" in judged(
        "multiplexing", shaken(extensions=_extensions(5000)), more
    )


def _extensions(streams: int) -> bytes:
    parameters = b"\x08\x02" + integer(streams)
    extension = (57).to_bytes(2) + len(parameters).to_bytes(2) + parameters
    return len(extension).to_bytes(2) + extension


def resumed(*, certificate: bool, early: bytes = b"") -> Run:
    """Two connections with the same secrets and random numbers, which a made one has."""
    run = shaken()
    made = run.made
    other = ("10.0.0.1", 40001)
    made._numbers.clear()
    made.send(200, "Initial", crypto(HELLO), of_client=True, client=other, destination=b"\xf1" * 8)
    if early:
        made._numbers.clear()
    messages = bytes([11, 0, 0, 2, 0, 0]) if certificate else bytes([8, 0, 0, 2, 0, 0])
    made.send(
        230,
        "Initial",
        crypto(bytes([2, 0, 0, 2, 3, 3])),
        of_client=False,
        client=other,
        destination=b"\xf1" * 8,
    )
    made.send(231, "Handshake", crypto(messages), of_client=False, client=other)
    made.send(232, "Handshake", crypto(FINISHED), of_client=True, client=other)
    return run


@pytest.mark.parametrize(
    ("certificate", "reason"), [(False, ""), (True, "certificate in the second")]
)
def test_a_resumed_handshake_has_no_certificate(
    certificate: bool, reason: str, tmp_path: Path
) -> None:
    told = judged("resumption", resumed(certificate=certificate), tmp_path)
    assert reason in told if reason else not told


def test_zero_rtt_needs_early_packets(tmp_path: Path) -> None:
    assert (
        judged("zerortt", resumed(certificate=False), tmp_path) == "the client sent no 0-RTT packet"
    )


def test_a_reason_names_the_frame_and_the_error_code(tmp_path: Path) -> None:
    run = shaken()
    run.made.send(60, "1-RTT", b"\x1c\x0a\x06\x05wrong", of_client=False)
    told = explained("no", run.evidence(tmp_path))
    assert told == (
        'no; the server sent CONNECTION_CLOSE with PROTOCOL_VIOLATION (0xa) "wrong" at 0.060 s, in its 1-RTT packet 0'
    )


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (b"\x1c" + integer(0x128) + b"\x06\x00", "CRYPTO_ERROR handshake_failure (0x128)"),
        (b"\x1d" + integer(0x10B) + b"\x00", "H3_REQUEST_REJECTED (0x10b)"),
        (
            b"\x04\x04" + integer(0x10C) + b"\x00",
            "RESET_STREAM of stream 4 with H3_REQUEST_CANCELLED (0x10c)",
        ),
        (b"\x1c\x00\x00\x00", "the client sent its last packet"),
        (b"\x1d" + integer(0x100) + b"\x00", "the client sent its last packet"),
    ],
)
def test_closes_and_resets_by_their_names(frame: bytes, words: str, tmp_path: Path) -> None:
    run = shaken()
    run.made.send(60, "1-RTT", frame, of_client=True)
    assert words in explained("no", run.evidence(tmp_path))


def test_a_silent_server_is_told(tmp_path: Path) -> None:
    run = Run()
    run.made.send(0, "Initial", crypto(HELLO), of_client=True, destination=FIRST_ID)
    assert explained("no", run.evidence(tmp_path)) == (
        "no; the client sent its last packet (Initial) at 0.000 s; the server sent no packet of QUIC"
    )
