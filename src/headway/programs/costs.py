"""Costs of a study's page on the browser's main thread, by resource."""

from __future__ import annotations

from collections.abc import Mapping

from headway.errors import WrongInputError
from headway.sites.almanac import almanac_costs
from headway.sites.cost import ThreadCost
from headway.sites.finding import find_site
from headway.study.computing import Costs
from headway.study.device import Device
from headway.study.workload import Page


def page_costs(page: Page) -> Mapping[str, ThreadCost]:
    """By URL; none if the study has computing cost nothing.

    Raises:
        WrongInputError: they are to be those of the recording, which tells none.
    """
    if page.computing is None:
        return {}
    site = find_site(page.replayed)
    if page.computing.costs is Costs.ALMANAC:
        costs = almanac_costs(site, mobile=page.device is not Device.DESKTOP)
    else:
        costs = {exchange.url: exchange.cost for exchange in site.exchanges if exchange.cost}
        if not costs:
            raise WrongInputError(
                f"{page.name} tells nothing of what its resources cost: record it again with `headway record URL`, or "
                'write computing = "almanac"',
                where="workload.computing",
            )
    return {url: cost.times(page.computing.factor) for url, cost in costs.items()}
