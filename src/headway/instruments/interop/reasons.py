"""Reasons of a failed run, as its packets tell: who closed or reset what, with which error code."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from headway.contract.artifact import readable
from headway.diagnosis.quic_errors import ALERTS, CRYPTO_ERRORS, HTTP3_ERRORS, TRANSPORT_ERRORS
from headway.instruments.interop.connection import NEGOTIATION, ONE_RTT, Packet
from headway.instruments.interop.evidence import CaseEvidence
from headway.instruments.interop.frames import (
    APPLICATION_CLOSE,
    CONNECTION_CLOSE,
    RESET_STREAM,
    STOP_SENDING,
    QuicFrame,
)

_APPLICATION_ERROR = 0x0C
_CLOSES = {CONNECTION_CLOSE: "CONNECTION_CLOSE", APPLICATION_CLOSE: "CONNECTION_CLOSE (0x1d)"}
_STREAM_ENDS = {RESET_STREAM: "RESET_STREAM", STOP_SENDING: "STOP_SENDING"}
_SHOWN = 80


def explained(reason: str, evidence: CaseEvidence) -> str:
    """A reason, and what the packets say of it."""
    evidence = evidence.whole
    connections = evidence.client.connections
    if not connections:
        return f"{reason}; {_silence([], 0)}"
    longest = max(connections, key=lambda each: _spans_ns(evidence)[each.number])
    # The last one may have ended with an error at once.
    for connection in dict.fromkeys(each.number for each in (connections[-1], longest)):
        if text := next(_of_packets(evidence, connection), ""):
            return f"{reason}{_which(evidence, connection)}; {text}"
    sent, began_ns = _sent(evidence, longest.number), connections[0].packets[0].at_ns
    return f"{reason}{_which(evidence, longest.number)}; {_silence(sent, began_ns)}"


def _spans_ns(evidence: CaseEvidence) -> list[int]:
    """How long each connection kept the client: until it began the next one, or until the last packet."""
    starts = [connection.packets[0].at_ns for connection in evidence.client.connections]
    end_ns = max(each.at_ns for each in evidence.client.datagrams)
    return [after - before for before, after in pairwise([*starts, end_ns])]


def _which(evidence: CaseEvidence, number: int) -> str:
    """Which connection is spoken of, if there are several."""
    count = len(evidence.client.connections)
    span_s = _spans_ns(evidence)[number] / 1e9
    return f"; connection {number + 1} of {count} took {span_s:.1f} s" if count > 1 else ""


def _sent(evidence: CaseEvidence, number: int) -> list[Packet]:
    """What both sides sent of a connection, each as its own device saw it."""
    ours = evidence.client.connections[number]
    theirs = [each for each in evidence.server.connections if each.first_id == ours.first_id]
    sent = [packet for packet in ours.packets if packet.of_client]
    sent += [packet for each in theirs for packet in each.packets if not packet.of_client]
    return sorted(sent, key=lambda packet: packet.at_ns)


def _of_packets(evidence: CaseEvidence, number: int) -> Iterator[str]:
    """What ended a connection or its streams, the most telling first."""
    sent, began_ns = _sent(evidence, number), evidence.client.datagrams[0].at_ns
    for kinds, words in ((_CLOSES, _close), (_STREAM_ENDS, _stream_end), (_CLOSES, _remark)):
        for packet in sent:
            for frame in packet.frames:
                if frame.kind in kinds and (text := words(packet, frame)):
                    yield f"{text} at {(packet.at_ns - began_ns) / 1e9:.3f} s, in {_place(packet)}"
    if any(packet.kind == NEGOTIATION for packet in sent[-1:]):
        yield "the last packet was the server's Version Negotiation"


def _place(packet: Packet) -> str:
    number = f" {packet.opened.number}" if packet.opened else ""
    return f"its {packet.kind} packet{number}"


def _sender(packet: Packet) -> str:
    return "the client" if packet.of_client else "the server"


def _close(packet: Packet, frame: QuicFrame) -> str:
    """A close that is an error, in words; empty for one that is none."""
    is_transport = frame.kind == CONNECTION_CLOSE
    code = frame.values[0]
    if code in ((0,) if is_transport else (0, 0x100)):
        return ""
    if is_transport and code == _APPLICATION_ERROR and packet.kind != ONE_RTT:
        # It stands for any close of an application, also for one that is no error (RFC 9000, section 10.2.3).
        return ""
    name = transport_error(code) if is_transport else application_error(code)
    text = readable(frame.data.decode("utf-8", "replace"), _SHOWN)
    quoted = f' "{text}"' if text else ""
    return f"{_sender(packet)} sent {_CLOSES[frame.kind]} with {name}{quoted}"


def _remark(packet: Packet, frame: QuicFrame) -> str:
    """A close that is no error and gives a reason all the same, in words."""
    text = readable(frame.data.decode("utf-8", "replace"), _SHOWN)
    return (
        f'{_sender(packet)} closed the connection, without an error code, because of "{text}"'
        if text
        else ""
    )


def _stream_end(packet: Packet, frame: QuicFrame) -> str:
    stream, code = frame.values[:2]
    name = application_error(code)
    return f"{_sender(packet)} sent {_STREAM_ENDS[frame.kind]} of stream {stream} with {name}"


def _silence(sent: list[Packet], began_ns: int) -> str:
    """Who was heard last."""
    texts = []
    for of_client, who in ((True, "the client"), (False, "the server")):
        packets = [packet for packet in sent if packet.of_client is of_client]
        if not packets:
            texts.append(f"{who} sent no packet of QUIC")
            continue
        last = packets[-1]
        what = "" if not last.is_sealed else ", which no key opens"
        texts.append(
            f"{who} sent its last packet ({last.kind}{what}) at {(last.at_ns - began_ns) / 1e9:.3f} s"
        )
    return "; ".join(texts)


def transport_error(code: int) -> str:
    """A transport error code's name, with the code."""
    if code in TRANSPORT_ERRORS:
        return f"{TRANSPORT_ERRORS[code]} ({code:#x})"
    if code in CRYPTO_ERRORS:
        alert = ALERTS.get(code - 0x100, f"alert {code - 0x100}")
        return f"CRYPTO_ERROR {alert} ({code:#x})"
    return f"error {code:#x}"


def application_error(code: int) -> str:
    """An error code of HTTP/3 by its name; others by their number."""
    if code in HTTP3_ERRORS:
        return f"{HTTP3_ERRORS[code]} ({code:#x})"
    return f"application error {code:#x}"
