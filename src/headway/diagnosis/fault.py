"""Single faults of a run: how many packets there were, which ones met the fault, and what they carried."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.columns.packets import DIGEST_DIGITS
from headway.contract.artifact import read_text
from headway.contract.faults import KeptPacket
from headway.contract.outcome import Outcome
from headway.contract.text import load
from headway.diagnosis.packet import SeenPacket
from headway.diagnosis.quic_carried import QuicReader
from headway.diagnosis.samples import started_s
from headway.diagnosis.tls_carried import TlsReader
from headway.lab.direction import kept_file
from headway.lab.pcapng import read_pcapng
from headway.planning.deployment import DeployedFlow
from headway.programs.base import SECRETS_FILE
from headway.study.network import CLIENT
from headway.study.path import Way

_Kept = tuple[Way, KeptPacket]

_ETHERNET_BYTES = 14
_UDP_HEADER_BYTES = 8
_LONG_HEADERS = ("Initial", "0-RTT", "Handshake", "Retry")
_END_OF_TLS_HANDSHAKE = "ChangeCipherSpec"
"""Which a client of TLS 1.3 sends before its Finished (RFC 8446, section D.4)."""


@dataclass(frozen=True)
class CarriedPacket:
    """A packet of a direction with faults, and what it carried.

    Attributes:
        way: its direction.
        number: from 1, in its direction, from the workload's beginning.
        at_s: when it came to the link, from the workload's beginning.
        bytes: its size as an IP packet.
        met: whether anything happened to it.
        words: what it carried: ``Initial: CRYPTO (ServerHello), ACK``.
        of_handshake: whether it carries a part of the handshake.
    """

    way: Way
    number: int
    at_s: float
    bytes: int
    met: bool
    words: str
    of_handshake: bool


def carried_packets(directory: Path) -> list[CarriedPacket]:
    """What is known of a run's packets, in the order in which they came: where faults are made, or at the client."""
    return _carried(_kept_packets(directory) or _captured_packets(directory), directory)


def _carried(kept: Sequence[_Kept], directory: Path) -> list[CarriedPacket]:
    secrets = directory / SECRETS_FILE
    reader = _Conversations(read_text(secrets) if secrets.exists() else "")
    return [reader.carried(way, kept_packet) for way, kept_packet in kept]


def fault_columns(flow: DeployedFlow, outcome: Outcome, directory: Path) -> dict[str, Any]:
    """The columns of a record that tell of its fault; none if the setting has no such thing."""
    if flow.setting.fault is None or not outcome.passed:
        return {}
    kept = _kept_packets(directory)
    packets = _carried(kept, directory)
    passed = {way: _passed(outcome, way) for way in Way}
    return {
        **{f"packets_{way}": packets for way, (packets, _) in passed.items()},
        **{f"handshake_packets_{way}": _of_handshake(packets, way) for way in Way},
        "fault_met": sum(met for _, met in passed.values()),
        **_first_met([packet for packet in packets if packet.met]),
        **compared(kept, {way: came for way, (came, _) in passed.items()}),
    }


def _passed(outcome: Outcome, way: Way) -> tuple[int, int]:
    passed_packets = [passed for name, passed in outcome.passed.items() if name.endswith(f"-{way}")]
    return sum(passed.packets for passed in passed_packets), sum(
        passed.met for passed in passed_packets
    )


def _of_handshake(packets: Sequence[CarriedPacket], way: Way) -> int:
    """Number of the last packet of a direction that the handshake needed."""
    return max(
        (packet.number for packet in packets if packet.way is way and packet.of_handshake),
        default=0,
    )


def _first_met(met: Sequence[CarriedPacket]) -> dict[str, Any]:
    if not met:
        return {}
    return {
        "fault_at_s": met[0].at_s,
        "fault_bytes": met[0].bytes,
        "fault_carried": "; ".join(carried_packet.words for carried_packet in met[:2]),
    }


def compared(kept: Sequence[_Kept], came: Mapping[Way, int]) -> dict[str, Any]:
    """What tells whether two runs had the same packets up to a fault.

    Args:
        kept: the packets of both directions, in order.
        came: how many there were in each direction. Of some that is more than was kept: nothing is told of what came
            after the last of these.
    """
    of_way = {
        way: [kept_packet.at_ns for one_way, kept_packet in kept if one_way is way] for way in Way
    }
    ends = [times[-1] for way, times in of_way.items() if 0 < len(times) < came[way]]
    whole = [entry for entry in kept if not ends or entry[1].at_ns <= min(ends)]
    before = next((place for place, (_, kept_packet) in enumerate(whole) if kept_packet.met), None)
    if before is None and any(kept_packet.met for _, kept_packet in kept):
        return {}
    digest, texts = b"", list[str]()
    for way, packet in whole[:before]:
        text = f"{way} {packet.number} {packet.at_ns} {packet.bytes}"
        digest = hashlib.sha256(digest + text.encode("ascii")).digest()
        texts.append(digest.hex()[:DIGEST_DIGITS])
    if before is None:
        return {"packet_digests": "".join(texts)}
    return {"packets_before": before, "packet_digests": texts[-1] if texts else ""}


