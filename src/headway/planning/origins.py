"""Servers of a page's hosts beside the study's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headway.programs.origins import hosts_of, recorded_versions
from headway.study.origin import OriginServer
from headway.study.setting import Setting


@dataclass(frozen=True)
class PlannedOrigin:
    """A server of its own, and the hosts of the page that it answers for.

    Attributes:
        server: as the study says, or as the recording does.
        hosts: their names.
    """

    server: OriginServer
    hosts: tuple[str, ...]


def planned_origins(setting: Setting) -> Mapping[str, PlannedOrigin]:
    """By name: those that the study names, and one for each lower version that other hosts were recorded over.

    Raises:
        WrongInputError: a pattern fits no host of the page, or the recording does not tell its versions.
    """
    if not setting.has_origins:
        return {}
    named = hosts_of(setting.origins, setting.workload)
    planned = {name: PlannedOrigin(origin, named[name]) for name, origin in setting.origins.items()}
    if not setting.workload.replay.mixes_versions:
        return planned
    taken = {host for hosts in named.values() for host in hosts}
    recorded = recorded_versions(setting.workload, besides=taken)
    for version in sorted(set(recorded.values())):
        hosts = tuple(host for host, its in recorded.items() if its is version)
        server = OriginServer(hosts=hosts, protocol=version, server=setting.server)
        if server.spoken(setting.protocol) is not setting.protocol:
            planned[f"recorded-{version}"] = PlannedOrigin(server, hosts)
    return planned
