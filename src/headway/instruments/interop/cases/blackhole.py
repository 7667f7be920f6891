"""A path that loses everything for 2 s, again and again."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase
from headway.instruments.interop.scenario import Scenario


class Blackhole(InteropCase):
    """Both directions are black for 2 s after every 5 s."""

    name = "blackhole"
    abbreviation = "B"
    place = 10
    client_name = server_name = "transfer"
    description = (
        "LargeTransfer succeeds despite underlying network blacking out for a few seconds."
    )
    scenario = Scenario(blackouts=(5, 2))
    sizes = (10 * MIB,)


CASE = Blackhole()
