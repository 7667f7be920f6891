"""The part of a site that a lab can serve: names, over HTTPS, on its port."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

from headway.errors import WrongInputError
from headway.sites.matching import redirect_target
from headway.sites.site import Site

_PORTS = {"http": 80, "https": 443}
_EXAMPLE = "shop.test"
"""A name that nobody has (RFC 6761, section 6.2)."""


def unservable(url: str, *, tls: bool = True) -> str | None:
    """Why no lab can serve a URL; None if labs can.

    Args:
        url: absolute.
        tls: whether it is served over TLS; without, a page is loaded over HTTP, whatever it was
            recorded over.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return f"{host} is the browser's own host wherever it runs, so no lab can serve it"
    if is_address(host):
        return f"{host} is an address, and a lab's servers have addresses of their own"
    if (port := port_of(parts)) != _PORTS[parts.scheme]:
        return f"port {port} is served by no lab; {_PORTS['https']} is"
    if tls and parts.scheme != "https":
        return "http is served by no lab in which TLS is on; https is"
    return None


def way_out(url: str, source: str) -> str:
    """What to do about a page that no lab can serve.

    Args:
        url: of the page.
        source: what it can be recorded from: its URL, or an archive.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    local = is_address(host) or host == "localhost" or "." not in host
    name = _EXAMPLE if local else host
    shown = f"[{host}]" if ":" in host else host
    return (
        f"`headway record {source} --map {name}={shown}:{port_of(parts)} --out FILE.warc.gz` "
        f"records it as https://{name}{parts.path or '/'}"
    )


def check_servable(page: str, source: str, *, tls: bool = True) -> None:
    """Check that labs can serve a site's page.

    Args:
        page: its URL.
        source: what the site is recorded from, or its archive.
        tls: see `unservable`.

    Raises:
        WrongInputError: they cannot; says why, and what to do.
    """
    if reason := unservable(page, tls=tls):
        what = page if page == source else f"the page of {source}, {page},"
        raise WrongInputError(f"{what} cannot be replayed: {reason}; {way_out(page, source)}")


def final_page(site: Site) -> str:
    """The page's URL, or what it redirects to if only that can be served, as https from http."""
    targets = {
        exchange.url: redirect_target(exchange)
        for exchange in site.exchanges
        if exchange.method == "GET"
    }
    page, seen = site.page, {site.page}
    while unservable(page):
        target = targets.get(page)
        if target is None or target in seen or target not in targets:
            return site.page
        page = target
        seen.add(page)
    return page


def is_address(host: str) -> bool:
    """Whether a URL's host is an IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def port_of(parts: SplitResult) -> int:
    """The port of an HTTP URL, stated or not; 0 if what is stated is none."""
    try:
        return parts.port or _PORTS[parts.scheme]
    except ValueError:
        return 0
