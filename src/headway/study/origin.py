"""Origins: hosts of a page that are elsewhere than the study's server, and what they speak."""

from __future__ import annotations

from collections.abc import Mapping
from operator import not_
from typing import Any

from pydantic import Field

from headway.study.base_model import Part
from headway.study.host import Host, Protocol
from headway.study.merging import merged
from headway.study.path import Path

_VERSIONS = (Protocol.H1, Protocol.H2, Protocol.H3)
"""The older ones first."""


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
