"""A NAT that gives the client another port after 1 s, and then every 5 s."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase
from headway.instruments.interop.evidence import CaseEvidence
from headway.instruments.interop.paths import check_validation
from headway.instruments.interop.scenario import Scenario
from headway.overriding import override


class PortRebinding(InteropCase):
    """The server validates every new path (RFC 9000, section 9.3)."""

    name = "rebind-port"
    abbreviation = "BP"
    place = 20
    client_name = server_name = "transfer"
    description = "LargeTransfer completes under frequent port rebindings on the client side."
    scenario = Scenario(rebindings=(1, 5))
    sizes = (10 * MIB,)
    needs_keys = True
    differs = "PATH_CHALLENGE may come in any packet to the new path, and not in the first alone, which no RFC asks for"

    @override
    def check(self, evidence: CaseEvidence) -> str:
        return check_validation(evidence)


CASE = PortRebinding()
