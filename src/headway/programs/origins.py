"""Where in a lab the hosts of a page are."""

from __future__ import annotations

from headway.sites.library import find_outline
from headway.study.workload import Origins, Page

_HOSTS_OF_A_NETWORK = 250


def origin_addresses(page: Page, address: str) -> dict[str, str]:
    """The address of every host of a page, given the server's own; the page's own host is first.

    Raises:
        WrongInputError: there is no such site.
    """
    hosts = find_outline(page.site).hosts
    if page.origins is Origins.ONE_ADDRESS:
        return dict.fromkeys(hosts, address)
    return {host: _address(number) for number, host in enumerate(hosts)}


def _address(number: int) -> str:
    """An address of ``10.200.0.0/16``, which all hosts of a lab route to the server."""
    network, host = divmod(number, _HOSTS_OF_A_NETWORK)
    return f"10.200.{network}.{host + 1}"
