"""Questions of a client to a resolver: how often again, and how many of them were lost."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

from headway.contract.artifact import read_text
from headway.diagnosis.packet import SeenPacket
from headway.diagnosis.samples import started_s
from headway.lab.captures import questions_file
from headway.lab.pcapng import read_pcapng
from headway.planning.deployment import DeployedFlow
from headway.programs.headway_dns import PORT, REPORT
from headway.study.path import Link

_UDP_HEADER_BYTES, _DNS_HEADER_BYTES = 8, 12
_ROUNDED_S = 1e-5
"""What times of captures and of reports differ by."""
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
    if not flow.resolving:
        return {}
    capture, report = directory / questions_file(flow), directory / REPORT
    if not capture.exists():
        return {}
    began_s = started_s(directory)
    lines = read_text(report).splitlines() if report.exists() else []
    came = [value for value in map(json.loads, lines) if value["at_unix_s"] >= began_s]
    over_udp = [(value["at_unix_s"], _told(value)) for value in came if value["transport"] == "udp"]
    others = [_told(value) for value in came if value["transport"] != "udp"]
    sent = list(_sent(capture, began_s))
    # Where questions follow contacts, their own links at both ends are all that each of them crosses.
    legs = (flow.resolving[0], flow.resolving[-1]) if flow.asking else flow.resolving
    links = [link for leg in legs for link, _ in leg.links]
    every = [*(question for _, question in sent), *others]
    return {
        "dns_queries": len(every),
        "dns_lost": _lost(sent, over_udp, links),
        "dns_retries": len(every) - len({question.what for question in every}),
    }


def _lost(
    sent: Iterable[tuple[float, _Question]],
    came: Iterable[tuple[float, _Question]],
    links: Sequence[Link],
) -> int:
    """How many questions did not come over some links.

    What came is the last one that the path's delay allows and that has not come yet. A copy of one that came is so no
    other one like it, which was sent later and lost.
    """
    is_translated = any(link.nat for link in links)
    waiting = defaultdict[_Question, list[float]](list)
    for at_s, question in sorted(sent, key=itemgetter(0)):
        waiting[question.untranslated if is_translated else question].append(at_s)
    delay_s = _least_delay_s(links)
    for at_s, question in sorted(came, key=itemgetter(0)):
        times = waiting[question.untranslated if is_translated else question]
        if before := bisect_right(times, at_s - delay_s + _ROUNDED_S):
            times.pop(before - 1)
    return sum(map(len, waiting.values()))


def _least_delay_s(links: Iterable[Link]) -> float:
    """What links take at least towards the resolver."""
    ways = [link.up for link in links]
    return sum(0 if way.changes else way.delay - way.jitter for way in ways) / 1e9


def _told(line: Mapping[str, str]) -> _Question:
    port = int(line["client"].rpartition(":")[2])
    return _Question(line["name"].lower().rstrip("."), line["type"], port, int(line["id"]))


def _sent(capture: Path, began_s: float) -> Iterator[tuple[float, _Question]]:
    """The questions that leave a client over UDP, from a time on, and when."""
    for at_ns, frame in read_pcapng(capture):
        packet = SeenPacket(at_ns, frame)
        if not packet.is_udp or at_ns < began_s * 1e9:
            continue
        datagram = packet.segment
        port, to = (int.from_bytes(datagram[at : at + 2]) for at in (0, 2))
        if to == PORT:
            yield at_ns / 1e9, _question(datagram[_UDP_HEADER_BYTES:], port)


def _question(message: bytes, port: int) -> _Question:
    """The question of a message (RFC 1035, section 4.1)."""
    labels, at = list[str](), _DNS_HEADER_BYTES
    while length := message[at]:
        labels.append(message[at + 1 : at + 1 + length].decode("ascii", "replace").lower())
        at += 1 + length
    kind = int.from_bytes(message[at + 1 : at + 3])
    number = int.from_bytes(message[:2])
    return _Question(".".join(labels), _TYPES.get(kind, f"TYPE{kind}"), port, number)
