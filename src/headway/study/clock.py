"""Clocks of labs."""

from __future__ import annotations

from enum import StrEnum


class Clock(StrEnum):
    """How the lab's time passes.

    ``virtual``: computing takes no time and idle time is skipped. ``cpu``: computing takes as
    long as it takes on the host, idle time is skipped. ``real``: the host's time.
    """

    VIRTUAL = "virtual"
    CPU = "cpu"
    REAL = "real"
