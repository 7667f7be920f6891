"""What a client asked a resolver, how often again, and what of it was lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from headway.diagnosis.packet import SeenPacket
from headway.diagnosis.samples import started_s
from headway.lab.captures import questions_file
from headway.lab.pcapng import read_pcapng
from headway.planning.deployment import DeployedFlow
from headway.programs.headway_dns import PORT, REPORT

_UDP_HEADER_BYTES, _DNS_HEADER_BYTES = 8, 12
_TYPES = {1: "A", 28: "AAAA", 65: "HTTPS"}


@dataclass(frozen=True)
class _Question:
    """A question, as one of the client's messages has it."""

    name: str
    kind: str
    port: int
    number: int

    @property
    def untranslated(self) -> _Question:
        """What of it a NAT leaves as it is: all but the port."""
        return replace(self, port=0)

    @property
    def what(self) -> tuple[str, str]:
        """What is asked, whichever message does."""
        return self.name, self.kind


def question_columns(flow: DeployedFlow, directory: Path) -> Mapping[str, int]:
    """Columns of the questions of a flow's client; none if it was told addresses.

    Over UDP, what the client sends is captured before the path may lose or double it. Over TCP no question is lost.
    """
    capture, report = directory / questions_file(flow), directory / REPORT
    if flow.resolver is None or not capture.exists():
        return {}
    began_s = started_s(directory)
    lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    came = [one for one in map(json.loads, lines) if one["at_unix_s"] >= began_s]
    over_udp = [_told(one) for one in came if one["transport"] == "udp"]
    others = [_told(one) for one in came if one["transport"] != "udp"]
    sent = list(_sent(capture, began_s))
    every = [*sent, *others]
    left, arrived = sent, over_udp
    if any(link.nat for link, _ in flow.resolver.links):
        left, arrived = ([one.untranslated for one in some] for some in (sent, over_udp))
    return {
        "dns_queries": len(every),
        "dns_lost": (Counter(left) - Counter(arrived)).total(),
        "dns_retries": len(every) - len({one.what for one in every}),
    }


def _told(line: Mapping[str, str]) -> _Question:
    port = int(line["client"].rpartition(":")[2])
    return _Question(line["name"].lower().rstrip("."), line["type"], port, int(line["id"]))


def _sent(capture: Path, began_s: float) -> Iterator[_Question]:
    """The questions that leave a client over UDP, from a time on."""
    for at_ns, frame in read_pcapng(capture):
        packet = SeenPacket(at_ns, frame)
        if not packet.is_udp or at_ns < began_s * 1e9:
            continue
        datagram = packet.segment
        port, to = (int.from_bytes(datagram[at : at + 2]) for at in (0, 2))
        if to == PORT:
            yield _question(datagram[_UDP_HEADER_BYTES:], port)


def _question(message: bytes, port: int) -> _Question:
    """The question of a message (RFC 1035, section 4.1)."""
    labels, at = list[str](), _DNS_HEADER_BYTES
    while length := message[at]:
        labels.append(message[at + 1 : at + 1 + length].decode("ascii", "replace").lower())
        at += 1 + length
    kind = int.from_bytes(message[at + 1 : at + 3])
    number = int.from_bytes(message[:2])
    return _Question(".".join(labels), _TYPES.get(kind, f"TYPE{kind}"), port, number)
