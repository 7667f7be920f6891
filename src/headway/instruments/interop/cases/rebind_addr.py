"""A NAT that gives the client another address after 1 s, and then every 5 s."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.paths import check_validation
from headway.instruments.interop.scenario import Scenario
from headway.overriding import override


class AddressRebinding(InteropCase):
    """The server validates every new path (RFC 9000, section 9.3)."""

    name = "rebind-addr"
    abbreviation = "BA"
    place = 21
    client_name = server_name = "transfer"
    description = (
        "LargeTransfer completes under frequent IP address and port rebindings on the client side."
    )
    scenario = Scenario(rebindings=(1, 5), rebinds_address=True)
    sizes = (10 * MIB,)
    needs_keys = True
    differs = "PATH_CHALLENGE may come in any packet to the new path, and not in the first alone, which no RFC asks for"

    @override
    def check(self, evidence: CaseEvidence) -> str:
        addresses = {each.client[0] for each in evidence.server.datagrams if not each.of_client}
        if len(addresses) < 2:
            raise CheckError("the server sent to one address of the client only")
        return check_validation(evidence)


CASE = AddressRebinding()
