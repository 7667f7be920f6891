"""Levels of an axis compared as contenders are."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from headway.study.base_model import Part


class LevelComparison(Part):
    """Every contender at each level of an axis against itself at one of them, by runs of the same seed."""

    other_forms = ({"type": "string", "minLength": 1},)

    axis: str = Field(min_length=1, description="its dotted name, such as path.queue")
    baseline: Any = Field(
        default=None, description="the level that others are compared with; by default the first"
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"axis": value} if isinstance(value, str) else value
