"""Limits at which a run is given up."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from headway.study.base_model import Part
from headway.study.units import Duration


class Limits(Part):
    """When a run is given up.

    ``virtual``: after this much time of the lab's clock. ``cpu``: after its lab has used this much
    processor time of the host.
    """

    virtual: Duration = Duration(600 * 10**9)
    cpu: Duration = Duration(300 * 10**9)

    @model_validator(mode="before")
    @classmethod
    def _counts_no_wall_time(cls, given: Any) -> Any:
        if isinstance(given, dict) and "wall" in given:
            raise ValueError(
                "`wall` is no limit, because a busy host would reach it; `cpu` limits processor time"
            )
        return given
