"""A transfer while 2 % of all packets are corrupted."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase
from headway.instruments.interop.scenario import RandomFate, Scenario
from headway.study.fault import FaultKind


class TransferCorruption(InteropCase):
    """The packets arrive: the checksum of UDP is right, and a byte at their beginning is not."""

    name = "transfercorruption"
    abbreviation = "C2"
    place = 17
    client_name = server_name = "transfer"
    description = "LargeTransfer completes under moderate packet corruption."
    scenario = Scenario(fate=RandomFate(FaultKind.CORRUPT, 0.02))
    sizes = (2 * MIB,)
    differs = (
        "delivers corrupted packets, which the runner's simulator has dropped since September 2024"
    )


CASE = TransferCorruption()
