"""The verdict on a run of a test case."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CaseResult(StrEnum):
    """As ``result.json`` has it."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"

    @property
    def symbol(self) -> str:
        """As the runner prints it."""
        return {CaseResult.SUCCEEDED: "✓", CaseResult.FAILED: "✕", CaseResult.UNSUPPORTED: "?"}[
            self
        ]


@dataclass(frozen=True)
class CaseVerdict:
    """A result, and why it is that; of one that succeeded what there is to be said, if anything."""

    result: CaseResult
    reason: str = ""
