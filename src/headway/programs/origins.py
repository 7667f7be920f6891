"""Origins: where in a lab the hosts of a page are, and what they speak."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase

from headway.errors import WrongInputError, nearest
from headway.programs.base import SERVER_NAME, Flow
from headway.programs.pagehosts import PageHosts
from headway.sites.finding import find_outline
from headway.sites.outline import Outline
from headway.study.family import HostAddress
from headway.study.host import Protocol
from headway.study.origin import OriginServer
from headway.study.workload import Workload


def origin_addresses(
    page: Workload, address: HostAddress, elsewhere: Iterable[PageHosts] = (), first: int = 0
) -> dict[str, HostAddress]:
    """The address of every host of a page; the page's own host is first.

    Args:
        page: the page.
        address: one of the server's.
        elsewhere: hosts that have other servers.
        first: number of the first host's address, where each has one of its own.

    Raises:
        WrongInputError: there is no such site.
    """
    hosts = _outline(page).hosts
    if page.replay.own_addresses:
        return {host: address.family.origin(number) for number, host in enumerate(hosts, first)}
    return dict.fromkeys(hosts, address) | {
        host: group.address for group in elsewhere for host in group.hosts
    }


def named_addresses(flow: Flow) -> dict[str, tuple[HostAddress, ...]]:
    """The addresses of every name that a flow's client asks for: of the server, or of a page's hosts."""
    if flow.workload.replay.site is None:
        return {SERVER_NAME: flow.addresses}
    names = origin_addresses(flow.workload, flow.address, flow.elsewhere, flow.origins_from)
    if flow.discovery and flow.discovery.alternative.host:
        names[flow.discovery.alternative.host] = flow.address
    return {
        name: flow.addresses if host_address == flow.address else (host_address,)
        for name, host_address in names.items()
    }


def _outline(page: Workload) -> Outline:
    assert page.replay.site is not None, "a page is"
    return find_outline(page.replay.site)


def recorded_versions(page: Workload, besides: Collection[str] = ()) -> dict[str, Protocol]:
    """The highest version that each host of a page was recorded over, but for some.

    Raises:
        WrongInputError: there is no such site, or the recording does not tell.
    """
    outline = _outline(page)
    each = zip(outline.hosts, outline.versions, strict=True)
    versions = {host: version for host, version in each if host not in besides}
    silent = [host for host, version in versions.items() if not version]
    if silent:
        raise WrongInputError(
            f"the recording of {page.replay.site} does not state the version over which {silent[0]} came; name it in "
            "[origins]",
            where="workload.versions",
        )
    return {
        host: Protocol.H1 if version.startswith("http/") else Protocol(version[:2])
        for host, version in versions.items()
    }


def hosts_of(origins: Mapping[str, OriginServer], page: Workload) -> dict[str, tuple[str, ...]]:
    """The hosts of a page that each origin answers for, by its name.

    Raises:
        WrongInputError: there is no such site, a pattern fits no host of it, or two fit the same.
    """
    known = _outline(page).hosts
    taken: dict[str, str] = {}
    for name, origin in origins.items():
        where = f"origins.{name}.hosts"
        for pattern in origin.hosts:
            fitting = [host for host in known if fnmatchcase(host, pattern)]
            if not fitting:
                hint = nearest(pattern, known, then=f"its hosts: {', '.join(known)}")
                raise WrongInputError(
                    f"the page {page.replay.site} has no host {pattern!r}{hint}", where=where
                )
            for host in fitting:
                if taken.setdefault(host, name) != name:
                    reason = f"{host} is a host of {taken[host]}, and belongs to only one"
                    raise WrongInputError(reason, where=where)
    return {name: tuple(host for host in known if taken.get(host) == name) for name in origins}
