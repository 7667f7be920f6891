"""Path profiles: paths of mobile, cellular and satellite access, and those of tools for web performance, by name.

``path.profile = "4g-good"`` stands for the links of that profile. What else the path says (queue,
loss) refines them. A profile that was measured as a distribution is drawn anew by every
repetition's seed, for all contenders alike; ``"4g-good median"`` is its median, always the same.
"""

from __future__ import annotations

import copy
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from headway.errors import WrongInputError, nearest
from headway.overriding import override
from headway.study.path import Direction, Way
from headway.study.satellite import Satellite
from headway.study.setting import Setting
from headway.tables import table

_MEDIAN = " median"
_PATHS = ("path", "second_path")
"""Keys of a setting's paths, whichever table they are in."""
_SLOWEST_MBIT = 0.01


@dataclass(frozen=True)
class Profile(ABC):
    """A named path.

    Attributes:
        name: as a study file has it.
        source: where its numbers come from.
    """

    name: str
    source: str

    is_drawn: ClassVar[bool] = False
    """Whether every repetition has another path of it."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Its properties in a line."""

    @abstractmethod
    def path(self, seed: int | None) -> dict[str, Any]:
        """The path as a study file would have it.

        Args:
            seed: of the draw; the profile's medians if None.
        """


@dataclass(frozen=True)
class LogNormal:
    """A quantity whose natural logarithm is normal: mean and standard deviation of that."""

    mu: float
    sigma: float

    @classmethod
    def of(cls, row: dict[str, str], name: str) -> LogNormal:
        """From the columns of a row that have this name."""
        return cls(float(row[f"ln_{name}_mu"]), float(row[f"ln_{name}_sigma"]))

    def at(self, deviation: float) -> float:
        """The value so many standard deviations from the median."""
        return math.exp(self.mu + self.sigma * deviation)


@dataclass(frozen=True)
class Mobile(Profile):
    """Access by signal quality: rates and RTT are log-normal, both rates correlated.

    Attributes:
        down_mbit: rate towards the client.
        up_mbit: rate towards the server.
        rtt_ms: round-trip time.
        correlation: of the logarithms of the two rates.
    """

    down_mbit: LogNormal
    up_mbit: LogNormal
    rtt_ms: LogNormal
    correlation: float

    is_drawn: ClassVar[bool] = True

    @property
    @override
    def description(self) -> str:
        down, up, rtt = (
            log_normal.at(0) for log_normal in (self.down_mbit, self.up_mbit, self.rtt_ms)
        )
        return (
            f"drawn for every repetition; medians {down:.3g} Mbit/s down, {up:.3g} Mbit/s up, "
            f"RTT {rtt:.3g} ms"
        )

    @override
    def path(self, seed: int | None) -> dict[str, Any]:
        down = common = rtt = 0.0
        if seed is not None:
            draw = random.Random(f"{self.name} {seed}")
            down, common, rtt = (draw.gauss() for _ in range(3))
        up = self.correlation * down + math.sqrt(1 - self.correlation**2) * common
        return {
            "rtt": f"{self.rtt_ms.at(rtt):.3f} ms",
            "down": {"rate": _rate(self.down_mbit.at(down))},
            "up": {"rate": _rate(self.up_mbit.at(up))},
        }


@dataclass(frozen=True)
class Fixed(Profile):
    """A path that is the same in every run."""

    text: str
    raw: dict[str, Any]

    @property
    @override
    def description(self) -> str:
        return self.text

    @override
    def path(self, seed: int | None) -> dict[str, Any]:
        return copy.deepcopy(self.raw)


@dataclass(frozen=True)
class BySatellite(Profile):
    """A satellite link, by its description."""

    satellite: dict[str, Any]

    @property
    @override
    def description(self) -> str:
        link = Satellite.model_validate(self.satellite)
        forward, back = (link.over_time(carrier) for carrier in (link.forward, link.return_))
        delays = [delay.ms for _, delay in forward.delays]
        spread = " to ".join(f"{ms:.4g}" for ms in sorted({min(delays), max(delays)}))
        return (
            f"{forward.rates[0][1]} forward (down), {back.rates[0][1]} return (up), "
            f"{spread} ms one way"
        )

    @override
    def path(self, seed: int | None) -> dict[str, Any]:
        return {"satellite": copy.deepcopy(self.satellite)}


_KOSEK_CARRIERS = {
    "snr": "20 dB",
    "overhead": "none",
    "forward": {"bandwidth": "50 MHz", "roll_off": 0.25, "modcod": "QPSK 1/4"},
    # DVB-RCS2 has no QPSK 1/4.
    "return": {
        "standard": "dvb-s2",
        "bandwidth": "20 MHz",
        "roll_off": 0.25,
        "modcod": "QPSK 1/4",
    },
}


def _rate(mbit: float) -> str:
    return f"{max(mbit, _SLOWEST_MBIT):.6f} Mbit/s"


@cache
def profiles() -> dict[str, Profile]:
    """All profiles by their names."""
    return {
        profile.name: profile
        for profile in (*_mobile(), *_cellular(), *_web_tools(), *_satellite())
    }


def _mobile() -> list[Profile]:
    source = "71,281 speed tests over four European operators, as in ERRANT (Trevisan et al. 2020)"
    return [
        Mobile(
            row["profile"],
            source,
            down_mbit=LogNormal.of(row, "down"),
            up_mbit=LogNormal.of(row, "up"),
            rtt_ms=LogNormal.of(row, "rtt"),
            correlation=float(row["rho_down_up"]),
        )
        for row in table("headway.study", "data/mobile.csv")
    ]


