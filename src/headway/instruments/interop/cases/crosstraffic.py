"""The goodput of a transfer beside a TCP connection."""

from __future__ import annotations

from headway.instruments.interop.case import MIB
from headway.instruments.interop.cases.goodput import Goodput
from headway.instruments.interop.scenario import Scenario


class CrossTraffic(Goodput):
    """The same, while a TCP connection with CUBIC competes."""

    name = "crosstraffic"
    abbreviation = "C"
    place = 24
    description = (
        "Measures goodput over a 10Mbps link when competing with a TCP (cubic) connection."
    )
    scenario = Scenario(cross_traffic=True)
    sizes = (25 * MIB,)
    timeout_s = 180


CASE = CrossTraffic()
