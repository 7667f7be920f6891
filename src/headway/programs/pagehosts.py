"""The hosts of a page that one server answers for."""

from __future__ import annotations

from dataclasses import dataclass

from headway.study.family import HostAddress
from headway.study.host import Protocol


@dataclass(frozen=True)
class PageHosts:
    """Hosts of a page that one server answers for.

    Attributes:
        hosts: their names.
        address: where it is.
        protocol: what a browser speaks with them.
        third_party: whether they are counted as a third party.
    """

    hosts: tuple[str, ...]
    address: HostAddress
    protocol: Protocol
    third_party: bool = False
