"""The bottleneck's queue: its size, and what it does when it fills."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from headway.nearby.axis import NearbyAxis, NearbyLevel, Table
from headway.nearby.paths import is_stated, on_ways, ways
from headway.study.axisnames import AxisName
from headway.study.path import Direction
from headway.study.queue import TIMES, Discipline
from headway.study.setting import Setting

_SIZES_BDP = (1.0, 0.25, 4.0, 0.5)
_ALIKE = 0.1
"""Queues of which one is larger by less than this share are one size."""
_OF_A_DISCIPLINE = ("ecn", *TIMES)
"""Keys of a queue that others than its discipline may not have."""
_SIZES = ("bdp", "size", "packets", "drain", "bursts")


def _bdps(setting: Setting) -> float | None:
    """Size of the bottleneck's queue, bandwidth-delay products; None where nothing queues, or there is no delay."""
    if not is_stated(setting):
        return None
    limited = [
        (way.first_rate, path, way)
        for path, way, _ in ways(setting)
        if way.first_rate is not None and path.rtt
    ]
    if not limited:
        return None
    rate, path, way = min(limited, key=lambda entry: entry[0])
    return (way.queue_bytes(path.rtt) or 0) * 8e9 / (rate * path.rtt) or None


def _at(_: Setting, bdp: float) -> NearbyLevel:
    def resize(raw: Table, way: Direction, _: str) -> Table:
        if way.first_rate is None:
            return raw
        kept = {key: value for key, value in raw.get("queue", {}).items() if key not in _SIZES}
        return raw | {"queue": kept | {"bdp": bdp}}

    return NearbyLevel(f"with a queue of {bdp:.2g} BDP", on_ways(resize), bdp)


def _other_sizes(setting: Setting) -> Iterable[NearbyLevel]:
    own = _bdps(setting)
    if own is None:
        return
    for bdp in _SIZES_BDP:
        if not 1 / (1 + _ALIKE) < bdp / own < 1 + _ALIKE:
            yield _at(setting, bdp)


def _disciplines(setting: Setting) -> Hashable:
    return tuple((way.queue.discipline, way.queue.ecn) for _, way, _ in ways(setting))


def _other_discipline(setting: Setting) -> Iterable[NearbyLevel]:
    limited = [way for _, way, _ in ways(setting) if way.first_rate is not None]
    if not limited or not is_stated(setting):
        return
    plain = all(way.queue.discipline is Discipline.DROPTAIL for way in limited)
    wanted = Discipline.FQ_CODEL if plain else Discipline.DROPTAIL

    def other(raw: Table, way: Direction, _: str) -> Table:
        if way.first_rate is None:
            return raw
        kept = {
            key: value
            for key, value in raw.get("queue", {"bdp": 1}).items()
            if key not in _OF_A_DISCIPLINE
        }
        return raw | {"queue": kept | {"discipline": str(wanted)}}

    label = "with fq_codel at the bottleneck" if plain else "with a drop-tail queue"
    yield NearbyLevel(label, on_ways(other))


AXES = (
    NearbyAxis(
        AxisName.QUEUE,
        "size of the bottleneck's queue: 1, 0.25, 4 and 0.5 BDP",
        40,
        _bdps,
        _other_sizes,
        _bdps,
        _at,
    ),
    NearbyAxis(
        AxisName.DISCIPLINE,
        "fq_codel against a drop-tail queue",
        45,
        _disciplines,
        _other_discipline,
    ),
)
