"""A transfer while 2 % of all packets are lost."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase
from headway.instruments.interop.scenario import RandomFate, Scenario
from headway.study.fault import FaultKind


class TransferLoss(InteropCase):
    """Two megabytes under moderate loss."""

    name = "transferloss"
    abbreviation = "L2"
    place = 15
    client_name = server_name = "transfer"
    description = "LargeTransfer completes under moderate packet loss."
    scenario = Scenario(fate=RandomFate(FaultKind.LOSE, 0.02))
    sizes = (2 * MIB,)


CASE = TransferLoss()
