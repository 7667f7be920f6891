"""Cores: which there are, and which are free for a lab."""

from __future__ import annotations

import os


def available_cores() -> list[int]:
    """Cores that this process may use."""
    return sorted(os.sched_getaffinity(0))
