"""A link by satellite, as a study file states it, and what it therefore does over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Self

from pydantic import Field, model_validator

from headway.study.access import CarrierAccess, LossUnit
from headway.study.base_model import Part
from headway.study.satellite.carrier import Carrier, Forward, Return
from headway.study.satellite.modcod import Overhead
from headway.study.satellite.orbit import Orbit, Track, track
from headway.study.satellite.steps import Attenuations, AttenuationStep, Delays
from headway.study.units import Decibel, Duration, Rate, Snr

_AT_THE_END = Duration(24 * 3600 * 10**9)
"""How long an outage lasts that does not end: a day, longer than any run."""


class Satellite(Part):
    """A link by satellite. What it says of the sky holds for both carriers, which may refine it."""

    delay: Delays | None = Field(default=None, description="one way, or a list of steps")
    orbit: Orbit | None = Field(default=None, description="what the delay is computed from")
    processing: Duration = Field(
        default=Duration(0),
        description="added to an orbit's delay: modems, framing, waiting for a slot",
    )
    snr: Snr = Field(
        default=Snr(20), description="in clear sky, in the bandwidth of the symbol rate"
    )
    attenuation: Attenuations = Field(default=(), description="or a list of steps")
    margin: Decibel = Field(
        default=Decibel(0), description="SNR that a MODCOD must have beyond its threshold"
    )
    overhead: Overhead = Overhead.DVB
    lost: LossUnit = Field(
        default=LossUnit.PACKETS,
        exclude_if=lambda lost: lost is LossUnit.PACKETS,
        description="what the loss of both directions is of: packets, or frames of the link",
    )
    forward: Forward
    return_: Return = Field(alias="return")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.orbit and (self.delay or self.forward.delay or self.return_.delay):
            raise ValueError("give either an orbit or a delay, not both")
        if not self.orbit and not self.delay and not (self.forward.delay and self.return_.delay):
            raise ValueError('needs an orbit, such as "geo", or a delay, such as "250 ms"')
        if self.processing and not self.orbit:
            raise ValueError("processing is added to an orbit's delay; here, add it to the delay")
        for carrier in (self.forward, self.return_):
            self.over_time(carrier)
        return self

    def over_time(self, carrier: Carrier) -> CarrierCourse:
        """What one of its carriers does over time.

        Raises:
            ValueError: nothing ever passes.
        """
        return _conditions(self, carrier)


@dataclass(frozen=True)
class CarrierCourse:
    """What a carrier does over time, from the start on.

    Attributes:
        rates: times, and the rate from then on; the first at 0.
        delays: times, and the one-way delay from then on; the first at 0.
        outages: spans in which nothing passes; in order, but some may overlap.
        access: its frames and demand; None if they are left out of account.
    """

    rates: tuple[tuple[Duration, Rate], ...]
    delays: tuple[tuple[Duration, Duration], ...]
    outages: tuple[tuple[Duration, Duration], ...]
    access: CarrierAccess | None = None


@cache
def _conditions(satellite: Satellite, carrier: Carrier) -> CarrierCourse:
    rates, fades = _rates(satellite, carrier)
    way = _track(satellite, carrier)
    outages = [*fades, *((Duration(begin), Duration(end)) for begin, end in way.gaps)]
    delays = tuple((Duration(at), Duration(delay)) for at, delay in way.delays)
    access = carrier.access(satellite.overhead, satellite.lost)
    return CarrierCourse(rates, delays, tuple(sorted(outages)), access)


def _rates(
    satellite: Satellite, carrier: Carrier
) -> tuple[tuple[tuple[Duration, Rate], ...], list[tuple[Duration, Duration]]]:
    """Rates over time, and the spans in which the signal is too weak for any.

    In an outage the rate stays: what is sent is lost on the way, and not at the modem.
    """
    clear = satellite.snr if carrier.snr is None else carrier.snr
    spans = _spans(satellite.attenuation if carrier.attenuation is None else carrier.attenuation)
    rates: list[tuple[Duration, Rate]] = []
    outages: list[tuple[Duration, Duration]] = []
    for begin, end, attenuation_db in spans:
        rate = _best_rate(satellite, carrier, clear.db - attenuation_db)
        if rate is None:
            outages.append((begin, end))
        elif not rates or rate != rates[-1][1]:
            rates.append((begin, rate))
    if not rates:
        best_db = clear.db - min(attenuation_db for _, _, attenuation_db in spans)
        needed_db = carrier.choices[0].es_n0_db + satellite.margin.db
        raise ValueError(
            f"nothing ever passes: the SNR is at most {best_db:g} dB, but {carrier.standard} needs "
            f"{needed_db:g} dB for {carrier.choices[0].name}"
        )
    (_, first), *later = rates
    return ((Duration(0), first), *later), outages


def _spans(steps: tuple[AttenuationStep, ...]) -> list[tuple[Duration, Duration, float]]:
    """Beginnings and ends, and the attenuation in between in dB; none before the first step."""
    times = [Duration(0), *(step.at for step in steps)]
    ends = [*times[1:], Duration(times[-1] + _AT_THE_END)]
    levels = [0.0, *(step.attenuation.db for step in steps)]
    spans = zip(times, ends, levels, strict=True)
    return [(begin, end, level) for begin, end, level in spans if begin < end]


def _best_rate(satellite: Satellite, carrier: Carrier, snr_db: float) -> Rate | None:
    """The highest rate that an SNR allows; None if it allows none."""
    # Rounded, since 20 dB less 22.35 dB are not quite -2.35 dB in floating point.
    usable_db = round(snr_db - satellite.margin.db, 6)
    return max(
        (
            carrier.rate(modcod, satellite.overhead)
            for modcod in carrier.choices
            if modcod.es_n0_db <= usable_db
        ),
        default=None,
    )


def _track(satellite: Satellite, carrier: Carrier) -> Track:
    """The delay over time: an orbit's, or as the file has it."""
    if satellite.orbit:
        followed = track(satellite.orbit)
        more = satellite.processing
        return Track(tuple((at, delay + more) for at, delay in followed.delays), followed.gaps)
    steps = carrier.delay or satellite.delay or ()
    return Track(tuple((int(step.at), int(step.delay)) for step in steps), ())
