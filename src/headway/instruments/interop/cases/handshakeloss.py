"""Fifty handshakes while 30 % of all packets are lost."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.scenario import RandomFate, Scenario
from headway.study.fault import FaultKind


class HandshakeLoss(InteropCase):
    """A file over each of fifty connections, one after the other."""

    name = "handshakeloss"
    abbreviation = "L1"
    place = 14
    client_name = server_name = "multiconnect"
    description = "Handshake completes under extreme packet loss."
    scenario = Scenario(fate=RandomFate(FaultKind.LOSE, 0.3))
    sizes = (KIB,) * 50
    handshakes = 50
    timeout_s = 300
    differs = "counts handshakes that the client completed; the runner's counts connection IDs of the server, so that one that was begun twice fails"


CASE = HandshakeLoss()
