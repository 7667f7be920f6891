"""Orbits of satellites: delays of a link from the geometry of circular ones.

Satellites of a Walker delta constellation (J. G. Walker, "Satellite constellations", Journal of the
British Interplanetary Society 37, 1984): planes of one inclination, evenly spread around the
equator, each with as many satellites, evenly spread. The Earth is a sphere that turns; orbits keep
their planes. One satellite above the equator is the geostationary case of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from headway.errors import nearest
from headway.study.base_model import Part
from headway.study.units import Angle, Duration, Length

EARTH_RADIUS_M = 6_371_000.0
"""The mean one (IUGG)."""
_EARTH_GM = 3.986004418e14
"""Geocentric gravitational constant in m^3/s^2 (WGS 84)."""
_EARTH_TURN = 7.292115e-5
"""The Earth's rotation in rad/s (WGS 84)."""
LIGHT_M_S = 299_792_458.0
_RESOLUTION_NS = 1_000
_MOST_SAMPLES = 100_000
_MOST_POSITIONS = 1_000_000
"""How many positions of satellites are computed; so many take seconds."""

_NAMED: dict[str, dict[str, Any]] = {
    "geo": {
        "altitude": "35786 km",
        "inclination": "0 deg",
        "planes": 1,
        "satellites": 1,
        "node": "10 deg",
        "min_elevation": "5 deg",
    },
    "leo": {},
}
_ORBITS = f"orbits by name: {', '.join(_NAMED)}; or a table with an altitude"

_Vector = tuple[float, float, float]


class Position(Part):
    """A place on the ground."""

    latitude: Angle
    longitude: Angle

    @field_validator("latitude")
    @classmethod
    def _on_earth(cls, latitude: Angle) -> Angle:
        if abs(latitude) > 90:
            raise ValueError(f"a latitude is between -90 deg and 90 deg, not {latitude}")
        return latitude


class Orbit(Part):
    """A constellation, and who is connected by it: by default Starlink's first shell.

    The terminal's satellite is chosen at every hand-over: the one that stands highest above the
    horizon where it is lower, terminal's or gateway's. It is kept until the next one.
    """

    other_forms = ({"enum": [*_NAMED]},)

    altitude: Length = Length(550_000)
    inclination: Angle = Angle(53)
    planes: int = Field(default=72, ge=1)
    satellites: int = Field(default=22, ge=1, description="in every plane")
    phasing: int = Field(
        default=1,
        ge=0,
        description="Walker's F: satellites are ahead of those of the plane before by F / planes of "
        "the angle between satellites",
    )
    node: Angle = Field(
        default=Angle(0), description="longitude above which the first satellite begins, northwards"
    )
    terminal: Position = Position(latitude=Angle(48.1), longitude=Angle(11.6))
    gateway: Position | None = Field(default=None, description="by default beside the terminal")
    min_elevation: Angle = Angle(25)
    handover: Duration = Field(default=Duration(15 * 10**9), gt=0)
    interruption: Duration = Field(
        default=Duration(0), description="how long nothing passes after a change of satellite"
    )
    start: Duration = Field(default=Duration(0), description="time of the orbits at the start")
    sampling: Duration = Field(default=Duration(10**9), gt=0)
    until: Duration = Field(
        default=Duration(600 * 10**9), gt=0, description="the last delay stays after that"
    )

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        if value == {}:
            raise ValueError(f"says nothing; {_ORBITS}")
        if not isinstance(value, str):
            return value
        if value not in _NAMED:
            raise ValueError(f"no orbit {value!r}{nearest(value, list(_NAMED), then=_ORBITS)}")
        return _NAMED[value]

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.altitude <= 0:
            raise ValueError("an orbit's altitude is above zero")
        if self.interruption >= self.handover:
            raise ValueError("the interruption must be shorter than the time between hand-overs")
        if self.until > _MOST_SAMPLES * self.sampling:
            raise ValueError(f"more than {_MOST_SAMPLES} samples; make `sampling` longer")
        if self.until * self.planes * self.satellites > _MOST_POSITIONS * self.handover:
            raise ValueError(
                f"more than {_MOST_POSITIONS} positions of satellites, each at every hand-over; "
                "choose fewer satellites or hand-overs, or an earlier end"
            )
        return self


