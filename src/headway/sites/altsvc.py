"""The Alt-Svc field, which tells a browser that a server speaks HTTP/3 (RFC 9114, section 3.1.1)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headway.sites.site import Exchange, Header, Site


def advertising(site: Site, without: Collection[str], value: str) -> Site:
    """The site with the field in every response, as servers with HTTP/3 send it, but those of some hosts.

    Chromium, though told to use QUIC, takes a server that never said so for one without priorities, and
    asks it for no more than six images at a time.

    Args:
        site: as recorded.
        without: hosts that speak no HTTP/3.
        value: of the field.
    """
    return replace(
        site,
        exchanges=tuple(
            exchange if exchange.host in without else _advertising(exchange, ("alt-svc", value))
            for exchange in site.exchanges
        ),
    )


def _advertising(exchange: Exchange, field: Header) -> Exchange:
    return replace(exchange, headers=(*exchange.headers, field))
