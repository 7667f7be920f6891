"""Where in a lab the hosts of a page are."""

from __future__ import annotations

from headway.sites.finding import find_outline
from headway.study.family import HostAddress
from headway.study.workload import Workload


def origin_addresses(page: Workload, address: HostAddress) -> dict[str, HostAddress]:
    """The address of every host of a page, given one of the server's; the page's own host is first.

    Raises:
        WrongInputError: there is no such site.
    """
    assert page.replayed is not None, "a page is"
    hosts = find_outline(page.replayed).hosts
    if not page.own_addresses:
        return dict.fromkeys(hosts, address)
    return {host: address.family.origin(number) for number, host in enumerate(hosts)}
