"""Hosts with addresses of both families, between which clients choose."""

from __future__ import annotations

from pydantic import Field

from headway.study.base_model import Part
from headway.study.path import Path


class DualStack(Part):
    """Client and server have addresses of the other family, too, over a path of its own."""

    path: Path | None = Field(
        default=None,
        description="between client and server over the other family; as `path` if it is left out",
    )
