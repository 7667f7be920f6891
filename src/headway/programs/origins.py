"""Where in a lab the hosts of a page are."""

from __future__ import annotations

from headway.sites.library import find_outline
from headway.study.family import HostAddress
from headway.study.workload import Origins, Page


def origin_addresses(page: Page, address: HostAddress) -> dict[str, HostAddress]:
    """The address of every host of a page, given one of the server's; the page's own host is first.

    Raises:
        WrongInputError: there is no such site.
    """
    hosts = find_outline(page.site).hosts
    if page.origins is Origins.ONE_ADDRESS:
        return dict.fromkeys(hosts, address)
    return {host: address.family.origin(number) for number, host in enumerate(hosts)}
