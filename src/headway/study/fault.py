"""Single faults: what happens to packets of certain numbers, and sweeps that try each packet once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from headway.study.base_model import Part, wrong
from headway.study.path import Way
from headway.study.units import Duration

AXIS = "fault"
"""The axis that a sweep is, and the key of a setting that its values are of."""
MOST_HANDSHAKE_PACKETS = 40
"""Of a handshake's packets in a direction, so many are tried at most."""
MOST_PACKETS = 5000
_USUAL_DELAY = Duration(100 * 10**6)
_USUAL_WAIT = Duration(10**9)
_USUAL_BLACKOUT = Duration(200 * 10**6)
_FORM = re.compile(
    r"(?:none|(?P<kind>[a-z]+) (?P<direction>up|down) (?P<packets>\d+(\+\d+)*))"
    r"(?: by (?P<delay>[\d.]+ \w+)| behind (?P<behind>\d+)| for (?P<lasts>[\d.]+ \w+))*"
    r"(?: on link (?P<link>\d+))?$"
)


class FaultKind(StrEnum):
    """What happens to a packet.

    ``lose``: it is lost. ``duplicate``: it comes twice. ``delay``: it is late, and others pass it.
    ``corrupt``: a bit of what it carries is flipped, and its checksum is right all the same. ``mark``: it says
    "Congestion Experienced" (RFC 3168), if its sender can ECN. ``reorder``: it goes behind the next ones.
    ``blackout``: it is lost, and all that come within a time after it.
    """

    LOSE = "lose"
    DUPLICATE = "duplicate"
    DELAY = "delay"
    CORRUPT = "corrupt"
    MARK = "mark"
    REORDER = "reorder"
    BLACKOUT = "blackout"

    @property
    def done(self) -> str:
        """What a packet is or does that meets it."""
        return _DONE[self]


_DONE = {
    FaultKind.LOSE: "is lost",
    FaultKind.DUPLICATE: "comes twice",
    FaultKind.DELAY: "is late",
    FaultKind.CORRUPT: "is corrupted",
    FaultKind.MARK: "is marked",
    FaultKind.REORDER: "is overtaken",
    FaultKind.BLACKOUT: "begins a blackout",
}


class _What(Part):
    """What a fault and a sweep of faults have in common."""

    kind: FaultKind = FaultKind.LOSE
    delay: Duration | None = Field(
        default=None,
        gt=0,
        description="how late a delayed packet is (100 ms); how long a reordered one waits at most (1 s)",
    )
    behind: int | None = Field(
        default=None, ge=1, le=1000, description="how many packets pass a reordered one (3)"
    )
    lasts: Duration | None = Field(
        default=None, gt=0, description="how long a blackout lasts from its packet on (200 ms)"
    )
    link: int = Field(
        default=1, ge=1, description="a link of the client's path, counted from the client"
    )

    @model_validator(mode="after")
    def _only_its_own(self) -> Self:
        for key, kinds in (
            ("delay", (FaultKind.DELAY, FaultKind.REORDER)),
            ("behind", (FaultKind.REORDER,)),
            ("lasts", (FaultKind.BLACKOUT,)),
        ):
            if getattr(self, key) is not None and self.kind not in kinds:
                text = " and ".join(f'kind = "{kind}"' for kind in kinds)
                raise wrong(key, f"is for {text}")
        return self

    @property
    def span(self) -> Duration:
        """How long it lasts: a delay, a reordered packet's longest wait, or a blackout."""
        match self.kind:
            case FaultKind.DELAY:
                return self.delay or _USUAL_DELAY
            case FaultKind.REORDER:
                return self.delay or _USUAL_WAIT
            case FaultKind.BLACKOUT:
                return self.lasts or _USUAL_BLACKOUT
            case _:
                return Duration(0)

    @property
    def passed_by(self) -> int:
        """How many packets pass a reordered one."""
        return (self.behind or 3) if self.kind is FaultKind.REORDER else 0

    @property
    def _manner(self) -> str:
        """How, beyond its kind: `` by 100 ms``."""
        return {
            FaultKind.DELAY: f" by {self.span}",
            FaultKind.REORDER: f" behind {self.passed_by} by {self.span}",
            FaultKind.BLACKOUT: f" for {self.span}",
        }.get(self.kind, "")

    @property
    def _where(self) -> str:
        return f" on link {self.link}" if self.link > 1 else ""