def _cellular() -> list[Profile]:
    return [
        Fixed(
            row["network"],
            "Kakhki et al. 2017, Table 5",
            f"{row['throughput_mbit_s']} Mbit/s, RTT {row['rtt_ms']} ms (deviation "
            f"{row['rtt_std_ms']} ms), reordering {row['reordering_pct']} %, "
            f"loss {row['loss_pct']} %",
            {
                "rate": f"{row['throughput_mbit_s']} Mbit/s",
                "rtt": f"{row['rtt_ms']} ms",
                # Two independent directions have the deviation of the round trip together.
                "jitter": f"{float(row['rtt_std_ms']) / math.sqrt(2):.3f} ms",
                "jitter_distribution": "normal",
                "reordering": f"{row['reordering_pct']} %",
                "loss": f"{row['loss_pct']} %",
            },
        )
        for row in table("headway.study", "data/cellular.csv")
    ]


_WEB_TOOLS = {
    "Lighthouse": "Lighthouse's core/config/constants.js, whose Kbps are 1024 bits a second",
    "WebPageTest": "WebPageTest's connectivity.ini.sample of July 2025",
}


def _web_tools() -> list[Profile]:
    """Connections that tools for web performance emulate: without loss, and the same in every run."""
    return [
        Fixed(
            row["profile"],
            _WEB_TOOLS[row["tool"]],
            f"{row['tool']}'s {row['label']}: {_mbit(row['down_bit_s'])} down, {_mbit(row['up_bit_s'])} up, "
            f"RTT {row['rtt_ms']} ms",
            {
                "rtt": f"{row['rtt_ms']} ms",
                "down": {"rate": _mbit(row["down_bit_s"])},
                "up": {"rate": _mbit(row["up_bit_s"])},
            },
        )
        for row in table("headway.study", "data/webtools.csv")
    ]


def _mbit(bit_s: str) -> str:
    return f"{float(bit_s) / 1e6:.10g} Mbit/s"


def _satellite() -> list[Profile]:
    """The satellite link of Kosek et al. 2022, with nominal rates, and one whose satellites move."""
    paper = "Kosek et al. 2022, Section III"
    constellation = "Starlink's first shell, 1584 satellites at 550 km; rates as of leo"
    # What is not propagation makes the delay the 16 ms of leo, on average.
    moving = {
        "orbit": {"gateway": {"latitude": "50.1 deg", "longitude": "8.7 deg"}},
        "processing": "12 ms",
    }
    return [
        BySatellite("geo", paper, {"delay": "250 ms", **_KOSEK_CARRIERS}),
        BySatellite("leo", paper, {"delay": "16 ms", **_KOSEK_CARRIERS}),
        BySatellite("leo-pass", constellation, {**moving, **_KOSEK_CARRIERS}),
    ]


def draws_path(setting: Setting) -> bool:
    """Whether every seed has another path, drawn of a profile."""
    names = {path.profile for path in setting.network.paths if path.profile}
    return any(_find(name).is_drawn for name in names if not name.endswith(_MEDIAN))


def realise(raw: dict[str, Any], seed: int | None) -> dict[str, Any]:
    """Replace the profiles of a setting's paths by what they stand for.

    Args:
        raw: a setting as a study file has it.
        seed: of the draw; medians if None.

    Raises:
        WrongInputError: no such profile.
    """
    return {key: _realised(key, value, seed) for key, value in raw.items()}


def _realised(key: str, value: Any, seed: int | None) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {name: _realised(name, part, seed) for name, part in value.items()}
    return _path(inner, seed) if key in _PATHS else inner


def _path(raw: dict[str, Any], seed: int | None) -> dict[str, Any]:
    if not isinstance(raw.get("profile"), str):
        return raw
    if "links" in raw:
        raise WrongInputError("give either a profile or links, not both")
    profile = _find(raw["profile"].removesuffix(_MEDIAN))
    drawn = profile.path(None if raw["profile"].endswith(_MEDIAN) else seed)
    own = {key: value for key, value in raw.items() if key != "profile"}
    return {"profile": raw["profile"], "links": [_refined(_without(drawn, own.keys()), own)]}


def _without(drawn: Mapping[str, Any], stated: Set[str]) -> dict[str, Any]:
    """A profile's tables without what a path states of both directions, which replaces it in each of them."""
    both = stated & Direction.model_fields.keys()
    gone = {*both, *(["rtt"] if "delay" in both else [])}
    kept = {key: value for key, value in drawn.items() if key not in gone}
    for way in kept.keys() & {*Way}:
        kept[way] = {key: value for key, value in kept[way].items() if key not in both}
    return kept


def _refined(tables: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A link's tables with what else is said of it: tables within are merged."""
    merged = {**tables, **own}
    for key in tables.keys() & own.keys():
        if isinstance(tables[key], Mapping) and isinstance(own[key], Mapping):
            merged[key] = _refined(tables[key], own[key])
    return merged


def _find(name: str) -> Profile:
    known = profiles()
    if name not in known:
        hint = nearest(name, list(known), then=f"profiles: {', '.join(known)}")
        raise WrongInputError(f"no profile {name!r}{hint}")
    return known[name]
