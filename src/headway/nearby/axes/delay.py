"""The delay of the path."""

from __future__ import annotations

from headway.nearby.axis import NearbyLevel, Table, scaled
from headway.nearby.paths import is_stated, on_ways, ways
from headway.study.axisnames import AxisName
from headway.study.path import Direction
from headway.study.setting import Setting
from headway.study.units import Duration

_LONGEST_MS = 30_000


def _rtt_ms(setting: Setting) -> float | None:
    """Round-trip time, all paths together, ms."""
    if not is_stated(setting):
        return None
    return sum(way.delay for _, way, _ in ways(setting)) / 1e6 or None


def _at(setting: Setting, rtt_ms: float) -> NearbyLevel:
    own_ms = _rtt_ms(setting) or rtt_ms
    factor = min(rtt_ms, _LONGEST_MS) / own_ms

    def longer(raw: Table, way: Direction, _: str) -> Table:
        changes = [
            change
            | (
                {"delay": _scaled(Duration.parse(change["delay"]), factor)}
                if "delay" in change
                else {}
            )
            for change in raw.get("changes", ())
        ]
        return (
            raw | {"delay": _scaled(way.delay, factor)} | ({"changes": changes} if changes else {})
        )

    return NearbyLevel(f"at an RTT of {Duration(round(rtt_ms * 1e6))}", on_ways(longer), rtt_ms)


def _scaled(delay: Duration, factor: float) -> str:
    return f"{round(delay * factor)} ns"


AXES = (
    scaled(AxisName.RTT, "round-trip time of the path: twice, half", 50, _rtt_ms, _at, (2.0, 0.5)),
)