def _kept_packets(directory: Path) -> list[_Kept]:
    """Of both directions, in the order in which they came."""
    kept = [(way, kept_packet) for way in Way for kept_packet in _kept(directory / kept_file(way))]
    return sorted(kept, key=lambda entry: entry[1].at_ns)


def _captured_packets(directory: Path) -> list[_Kept]:
    """Those that left the client or reached it, if its packets were captured; its own are those like the first."""
    began_ns = round(started_s(directory) * 1e9)
    # A client on several paths has a capture on each, of which its way to the server crosses one.
    files = sorted(directory.glob(f"{CLIENT}*.pcapng"), key=lambda file: len(file.name))
    captures = ([pair for pair in read_pcapng(file) if pair[0] >= began_ns] for file in files)
    frames = next(filter(None, captures), [])
    pairs: list[_Kept] = []
    numbers = dict.fromkeys(Way, 0)
    for at_ns, frame in frames:
        source = SeenPacket(at_ns, frame).source
        way = Way.UP if source == SeenPacket(*frames[0]).source else Way.DOWN
        numbers[way] += 1
        data = frame[_ETHERNET_BYTES:].hex()
        pairs.append((way, KeptPacket(numbers[way], at_ns - began_ns, False, data)))
    return pairs


def _kept(file: Path) -> Iterator[KeptPacket]:
    if file.exists():
        for line in read_text(file).splitlines():
            yield load(KeptPacket, line)


class _Conversations:
    """Tells what packets carry, which takes those that came before."""

    def __init__(self, secrets: str) -> None:
        self._secrets = secrets
        self._quic: dict[tuple[str, int], QuicReader] = {}
        self._tls: dict[tuple[str, int, Way], TlsReader] = {}
        self._shaken: set[tuple[str, int]] = set()

    def carried(self, way: Way, kept: KeptPacket) -> CarriedPacket:
        data = bytes.fromhex(kept.bytes)
        seen = SeenPacket(kept.at_ns, bytes(_ETHERNET_BYTES) + data)
        words, of_handshake = self._told(way, seen)
        return CarriedPacket(
            way, kept.number, kept.at_ns / 1e9, len(data), kept.met, words, of_handshake
        )

    def _told(self, way: Way, seen: SeenPacket) -> tuple[str, bool]:
        segment = seen.segment
        if len(segment) < _UDP_HEADER_BYTES or not (seen.is_udp or seen.is_tcp):
            return seen.words, False
        source, destination = struct.unpack_from("!HH", segment)
        # A connection is told by the client's end of it.
        client = (seen.source, source) if way is Way.UP else (seen.destination, destination)
        tell = self._of_udp if seen.is_udp else self._of_tcp
        return tell(client, way, seen)

    def _of_udp(self, client: tuple[str, int], way: Way, seen: SeenPacket) -> tuple[str, bool]:
        reader = self._quic.setdefault(client, QuicReader(self._secrets))
        packets = reader.packets(seen.segment[_UDP_HEADER_BYTES:], of_client=way is Way.UP)
        words = " + ".join(map(str, packets)) or seen.words
        return words, any(packet.kind in _LONG_HEADERS for packet in packets)

    def _of_tcp(self, client: tuple[str, int], way: Way, seen: SeenPacket) -> tuple[str, bool]:
        reader = self._tls.setdefault((*client, way), TlsReader())
        flags = str(seen.fields["flags"])
        sequence = int(seen.fields["sequence number"])
        if "SYN" in flags:
            reader.synchronised(sequence)
            return flags.replace("SYN ACK", "SYN/ACK"), True
        size = int(seen.fields["TCP payload"])
        names = reader.names(sequence, seen.segment[-size:]) if size else ()
        of_handshake = client not in self._shaken
        if way is Way.UP and _END_OF_TLS_HANDSHAKE in names:
            self._shaken.add(client)
        text = ", ".join(names) or (f"{size} bytes" if size else "ACK")
        return f"FIN, {text}" if "FIN" in flags else text, of_handshake
