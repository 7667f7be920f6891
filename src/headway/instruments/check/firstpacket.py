"""The first packet at which two runs with the same seed differ."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from headway.contract.artifact import read_text
from headway.contract.names import ORDERS_FILE
from headway.contract.orders import Orders
from headway.contract.text import load
from headway.diagnosis.packet import SeenPacket, differing_fields
from headway.diagnosis.samples import started_s
from headway.lab.pcapng import read_pcapng

_ADDRESS = ("addr", "add")
_CAPTURES = "*.pcapng"
_Captured = tuple[str, list[SeenPacket], list[SeenPacket]]
"""A host, and what it saw in both runs."""
_Same = Callable[[SeenPacket, SeenPacket], bool]
_ALIKE: tuple[_Same, ...] = (SeenPacket.looks_like, SeenPacket.is_timed_like, operator.eq)
"""What makes two packets the same, the coarsest first."""


@dataclass(frozen=True)
class FirstDifference:
    """The first packet at which two runs differ.

    Attributes:
        at_s: when, from the start of the workload.
        host: on whose device it was seen.
        number: how many packets that device had seen before, one more.
        words: which packet it is, and what differs.
    """

    at_s: float
    host: str
    number: int
    words: str

    def __str__(self) -> str:
        return f"packet {self.number} of {self.host}, at {self.at_s * 1e3:.3f} ms: {self.words}"


@dataclass(frozen=True)
class _Parting:
    """Where a capture goes another way: its packets there, and those of the same sender just before."""

    host: str
    number: int
    base: SeenPacket | None
    head: SeenPacket | None
    in_a_row: int

    @property
    def at_ns(self) -> int:
        return min(seen_packet.at_ns for seen_packet in (self.base, self.head) if seen_packet)


def has_captures(run_directory: Path) -> bool:
    """Whether packets were kept of a run."""
    return any(run_directory.glob(_CAPTURES))


def first_difference(base: Path, head: Path) -> FirstDifference | None:
    """Compare the captures of two runs; None if every packet is the same at the same time.

    The first that differs in sender, headers, size or by a notable time, if any does; else the first that
    differs in its time, or in its bytes at least.

    Args:
        base: the directory of a run.
        head: that of the other, which had the same seed.
    """
    names = sorted({file.name for run in (base, head) for file in run.glob(_CAPTURES)})
    captures = [(Path(name).stem, _read(base / name), _read(head / name)) for name in names]
    partings = [place for same in _ALIKE if (place := _first_of_all(captures, same))]
    if not partings:
        return None
    began_s = started_s(head) or started_s(base)
    first, *finer = partings
    words = _words(first, _names(head if (head / ORDERS_FILE).exists() else base))
    earlier = [place for place in finer if place.at_ns < first.at_ns]
    if earlier:
        words += f" (smaller differences from {_moment(earlier[0], began_s)} on)"
    return FirstDifference(first.at_ns / 1e9 - began_s, first.host, first.number, words)


def _first_of_all(captures: Iterable[_Captured], same: _Same) -> _Parting | None:
    """Where captures first differ; of hosts that see it at the same time, the first by name."""
    places = (_first_place(host, base, head, same) for host, base, head in captures)
    return min(
        (place for place in places if place), key=lambda parting: parting.at_ns, default=None
    )


def _moment(place: _Parting, began_s: float) -> str:
    return f"{(place.at_ns / 1e9 - began_s) * 1e3:.3f} ms"


def _read(file: Path) -> list[SeenPacket]:
    return [SeenPacket(*packet) for packet in read_pcapng(file)] if file.exists() else []


def _first_place(
    host: str, base: list[SeenPacket], head: list[SeenPacket], same: _Same
) -> _Parting | None:
    for place, (left, other) in enumerate(itertools.zip_longest(base, head)):
        if left is None or other is None or not same(left, other):
            first = min((packet for packet in (left, other) if packet), key=lambda it: it.at_ns)
            return _Parting(host, place + 1, left, other, 1 + _in_a_row(head[:place], first.source))
    return None


def _in_a_row(packets: list[SeenPacket], sender: str) -> int:
    """How many packets of a sender are the last ones."""
    return sum(1 for _ in itertools.takewhile(lambda it: it.source == sender, reversed(packets)))


def _names(run_directory: Path) -> dict[str, str]:
    """Hosts by their addresses."""
    orders = load(Orders, read_text(run_directory / ORDERS_FILE))
    lines = (
        (namespace.name, line.split()) for namespace in orders.namespaces for line in namespace.ip
    )
    return {
        words[2].partition("/")[0]: name for name, words in lines if tuple(words[:2]) == _ADDRESS
    }


def _words(place: _Parting, names: dict[str, str]) -> str:
    return "; ".join(_parts(place, names))


def _parts(place: _Parting, names: dict[str, str]) -> Iterator[str]:
    base, head = place.base, place.head
    if base and head and base.source == head.source and base.fields == head.fields:
        yield _sent(head, names)
        late_s = (head.at_ns - base.at_ns) / 1e9
        if late_s:
            yield f"the head sends it {_span(abs(late_s))} {'later' if late_s > 0 else 'earlier'}"
        else:
            yield from differing_fields(base, head)
    elif base and head and base.is_close_to(head) and base.source == head.source:
        yield _sent(head, names)
        yield ", ".join(differing_fields(base, head))
    else:
        yield from _one_is_silent(place, names)


def _one_is_silent(place: _Parting, names: dict[str, str]) -> Iterator[str]:
    """One sends where the other does not yet."""
    base, head = place.base, place.head
    speaks, other, who, whom = (
        (head, base, "head", "base")
        if head and (base is None or head.at_ns <= base.at_ns)
        else (base, head, "base", "head")
    )
    assert speaks
    row = f", {place.in_a_row} in a row" if place.in_a_row > 1 else ""
    yield f"the {who} sends {_sent(speaks, names)}{row}"
    if other is None:
        yield f"the {whom} sends nothing more"
    elif other.at_ns == speaks.at_ns:
        yield f"the {whom} sends {_sent(other, names)}"
    else:
        wait = _span((other.at_ns - speaks.at_ns) / 1e9)
        yield f"the {whom}'s next packet is {wait} later, {_sent(other, names)}"


def _sent(packet: SeenPacket, names: dict[str, str]) -> str:
    ends = (names.get(text, text) for text in (packet.source, packet.destination))
    return f"{packet.words}, {' to '.join(ends)}"


def _span(span_s: float) -> str:
    return f"{span_s * 1e3:.3f} ms" if span_s >= 1e-5 else f"{span_s * 1e9:.0f} ns"


def differing(pairs: Iterable[tuple[Path, Path]]) -> list[FirstDifference]:
    """The first differences of those runs that differ, in their order."""
    first_differences = (first_difference(base, head) for base, head in pairs)
    return [difference for difference in first_differences if difference]
