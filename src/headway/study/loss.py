"""Losses by chance: independent, or in bursts."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from headway.study.base_model import Part
from headway.study.units import Ratio


class RandomLoss(Part):
    """Loss by chance: independent, or in bursts by the Gilbert-Elliott model.

    With a mean burst length B > 1 packets and mean loss L, the chain leaves the bad state with
    probability 1/B and enters it with L / (B (1 - L)); all packets in the bad state are lost.
    """

    other_forms = (Ratio.json_schema(),)

    mean: Ratio
    burst: float = Field(
        default=1, ge=1, le=1e6, description="mean length of a loss burst in packets"
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if "burst" in self.model_fields_set and self.mean >= 1:
            raise ValueError("loss of 100 % has no bursts; use a blackout")
        if "burst" in self.model_fields_set and self.enter_bad > 1:
            most = Ratio(self.burst / (1 + self.burst))
            raise ValueError(
                f"with bursts of {self.burst:g} packets the mean loss is {most} at most; "
                "losses without a burst are independent"
            )
        return self

    @property
    def leave_bad(self) -> float:
        """Probability that a burst ends at a packet."""
        return 1 / self.burst

    @property
    def enter_bad(self) -> float:
        """Probability that a burst begins at a packet."""
        return self.leave_bad * self.mean / (1 - self.mean)


def _loss(value: object) -> object:
    return {"mean": value} if isinstance(value, str | int | float) else value


Loss = Annotated[RandomLoss, BeforeValidator(_loss)]
