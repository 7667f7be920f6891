"""Origins: hosts of a page that are elsewhere than the study's server, and what they speak."""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import not_
from typing import Any

from pydantic import Field

from headway.study.base_model import Part, wrong
from headway.study.flow import SERVERS
from headway.study.hop import Hop
from headway.study.host import HTTP, Host, Protocol
from headway.study.merging import merged
from headway.study.path import Path
from headway.study.workload import Connections, Origins, Page, Workload

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,19}")
_VERSIONS = (Protocol.H1, Protocol.H2, Protocol.H3)
"""The older ones first."""
_MOST = 32


class OriginServer(Part):
    """A server of its own for some hosts of a page, behind a path of its own.

    That path begins where the study's path ends. A server that the file does not name is the study's, on
    another host.
    """

    hosts: tuple[str, ...] = Field(
        min_length=1, description='names of hosts, or patterns of them: "cdn.*", "*.ads.test"'
    )
    protocol: Protocol = Field(
        default=Protocol.H3,
        description="the highest version that it speaks: h1, h2 or h3; the contender's is the highest that the "
        "browser speaks",
    )
    server: Host
    path: Path = Field(
        default=Path(), description="from the end of the study's path to it; by default a cable"
    )
    third_party: bool = Field(
        default=False, exclude_if=not_, description="whether it is counted as a third party"
    )

    def spoken(self, protocol: Protocol) -> Protocol:
        """What a browser speaks with it whose highest version is this one."""
        return min(protocol, self.protocol, key=_VERSIONS.index)


def with_usual_server(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A setting's table whose origins have the server's table for what they do not say themselves."""
    origins, usual = raw.get("origins"), raw.get("server")
    if not isinstance(origins, dict) or not isinstance(usual, Mapping):
        return dict(raw)
    return {
        **raw,
        "origins": {
            name: {**origin, "server": merged(usual, origin.get("server", {}))}
            if isinstance(origin, dict) and isinstance(origin.get("server", {}), Mapping)
            else origin
            for name, origin in origins.items()
        },
    }


def check_origins(
    origins: Mapping[str, OriginServer],
    workload: Workload,
    protocol: Protocol,
    hops: Mapping[str, Hop],
    *,
    proxy: bool,
    tls: bool,
) -> None:
    """Check that a page's hosts can be where origins put them.

    Args:
        origins: by name.
        workload: what loads them.
        protocol: the highest version that the browser speaks.
        hops: on the way to all of them.
        proxy: whether a reverse proxy is.
        tls: whether connections are encrypted.

    Raises:
        PydanticCustomError: they cannot; names the key.
    """
    if not isinstance(workload, Page):
        raise wrong("origins", 'servers of a page\'s hosts need workload.kind = "page"')
    key = "origins" if origins else "workload.versions"
    if proxy:
        raise wrong(key, "a reverse proxy answers for all hosts of a page: leave out one of both")
    if SERVERS in hops:
        raise wrong("hops", f"{SERVERS!r} is the name of the router before the page's servers")
    if splitting := next((name for name, hop in hops.items() if hop.splits), None):
        reason = (
            f"hops before servers of a page's hosts only route, and {splitting} splits connections"
        )
        raise wrong(key, reason)
    if not tls:
        raise wrong(key, "needs tls = true, because each host announces its versions by TLS")
    if workload.connections is Connections.ONE:
        raise wrong("workload.connections", 'connections = "one" is for hosts at one address')
    if workload.origins is Origins.OWN_ADDRESSES:
        raise wrong("workload.origins", "hosts of [origins] have the address of their server")
    if len(origins) > _MOST:
        raise wrong("origins", f"{len(origins)} of them; a lab has {_MOST} at most")
    for name, origin in origins.items():
        if not _NAME.fullmatch(name):
            reason = f"{name!r} is no name: at most 20 lower-case letters, digits and hyphens"
            raise wrong("origins", reason)
        if origin.protocol not in HTTP:
            reason = f"a page's host speaks h1, h2 or h3, not {origin.protocol}"
            raise wrong(f"origins.{name}.protocol", reason)
    assert protocol in HTTP, "a page is loaded by HTTP"
