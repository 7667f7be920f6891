"""What all parts of a study file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError


class Part(BaseModel):
    """Base of everything in a study file: unknown keys are errors, values do not change.

    Validators are built when a part is first read: most commands read only some parts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def wrong(key: str, reason: str) -> PydanticCustomError:
    """An error of a part's validator about one of its keys, dotted."""
    return PydanticCustomError("wrong", "{reason}", {"reason": reason, "key": key})