class Fault(_What):
    """What happens to packets of one direction, counted from 1 at the workload's beginning.

    Without packets nothing happens, but they are counted and the first ones kept: what a run with a fault is compared with.
    A file may write it as a text: ``lose down 3``, ``lose up 2+5``, ``delay down 1 by 50 ms``,
    ``reorder down 4 behind 2``, ``blackout up 1 for 300 ms``, ``none``.
    """

    other_forms = ({"type": "string", "pattern": f"^{re.sub(r'[?]P<[a-z]+>', '', _FORM.pattern)}"},)

    direction: Way = Way.DOWN
    packets: tuple[Annotated[int, Field(ge=1)], ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        match = _FORM.match(value)
        if not match:
            raise ValueError(
                f"{value!r} is not a fault; write it like "
                '"lose down 3", "delay up 1 by 50 ms", "reorder down 4 behind 2", '
                '"blackout down 2 for 300 ms" or "none"'
            )
        words = {key: text for key, text in match.groupdict().items() if text is not None}
        if "packets" in words:
            words |= {"packets": [int(number) for number in words["packets"].split("+")]}
        return words

    @property
    def turned_around(self) -> Fault:
        """The same of a link that is seen from its other end."""
        other = Way.DOWN if self.direction is Way.UP else Way.UP
        return self.model_copy(update={"direction": other})

    @property
    def happens(self) -> bool:
        """Whether anything happens to any packet."""
        return bool(self.packets)

    @property
    def place(self) -> str:
        """Direction and numbers: ``down 3``."""
        return f"{self.direction} {'+'.join(map(str, self.packets))}"

    def __str__(self) -> str:
        if not self.packets:
            return f"none{self._where}"
        return f"{self.kind} {self.place}{self._manner}{self._where}"

    @property
    def none(self) -> Fault:
        """What a run with it is compared with: nothing happens, and packets are counted at the same link."""
        return Fault(link=self.link)


class Ways(StrEnum):
    """Directions of a sweep."""

    UP = "up"
    DOWN = "down"
    BOTH = "both"

    @property
    def each(self) -> tuple[Way, ...]:
        return (Way.UP, Way.DOWN) if self is Ways.BOTH else (Way(self.value),)


_TOWARDS = {Way.UP: "the server", Way.DOWN: "the client"}


def _span_of_numbers(value: Any) -> Any:
    """``"2-9"`` as the numbers of its first and last packet; ``"3"`` as twice the same."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value, value)
    match = re.fullmatch(r"(\d+)(?:\s*-\s*(\d+))?", value) if isinstance(value, str) else None
    return (int(match[1]), int(match[2] or match[1])) if match else value


Span = tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(le=MOST_PACKETS)]]
Positions = Annotated[
    Span | Literal["handshake", "all"],
    BeforeValidator(_span_of_numbers),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": MOST_PACKETS},
                {"type": "string", "pattern": r"^(\d+(\s*-\s*\d+)?|handshake|all)$"},
            ]
        }
    ),
]


class FaultSweep(_What):
    """Each packet of a transfer meets a fault once: a run without one, and a run for each position."""

    direction: Ways = Ways.BOTH
    packets: Positions = Field(
        default="handshake",
        description='"1-40": of these numbers, those that a transfer has; "handshake"; "all"',
    )
    pairs: bool = Field(
        default=False, description="every two packets of a direction, instead of each one"
    )
    tolerance: str = Field(
        default="1 RTT",
        description="by how much longer a check's head may take at a position, in RTTs or as a time",
        json_schema_extra={"pattern": Duration.json_schema("RTT", "RTTs")["pattern"]},
    )

    @field_validator("packets", mode="after")
    @classmethod
    def _ascends(cls, value: Positions) -> Positions:
        if isinstance(value, tuple) and value[0] > value[1]:
            raise ValueError(_no_packets(value))
        return value

    @field_validator("packets", mode="wrap")
    @classmethod
    def _told_by_example(cls, value: Any, check: Any) -> Positions:
        try:
            pair: Positions = check(value)
        except ValueError as error:
            if isinstance(numbers := _span_of_numbers(value), tuple):
                raise ValueError(_no_packets(numbers)) from error
            raise ValueError(
                f'{value!r} names no packets; write "1-40", "handshake" or "all"'
            ) from error
        return pair

    @field_validator("tolerance")
    @classmethod
    def _is_a_time(cls, value: str) -> str:
        tolerated(value, Duration(1))
        return value

    def faults(self) -> Iterator[Fault]:
        """No fault, then every position that a transfer may have, whether it has it or not."""
        yield Fault(link=self.link)
        shared = {name: getattr(self, name) for name in _What.model_fields}
        for way in self.direction.each:
            for packets in itertools.combinations(self._numbers, 2 if self.pairs else 1):
                yield Fault(direction=way, packets=packets, **shared)

    @property
    def words(self) -> str:
        """What it tries: ``lose each packet of the handshake, towards the server and the client``."""
        manner = str(Fault(packets=(1,), **{n: getattr(self, n) for n in _What.model_fields}))
        kind, _, how = manner.partition(" down 1")
        match self.packets:
            case "handshake":
                which = "of the handshake"
            case "all":
                which = "of the transfer"
            case (first, last):
                which = f"from {first} to {last}" if first < last else f"number {first}"
        each = "every two packets" if self.pairs else "each packet"
        whom = " and ".join(_TOWARDS[way] for way in self.direction.each)
        return f"{kind}{how} {each} {which}, towards {whom}"

    @property
    def _numbers(self) -> range:
        match self.packets:
            case "handshake":
                return range(1, MOST_HANDSHAKE_PACKETS + 1)
            case "all":
                return range(1, MOST_PACKETS + 1)
            case (first, last):
                return range(first, last + 1)

    @property
    def of_handshake(self) -> bool:
        """Whether positions end with the handshake."""
        return self.packets == "handshake"


def _no_packets(numbers: tuple[int, int]) -> str:
    first, last = numbers
    return f"{first} to {last} are no packets; they are numbered from 1 to {MOST_PACKETS:,}, the first before the last"


def tolerated(text: str, rtt: Duration) -> Duration:
    """A tolerance as a time: of so many RTTs, or as it stands.

    Raises:
        ValueError: it is neither.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*RTTs?\s*", text)
    return Duration(round(float(match[1]) * rtt)) if match else Duration.parse(text)
