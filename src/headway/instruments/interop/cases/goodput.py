"""The goodput of a transfer over 10 Mbit/s."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase
from headway.instruments.interop.connection import ONE_RTT
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.overriding import override


class Goodput(InteropCase):
    """A measurement: bits of the file, by the time from the server's first packet with it to the last."""

    name = "goodput"
    abbreviation = "G"
    place = 23
    client_name = server_name = "transfer"
    description = "Measures connection goodput over a 10Mbps link."
    sizes = (10 * MIB,)
    measures = True

    @override
    def check(self, evidence: CaseEvidence) -> str:
        times = [packet.at_ns for packet in evidence.client.of(ONE_RTT, of_client=False)]
        if len(times) < 2:
            raise CheckError("no packets with the file were seen")
        kbit_s = 8 * sum(self.sizes) / ((max(times) - min(times)) / 1e6)
        return f"{kbit_s:.0f} kbps"


CASE = Goodput()
