"""Workloads without HTTP, whose data go one way."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from headway.overriding import override
from headway.study.workloadpart import WorkloadPart


class DataDirection(StrEnum):
    """Where data go."""

    DOWNLOAD = "download"
    UPLOAD = "upload"


class OneWayWorkload(WorkloadPart):
    """What bulk flows and calls have in common."""

    direction: DataDirection = Field(
        default=DataDirection.DOWNLOAD, description="download (to the client) or upload"
    )

    @property
    @override
    def uploads(self) -> bool:
        return self.direction is DataDirection.UPLOAD
