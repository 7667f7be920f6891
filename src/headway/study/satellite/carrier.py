"""Carriers: one direction of a link by satellite, its spectrum and its modems."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, field_validator
from pydantic_core.core_schema import ValidationInfo

from headway.errors import nearest
from headway.study.access import CapacityOnDemand, CarrierAccess, LossUnit
from headway.study.base_model import Part
from headway.study.satellite.modcod import Modcod, Overhead, Standard, modcods
from headway.study.satellite.steps import Attenuations, Delays
from headway.study.units import Bandwidth, Rate, Size, Snr

ADAPTIVE = "adaptive"
_USUAL_BURST: Final = 1616


class Carrier(Part):
    """One direction: a carrier, and its modems. What it says of the sky is its own."""

    standard: Standard
    burst: Literal[536, 1616] = Field(
        default=_USUAL_BURST, description="symbols of a DVB-RCS2 burst"
    )
    bandwidth: Bandwidth
    roll_off: float = 0.25
    modcod: str = Field(
        default=ADAPTIVE, description='such as "QPSK 1/4", or the best that the SNR allows'
    )
    snr: Snr | None = None
    attenuation: Attenuations | None = None
    delay: Delays | None = None
    demand: CapacityOnDemand | None = Field(
        default=None,
        exclude_if=lambda demand: demand is None,
        description="capacity on demand; the whole carrier, always, without it",
    )

    @field_validator("burst")
    @classmethod
    def _of_bursts(cls, burst: int, info: ValidationInfo) -> int:
        if burst != _USUAL_BURST and info.data.get("standard") is Standard.DVB_S2:
            raise ValueError(f"{Standard.DVB_S2} sends no bursts; {Standard.DVB_RCS2} does")
        return burst

    @field_validator("roll_off")
    @classmethod
    def _of_a_pulse(cls, roll_off: float) -> float:
        if not 0 <= roll_off <= 1:
            raise ValueError(f"a roll-off is between 0 and 1, such as 0.25, not {roll_off:g}")
        return roll_off

    @field_validator("modcod")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        if "standard" not in info.data or "burst" not in info.data:
            return name
        standard = info.data["standard"]
        known = [*modcods(standard, info.data["burst"]), ADAPTIVE]
        if name not in known:
            hint = nearest(name, known, then=f"it has {', '.join(known)}")
            raise ValueError(f"{standard} has no MODCOD {name!r}{hint}")
        return name

    @property
    def symbol_rate(self) -> float:
        """Symbols per second: pulses with a roll-off take more than their rate's bandwidth."""
        return self.bandwidth.hz / (1 + self.roll_off)

    @property
    def choices(self) -> tuple[Modcod, ...]:
        """What its modems may use, the most robust first."""
        known = modcods(self.standard, self.burst)
        return tuple(known.values()) if self.modcod == ADAPTIVE else (known[self.modcod],)

    def access(self, overhead: Overhead, lost: LossUnit) -> CarrierAccess | None:
        """Its frames and demand; None if packets may be thought of as a stream.

        Raises:
            ValueError: its frames change with the signal.
        """
        if self.demand is None and lost is LossUnit.PACKETS:
            return None
        if len(self.choices) > 1:
            raise ValueError(
                "frames and capacity on demand need frames that stay as they are; give a modcod, such as "
                f'"{self.choices[0].name}"'
            )
        (modcod,) = self.choices
        frame_bytes = modcod.frame_symbols * modcod.link_efficiency(overhead) / 8
        return CarrierAccess(frame=Size(round(frame_bytes)), lost=lost, demand=self.demand)

    def rate(self, modcod: Modcod, overhead: Overhead) -> Rate:
        """Rate with one of its choices, of Ethernet frames as everywhere in a path."""
        return Rate(self.symbol_rate * modcod.link_efficiency(overhead))


class Forward(Carrier):
    """From the gateway to the terminal: towards the client."""

    standard: Standard = Standard.DVB_S2


class Return(Carrier):
    """From the terminal to the gateway: towards the server."""

    standard: Standard = Standard.DVB_RCS2