@dataclass(frozen=True)
class Track:
    """What a link by satellite makes of its orbit.

    Attributes:
        delays: times, and the one-way propagation delay from then on, ns; the first at 0.
        gaps: beginnings and ends of spans without a satellite, ns.
    """

    delays: tuple[tuple[int, int], ...]
    gaps: tuple[tuple[int, int], ...]


@cache
def track(orbit: Orbit) -> Track:
    """Follow an orbit's satellites, from hand-over to hand-over.

    Raises:
        ValueError: no satellite is ever high enough.
    """
    delays: list[tuple[int, int]] = []
    gaps: list[tuple[int, int]] = []
    serving: int | None = None
    for begin in range(0, orbit.until, orbit.handover):
        end = begin + orbit.handover
        before, serving = serving, _highest(orbit, begin)
        if serving is None:
            gaps.append((begin, end))
            continue
        if orbit.interruption and before not in (None, serving):
            gaps.append((begin, begin + orbit.interruption))
        for at in range(begin, min(end, orbit.until), orbit.sampling):
            delay = _delay_ns(orbit, serving, at)
            if not delays or delay != delays[-1][1]:
                delays.append((at, delay))
    if not delays:
        raise ValueError(f"no satellite is ever {orbit.min_elevation} above the horizon")
    (_, first), *later = delays
    return Track(((0, first), *later), tuple(gaps))


def _highest(orbit: Orbit, at_ns: int) -> int | None:
    """Number of the satellite to be connected by; None if none is high enough."""
    at_s = _seconds(orbit, at_ns)
    grounds = [_ground(place, at_s) for place in _places(orbit)]

    def towards(number: int) -> float:
        """Grows with the lower of the elevations, as all satellites are equally far out."""
        satellite = _satellite(orbit, number, at_s)
        return min(_dot(satellite, ground) for ground in grounds)

    best = max(range(orbit.planes * orbit.satellites), key=towards)
    satellite = _satellite(orbit, best, at_s)
    lower = min(_elevation(satellite, ground) for ground in grounds)
    return best if lower >= orbit.min_elevation.radians else None


def _delay_ns(orbit: Orbit, number: int, at_ns: int) -> int:
    """One way from the terminal by a satellite to the gateway, through a vacuum."""
    at_s = _seconds(orbit, at_ns)
    satellite = _satellite(orbit, number, at_s)
    metres = math.fsum(math.dist(satellite, _ground(place, at_s)) for place in _places(orbit))
    return round(metres / LIGHT_M_S * 1e9 / _RESOLUTION_NS) * _RESOLUTION_NS


def _seconds(orbit: Orbit, at_ns: int) -> float:
    return orbit.start.s + at_ns / 1e9


def _places(orbit: Orbit) -> tuple[Position, Position]:
    return orbit.terminal, orbit.gateway or orbit.terminal


def _elevation(satellite: _Vector, ground: _Vector) -> float:
    line = [s - g for s, g in zip(satellite, ground, strict=True)]
    return math.asin(_dot(line, ground) / (math.hypot(*line) * EARTH_RADIUS_M))


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _ground(place: Position, at_s: float) -> _Vector:
    """Position in metres, the x axis above longitude 0 at time 0, the z axis the Earth's."""
    latitude, turned = place.latitude.radians, place.longitude.radians + _EARTH_TURN * at_s
    return (
        EARTH_RADIUS_M * math.cos(latitude) * math.cos(turned),
        EARTH_RADIUS_M * math.cos(latitude) * math.sin(turned),
        EARTH_RADIUS_M * math.sin(latitude),
    )


def _satellite(orbit: Orbit, number: int, at_s: float) -> _Vector:
    """Position in metres, with the same axes."""
    radius = EARTH_RADIUS_M + orbit.altitude.metres
    plane, place = divmod(number, orbit.satellites)
    node = orbit.node.radians + math.tau * plane / orbit.planes
    ahead = (place + orbit.phasing * plane / orbit.planes) / orbit.satellites
    along = math.tau * ahead + math.sqrt(_EARTH_GM / radius**3) * at_s
    tilt = orbit.inclination.radians
    across = math.sin(along) * math.cos(tilt)
    return (
        radius * (math.cos(node) * math.cos(along) - math.sin(node) * across),
        radius * (math.sin(node) * math.cos(along) + math.cos(node) * across),
        radius * math.sin(along) * math.sin(tilt),
    )
