"""Races: whether clients that try one place after the other can, and servers are at all of them."""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.planning.deployment import DeployedFlow
from headway.study.host import Protocol

_EARLY = "early data go to one place, and this client tries several: leave out"


def check_races(flow: DeployedFlow) -> None:
    """Check who chooses between families, or between QUIC and TCP.

    Raises:
        WrongInputError: a program cannot, or has nothing to choose between.
    """
    setting, (client, *_) = flow.setting, flow.programs
    knobs = f"{client.where}.knobs"
    falls_back = client.host.knobs.get("fall_back") == "on"
    if falls_back and not (setting.discovery and setting.protocol is Protocol.H3):
        reason = 'it falls back from QUIC that it found by itself: this needs [discovery] and protocol = "h3"'
        raise WrongInputError(reason, where=f"{knobs}.fall_back")
    is_raced = falls_back or setting.dual_stack is not None
    if "attempt_delay" in client.host.knobs and not is_raced:
        reason = (
            'there is one place to connect to: this needs [dual_stack], or knobs.fall_back = "on"'
        )
        raise WrongInputError(reason, where=f"{knobs}.attempt_delay")
    if is_raced and client.adapter.early_data(client.host):
        cause = "[dual_stack]" if setting.dual_stack is not None else "fall_back"
        raise WrongInputError(f"{_EARLY} this knob, or {cause}", where=f"{knobs}.early_data")
