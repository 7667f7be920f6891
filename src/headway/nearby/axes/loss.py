"""Loss by chance: how much, in bursts or not, and in which direction."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from headway.nearby.axis import NearbyAxis, NearbyLevel, Table, scaled
from headway.nearby.paths import DOWN, UP, WayChange, is_stated, on_ways, ways
from headway.study.axisnames import AxisName
from headway.study.path import Direction
from headway.study.setting import Setting
from headway.study.units import Ratio

_BURST_PACKETS = 5
_MOST = 0.3
"""Of which share of packets is lost hardly anything is left to compare."""
_SOME = 0.01
"""What a path without loss is tried with."""


def _greatest(setting: Setting) -> float | None:
    """The greatest loss of any direction, as a share; None without any."""
    if not is_stated(setting):
        return None
    return max((float(way.loss.mean) for _, way, _ in ways(setting)), default=0) or None


def _at(setting: Setting, share: float) -> NearbyLevel:
    factor = share / (_greatest(setting) or share)

    def more(raw: Table, way: Direction, _: str) -> Table:
        if not way.loss.mean:
            return raw
        return raw | {"loss": {**_loss(way), "mean": _percent(way.loss.mean * factor)}}

    return NearbyLevel(f"with {Ratio(share)} of loss", on_ways(more), share)


def _loss(way: Direction) -> Table:
    return way.loss.model_dump(mode="json", exclude_defaults=True)


def _percent(share: float) -> str:
    return f"{min(share, _MOST) * 100:.6f} %"


def _bursts(setting: Setting) -> Hashable:
    return frozenset(way.loss.burst for _, way, _ in ways(setting) if way.loss.mean) or None


def _other_bursts(setting: Setting) -> Iterable[NearbyLevel]:
    lossy = [way for _, way, _ in ways(setting) if way.loss.mean]
    if not lossy or not is_stated(setting):
        return
    if any(way.loss.burst > 1 for way in lossy):
        yield _bursts_of(setting, 1)
    else:
        yield _bursts_of(setting, _BURST_PACKETS)


def _bursts_of(_: Setting, packets: float) -> NearbyLevel:
    def other(raw: Table, way: Direction, _: str) -> Table:
        if not way.loss.mean:
            return raw
        mean = _loss(way)["mean"]
        return raw | {"loss": {"mean": mean, "burst": packets} if packets > 1 else {"mean": mean}}

    label = (
        f"with losses in bursts of {packets:.3g} packets"
        if packets > 1
        else "with independent losses"
    )
    return NearbyLevel(label, on_ways(other), packets)


def _longest_burst(setting: Setting) -> float | None:
    return max((way.loss.burst for _, way, _ in ways(setting) if way.loss.mean), default=None)


def _sides(setting: Setting) -> Hashable:
    return tuple(name for _, way, name in ways(setting) if way.loss.mean) or None


def _other_sides(setting: Setting) -> Iterable[NearbyLevel]:
    lossy = {name: way for _, way, name in ways(setting) if way.loss.mean}
    if not lossy or not is_stated(setting):
        return
    if lossy.keys() == {DOWN, UP}:
        yield NearbyLevel("with losses towards the client alone", on_ways(_only(DOWN)))
        yield NearbyLevel("with losses towards the server alone", on_ways(_only(UP)))
        return
    (own,) = lossy

    def both(raw: Table, way: Direction, name: str) -> Table:
        return raw if name == own else raw | {"loss": _loss(lossy[own])}

    yield NearbyLevel("with the same losses in both directions", on_ways(both))


def _only(kept: str) -> WayChange:
    def one_sided(raw: Table, _: Direction, name: str) -> Table:
        return raw if name == kept else {key: value for key, value in raw.items() if key != "loss"}

    return one_sided


def _is_lossy(setting: Setting) -> Hashable:
    return bool(_greatest(setting))


def _some_loss(setting: Setting) -> Iterable[NearbyLevel]:
    if (
        not is_stated(setting)
        or _greatest(setting)
        or not any(way.delay for _, way, _ in ways(setting))
    ):
        return

    def lossy(raw: Table, _: Direction, name: str) -> Table:
        return raw | {"loss": _percent(_SOME)} if name == DOWN else raw

    yield NearbyLevel(f"with {Ratio(_SOME)} of loss towards the client", on_ways(lossy))


AXES = (
    NearbyAxis(
        AxisName.BURSTS,
        "random losses against bursts of 5 packets with the same mean",
        10,
        _bursts,
        _other_bursts,
        _longest_burst,
        _bursts_of,
    ),
    NearbyAxis(
        AxisName.DIRECTION_OF_LOSSES,
        "losses in each direction alone, or in both",
        30,
        _sides,
        _other_sides,
    ),
    scaled(
        AxisName.LOSS, "share of packets that is lost: twice, half", 100, _greatest, _at, (2.0, 0.5)
    ),
    NearbyAxis(
        AxisName.ANY_LOSS,
        "1 % of loss towards the client, on a path without loss",
        20,
        _is_lossy,
        _some_loss,
    ),
)
