"""A path in words, aspect by aspect: whatever names a path's conditions takes its words from here.

An aspect is a property of a path with its name, such as the rate or its blackouts, over the whole time and for all links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from headway.study.contacts import Window
from headway.study.courses import course, listed, part_words, time_words
from headway.study.middlebox import Udp
from headway.study.packetnumbers import packet_words
from headway.study.path import Direction, Jitter, Link, Path
from headway.study.queue import Discipline
from headway.study.rates import RandomRate, RateSchedule, TraceRate
from headway.study.units import Duration, Rate

_MOST_WINDOWS = 8
NONE, _NO_LIMIT = "none", "no limit"
_CABLE = Link()


@dataclass(frozen=True)
class Aspect:
    """A property of a path.

    Attributes:
        name: what it is: ``rate``, ``rate up``, ``blackouts``.
        words: its value, over the whole time: ``12 and 1 Mbit/s from 0 and 200 ms``.
        is_number: whether it is a single number that never changes, and so what a column of numbers has says it all.
        is_usual: whether it goes without saying: no loss, a queue of one BDP.
    """

    name: str
    words: str
    is_number: bool = False
    is_usual: bool = False

    def __str__(self) -> str:
        """As the record has it."""
        return f"{self.name}: {self.words}"

    @property
    def title(self) -> str:
        """As it stands among others."""
        if self.name == "rate":
            return self.words
        return f"{self.words} up" if self.name == "rate up" else f"{self.name} {self.words}"


def path_aspects(path: Path) -> tuple[Aspect, ...]:
    """All that there is to say of a path."""
    links = [link for link in path.links if link != _CABLE] or [_CABLE]
    return (
        *([Aspect("profile", path.profile, is_number=True)] if path.profile else []),
        *_rates(links),
        *_delays(links),
        *_both_ways(links, "loss"),
        *_both_ways(links, "jitter"),
        *_both_ways(links, "queue"),
        *chain.from_iterable(_of_ways(links, name) for name in OTHERS),
        *chain.from_iterable(_of_links(links, name) for name in _OF_LINK),
    )


def path_title(path: Path) -> str:
    """The same in a line, without what goes without saying: ``12 Mbit/s, RTT 40 ms, loss 1 %``."""
    aspects = path_aspects(path)
    there = {f"{aspect.name} up": aspect.words for aspect in aspects}
    shown = [
        aspect
        for aspect in aspects
        if not aspect.is_usual and there.get(aspect.name) != aspect.words
    ]
    return ", ".join(aspect.title for aspect in shown)


def _rates(links: Sequence[Link]) -> Iterator[Aspect]:
    for name, ways in (("rate", _down(links)), ("rate up", _up(links))):
        limited = [way for way in ways if way.rate is not None]
        words = [_rate(way) for way in ways]
        if limited:
            constant = len(limited) == 1 and _is_constant(limited[0])
            yield Aspect(name, _chained(words, _NO_LIMIT), is_number=constant)


def _delays(links: Sequence[Link]) -> Iterator[Aspect]:
    rtt = Duration(sum(link.down.delay + link.up.delay for link in links))
    changes = any(_changed(way, "delay") for way in (*_down(links), *_up(links)))
    yield Aspect("RTT", f"{time_words(rtt)}{' at first' if changes else ''}", is_number=not changes)
    down, up = (_chained([_delay(way) for way in ways]) for ways in (_down(links), _up(links)))
    far = sum(bool(link.down.delay or link.up.delay) for link in links)
    if changes or down != up or far > 1:
        yield from _apart("one-way delay", down, up)


def _both_ways(links: Sequence[Link], name: str) -> Iterator[Aspect]:
    """An aspect of which there are columns of numbers: the way down, and the way up if it is another one."""
    aspect, single = NUMBERED[name], True
    down, up = ([aspect.say(way) for way in aspect.of(ways)] for ways in (_down(links), _up(links)))
    if down:
        numbers = [aspect.is_number(way) for way in _down(links)]
        others = [text for text in down if text != aspect.usual]
        single = all(numbers) and len(others) <= (len(down) == 1 or aspect.adds_up)
        yield Aspect(name, _chained(down), is_number=single, is_usual=not others)
    if up and up != down:
        # Words of the way down hold for both, unless there are words of the way up beside them.
        single = single and name == "loss"
        single = single and all(aspect.is_number(way) and way.loss.burst == 1 for way in _up(links))
        single = single and sum(text != aspect.usual for text in up) < 2
        yield Aspect(f"{name} up", _chained(up), is_number=single)


def _of_ways(links: Sequence[Link], name: str) -> Iterator[Aspect]:
    say = OTHERS[name]
    down, up = ([say(way) for way in ways] for ways in (_down(links), _up(links)))
    if any((*down, *up)):
        yield from _apart(name, _chained(down), _chained(up))


def _of_links(links: Sequence[Link], name: str) -> Iterator[Aspect]:
    words = [_OF_LINK[name](link) for link in links]
    if any(words):
        yield Aspect(name, _chained(words))


def _apart(name: str, down: str, up: str) -> Iterator[Aspect]:
    """One aspect if both ways are alike, else one for each way that has it."""
    if down == up:
        yield Aspect(name, down)
        return
    for way, words in (("down", down), ("up", up)):
        if words != NONE:
            yield Aspect(f"{name} {way}", words)


def _chained(words: Sequence[str], absent: str = NONE) -> str:
    """What links say, the first next to the client; once if there is but one that says anything."""
    if not any(words):
        return absent
    return " + ".join(text or absent for text in words)


def _down(links: Sequence[Link]) -> list[Direction]:
    return [link.down for link in links]


def _up(links: Sequence[Link]) -> list[Direction]:
    return [link.up for link in links]


def _changed(way: Direction, key: str) -> list[tuple[Duration, Any]]:
    """Times and values of the changes of a property."""
    pairs = ((change.at, getattr(change, key)) for change in way.changes)
    return [(at, value) for at, value in pairs if value is not None]


def _is_constant(way: Direction) -> bool:
    steady = isinstance(way.rate, RateSchedule) and len(way.rate.steps) == 1
    return steady and not _changed(way, "rate")


def _rate(way: Direction) -> str:
    changes = _changed(way, "rate")
    if isinstance(way.rate, RateSchedule):
        steps = [(step.at, step.rate) for step in way.rate.steps]
        if way.rate.repeat is None:
            return course(sorted([*steps, *changes], key=lambda step: step[0]))
        words = f"{course(steps)}, again every {way.rate.repeat}"
    elif isinstance(way.rate, RandomRate):
        words = f"{way.rate.low} to {way.rate.high}, drawn anew every {way.rate.every}"
    elif isinstance(way.rate, TraceRate):
        words = _trace(way)
    else:
        return ""
    return "; ".join([words, *(f"{rate} from {time_words(at)}" for at, rate in changes)])


def _trace(way: Direction) -> str:
    assert isinstance(way.rate, TraceRate)
    if (account := way.rate.account) is None:
        return f"trace {way.rate.trace}"
    mean, length = Rate(account.mean_bit_per_s), Duration(account.length_ms * 10**6)
    return f"trace {way.rate.trace}, {mean} in the mean over {length}"


def _delay(way: Direction) -> str:
    return course([(Duration(0), way.delay), *_changed(way, "delay")])


def _jitter(way: Direction) -> str:
    steps = [(Duration(0), way.jitter), *_changed(way, "jitter")]
    if not any(value for _, value in steps):
        return "0 ms"
    shape = "" if way.jitter_distribution is Jitter.UNIFORM else f" {way.jitter_distribution}"
    return f"{course(steps)}{shape}{' out of order' if way.jitter_reorders else ''}"


def _loss(way: Direction) -> str:
    return course([(Duration(0), way.loss), *_changed(way, "loss")])


def _queue(way: Direction) -> str:
    queue = way.queue
    if queue.bdp is not None:
        size = f"{queue.bdp:g} BDP"
    elif queue.packets is not None:
        size = f"{queue.packets} packets"
    else:
        size = str(queue.size if queue.size is not None else queue.drain)
    name = "" if queue.discipline is Discipline.DROPTAIL else f" {queue.discipline}"
    times = ", ".join(f"{_article(name)} of {value}" for name, value in queue.stated_times.items())
    size += " at the trace's best and its largest burst" if queue.bursts else ""
    return f"{size}{name}{' ECN' if queue.ecn else ''}{f' with {times}' if times else ''}"


def _article(name: str) -> str:
    return f"an {name}" if name == "interval" else f"a {name}"


def _blackouts(way: Direction) -> str:
    return _windows(way.blackouts)


def _contacts(way: Direction) -> str:
    if way.contacts is None:
        return ""
    again = f", again every {way.contacts.repeat}" if way.contacts.repeat else ""
    return f"{_windows(way.contacts.spans)}{again}, packets in between {way.contacts.meanwhile}"


def _windows(windows: Sequence[Window]) -> str:
    shown = listed(
        [f"{time_words(window.start)} to {window.end}" for window in windows[:_MOST_WINDOWS]]
    )
    more = len(windows) - _MOST_WINDOWS
    return f"{shown} and {more} more, the last to {windows[-1].end}" if more > 0 else shown


def _share(name: str) -> Callable[[Direction], str]:
    def say(way: Direction) -> str:
        share = getattr(way, name)
        return str(share) if share else ""

    return say


def _mtu(way: Direction) -> str:
    if not way.mtu:
        return ""
    return f"{int(way.mtu.size)} B{'' if way.mtu.icmp else ' without ICMP'}"


def _policer(way: Direction) -> str:
    return f"{way.policer.rate} with bursts of {way.policer.burst}" if way.policer else ""


def _udp(way: Direction) -> str:
    udp = way.udp
    if not udp:
        return ""
    burst = f" with bursts of {udp.burst}" if isinstance(udp, Udp) and udp.burst else ""
    return f"{udp}{burst}"


def _with_rate(ways: Sequence[Direction]) -> list[Direction]:
    """Where there is a rate, a queue forms."""
    return [way for way in ways if way.rate is not None]


@dataclass(frozen=True)
class _Numbered:
    """An aspect of which there are columns of numbers, too.

    Attributes:
        say: its words.
        is_number: whether a number says it all.
        usual: the words that go without saying.
        of: the directions that have it.
        adds_up: whether the number is that of a chain of links, and not of one of them.
    """

    say: Callable[[Direction], str]
    is_number: Callable[[Direction], bool]
    usual: str
    of: Callable[[Sequence[Direction]], list[Direction]] = list
    adds_up: bool = True


def _is_plain_jitter(way: Direction) -> bool:
    uniform = way.jitter_distribution is Jitter.UNIFORM
    return uniform and not way.jitter_reorders and not _changed(way, "jitter")


def _is_plain_queue(way: Direction) -> bool:
    return way.queue.discipline is Discipline.DROPTAIL and way.queue.packets is None


NUMBERED: Mapping[str, _Numbered] = {
    "loss": _Numbered(_loss, lambda way: not _changed(way, "loss"), "0 %"),
    "jitter": _Numbered(_jitter, _is_plain_jitter, "0 ms"),
    "queue": _Numbered(_queue, _is_plain_queue, "1 BDP", _with_rate, adds_up=False),
}

OTHERS: Mapping[str, Callable[[Direction], str]] = {
    "reordering": _share("reordering"),
    "named drops": lambda way: packet_words(way.drop_packets),
    "blackouts": _blackouts,
    "contacts": _contacts,
    "duplication": _share("duplication"),
    "corruption": _share("corruption"),
    "MTU": _mtu,
    "policer": _policer,
    "UDP": _udp,
    "ECN changed": lambda way: str(way.ecn) if way.ecn else "",
    "tunnel": lambda way: str(way.tunnel) if way.tunnel else "",
    "access": lambda way: ", ".join(part_words(way.access)) if way.access else "",
}
"""Aspects of a direction that only words say."""

_OF_LINK: Mapping[str, Callable[[Link], str]] = {
    "NAT": lambda link: str(link.nat).removeprefix("NAT, ") if link.nat else "",
    "satellite": lambda link: ", ".join(part_words(link.satellite)) if link.satellite else "",
}


def direction_words(name: str, way: Direction) -> str:
    """What a direction has of an aspect; empty if nothing."""
    say = {"rate": _rate, "one-way delay": _delay, **OTHERS}
    return NUMBERED[name].say(way) if name in NUMBERED else say[name](way)
