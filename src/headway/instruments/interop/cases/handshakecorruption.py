"""Fifty handshakes while 30 % of all packets are corrupted."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.scenario import RandomFate, Scenario
from headway.study.fault import FaultKind


class HandshakeCorruption(InteropCase):
    """The packets arrive: the checksum of UDP is right, and a byte at their beginning is not."""

    name = "handshakecorruption"
    abbreviation = "C1"
    place = 16
    client_name = server_name = "multiconnect"
    description = "Handshake completes under extreme packet corruption."
    scenario = Scenario(fate=RandomFate(FaultKind.CORRUPT, 0.3))
    sizes = (KIB,) * 50
    handshakes = 50
    timeout_s = 300
    differs = "delivers corrupted packets, which the runner's simulator has dropped since September 2024; counts handshakes that the client completed"


CASE = HandshakeCorruption()
