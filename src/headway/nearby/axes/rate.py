"""The rate of the path: how high it is, and whether it changes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from headway.nearby.axis import NearbyAxis, NearbyLevel, Table, scaled
from headway.nearby.paths import is_stated, on_ways, ways
from headway.study.axisnames import AxisName
from headway.study.path import Direction
from headway.study.rates import RandomRate, RateSchedule
from headway.study.setting import Setting
from headway.study.units import Rate

_EVERY = "1 s"
_SPAN = (0.5, 1.5)
"""Of a rate that changes, around its mean: as wide as that of Kakhki's Figure 11."""

_FASTEST_BIT_S = 200e6
"""Of faster links, the self-test does not follow such changes."""


def _bottleneck_mbit(setting: Setting) -> float | None:
    """The least mean rate of any direction, Mbit/s; None if nothing limits it, or a trace does."""
    rates = [way.rate for _, way, _ in ways(setting) if way.rate is not None]
    if not rates or not is_stated(setting):
        return None
    if not all(isinstance(rate, RateSchedule | RandomRate) for rate in rates):
        return None
    return min(_mean_bit_s(way) for _, way, _ in ways(setting) if way.rate is not None) / 1e6


def _mean_bit_s(way: Direction) -> float:
    match way.rate:
        case RateSchedule(steps=[step], repeat=None):
            return float(step.rate)
        case RateSchedule(steps=steps, repeat=repeat):
            # The last step of a schedule that does not repeat has no end: all steps count alike then.
            ends = [*(step.at for step in steps[1:]), repeat] if repeat else None
            if ends is None:
                return sum(step.rate for step in steps) / len(steps)
            spans = [end - step.at for step, end in zip(steps, ends, strict=True)]
            return sum(step.rate * span for step, span in zip(steps, spans, strict=True)) / sum(
                spans
            )
        case rate:
            return float(way.first_rate or 0) if rate else 0.0


def _at(setting: Setting, mbit: float) -> NearbyLevel:
    factor = mbit / (_bottleneck_mbit(setting) or mbit)

    def scale(raw: Table, way: Direction, _: str) -> Table:
        match way.rate:
            case RateSchedule(steps=steps, repeat=repeat):
                scaled_steps = [
                    {"at": f"{step.at.ns} ns", "rate": _bits(step.rate * factor)} for step in steps
                ]
                rate: Table = {"steps": scaled_steps}
                if repeat is not None:
                    rate["repeat"] = f"{repeat.ns} ns"
            case RandomRate(low=low, high=high, every=every):
                rate = {
                    "low": _bits(low * factor),
                    "high": _bits(high * factor),
                    "every": f"{every.ns} ns",
                }
            case _:
                return raw
        changes = [
            change
            | ({"rate": _bits(Rate.parse(change["rate"]) * factor)} if "rate" in change else {})
            for change in raw.get("changes", ())
        ]
        return raw | {"rate": rate} | ({"changes": changes} if changes else {})

    return NearbyLevel(f"at a rate of {Rate(round(mbit * 1e6))}", on_ways(scale), mbit)


def _bits(rate: float) -> str:
    return f"{round(rate)} bit/s"


def _changes(setting: Setting) -> Hashable:
    return tuple(_is_constant(way) for _, way, _ in ways(setting))


def _is_constant(way: Direction) -> bool | None:
    """Whether a direction's rate stays; None without one."""
    match way.rate:
        case None:
            return None
        case RateSchedule(steps=[_]):
            return not any(change.rate for change in way.changes)
        case _:
            return False


def _limited(setting: Setting) -> list[Direction]:
    """The directions with a rate; none if the study does not state their paths."""
    limited = [way for _, way, _ in ways(setting) if way.rate is not None]
    return limited if is_stated(setting) else []


def _steady(setting: Setting) -> Iterable[NearbyLevel]:
    if not all(map(_is_constant, _limited(setting))):
        yield NearbyLevel("at a constant rate", on_ways(_constant))


def _unsteady(setting: Setting) -> Iterable[NearbyLevel]:
    limited = _limited(setting)
    slow_enough = all(_mean_bit_s(way) <= _FASTEST_BIT_S for way in limited)
    if limited and slow_enough and all(map(_is_constant, limited)):
        low, _ = _SPAN
        share = f"{1 - low:.0%}".replace("%", " %")
        label = f"at a rate that changes each second by up to {share}"
        yield NearbyLevel(label, on_ways(_varying))


def _constant(raw: Table, way: Direction, _: str) -> Table:
    if way.rate is None:
        return raw
    kept = [
        {key: value for key, value in change.items() if key != "rate"}
        for change in raw.get("changes", ())
    ]
    kept = [change for change in kept if change.keys() - {"at"}]
    steady = {key: value for key, value in raw.items() if key != "changes"} | {
        "rate": _bits(_mean_bit_s(way))
    }
    if way.queue.bursts:
        steady["queue"] = {"bdp": way.queue.bdp}
    return steady | ({"changes": kept} if kept else {})


def _varying(raw: Table, way: Direction, _: str) -> Table:
    if way.rate is None:
        return raw
    low, high = (_bits(_mean_bit_s(way) * share) for share in _SPAN)
    return raw | {"rate": {"low": low, "high": high, "every": _EVERY}}


AXES = (
    scaled(AxisName.RATE, "rate of the path: twice, half", 60, _bottleneck_mbit, _at, (2.0, 0.5)),
    NearbyAxis(
        AxisName.CONSTANT_RATE, "a constant rate instead of a changing one", 12, _changes, _steady
    ),
    NearbyAxis(
        AxisName.CHANGING_RATE, "a changing rate instead of a constant one", 90, _changes, _unsteady
    ),
)
