"""Careful Resume in Headway's own QUIC: knobs that go together."""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.planning.deployment import Endpoint

_WINDOW, _RTT = "saved_window", "saved_rtt"


def check_careful_resume(end: Endpoint) -> None:
    """Check that a saved window has its round-trip time, and that what is sent is spread.

    Raises:
        WrongInputError: one of them is missing, or pacing is not the controller's.
    """
    adapter, host = end.adapter, end.host
    if _WINDOW not in (knob.name for knob in adapter.knobs):
        return
    window, rtt, remember, pacing = (
        adapter.knob(name, host) for name in (_WINDOW, _RTT, "remember", "pacing")
    )
    if (window == "none") != (rtt == "none"):
        there = _RTT if window == "none" else _WINDOW
        raise WrongInputError(
            f"{_WINDOW} and {_RTT} go together: set both or none",
            where=f"{end.where}.knobs.{there}",
        )
    if pacing != "on" and (window != "none" or remember != "off"):
        raise WrongInputError(
            'Careful Resume needs pacing = "on", which spreads what it sends',
            where=f"{end.where}.knobs.pacing",
        )
