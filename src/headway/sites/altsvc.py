"""What tells a browser that a server speaks HTTP/3: the Alt-Svc field (RFC 9114, section 3.1.1)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headway.sites.site import Exchange, Header, Site

_FIELD: Header = ("alt-svc", 'h3=":443"; ma=86400')


def advertising(site: Site, without: Collection[str] = ()) -> Site:
    """The site with the field in every response, as servers with HTTP/3 send it, but those of some hosts.

    Chromium, though told to use QUIC, takes a server that never said so for one without priorities, and
    asks it for no more than six images at a time.
    """
    return replace(
        site,
        exchanges=tuple(
            exchange if exchange.host in without else _advertising(exchange)
            for exchange in site.exchanges
        ),
    )


def _advertising(exchange: Exchange) -> Exchange:
    return replace(exchange, headers=(*exchange.headers, _FIELD))
