"""What all parts of a study file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Base of everything in a study file: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)
