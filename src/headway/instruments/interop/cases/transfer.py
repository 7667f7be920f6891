"""Three files at once, for which flow control has to be extended."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase


class LargeTransfer(InteropCase):
    """Several megabytes over one connection."""

    name = "transfer"
    abbreviation = "DC"
    place = 2
    description = "Stream data is being sent and received correctly. Connection close completes with a zero error code."
    sizes = (2 * MIB, 3 * MIB, 5 * MIB)


CASE = LargeTransfer()
