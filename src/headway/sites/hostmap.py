"""Hosts under other names: a page of a local server becomes one that a lab can serve.

A server at ``127.0.0.1:8001`` becomes ``https://shop.test``: its URLs are renamed, and so is what
bodies and header fields say of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlsplit

from headway.errors import WrongInputError
from headway.sites.coding import CodingError, content_codings, decoded, encoded
from headway.sites.matching import redirect_target
from headway.sites.recording import Recording
from headway.sites.servable import unservable
from headway.sites.site import Exchange, is_textual

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_NAME = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*")
_SLASHES = r"(?P<slashes>(?:\\?/){2})"
"""As in URLs, and as JSON may write them."""
_ENDS = r"(?![\w-]|\.\w)"
_DEFAULT_PORTS = {80: "http", 443: "https"}


@dataclass(frozen=True)
class HostMap:
    """A name, and where the server is that it stands for.

    Attributes:
        name: that the recorded site has it under.
        address: name or IP address of the server; IPv6 in brackets.
        port: its port.
    """

    name: str
    address: str
    port: int

    @classmethod
    def parse(cls, text: str) -> HostMap:
        """From ``NAME=ADDRESS:PORT``.

        Raises:
            WrongInputError: it is none, or no lab can serve the name.
        """
        name, _, place = text.lower().partition("=")
        where = f"--map {text}"
        try:
            parts = urlsplit(f"//{place}")
            port = parts.port
        except ValueError:
            port = None
        if not _NAME.fullmatch(name) or port is None or not parts.hostname or parts.path:
            raise WrongInputError(
                "is written NAME=ADDRESS:PORT, such as shop.test=127.0.0.1:8001", where=where
            )
        if reason := unservable(f"https://{name}/"):
            raise WrongInputError(reason, where=where)
        address = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return cls(name, address, port)

    @property
    def rule(self) -> str:
        """The same for Chromium's ``--host-resolver-rules``."""
        return f"MAP {self.name} {self.address}:{self.port}"

    @property
    def origin(self) -> str:
        """What the recorded site has in its place."""
        return f"https://{self.name}"

    @cached_property
    def _origins(self) -> tuple[re.Pattern[str], ...]:
        """What names the server, with or without a scheme."""
        aliases = _LOOPBACK if self.address in _LOOPBACK else (self.address,)
        there = "|".join(map(re.escape, aliases))
        patterns = [
            rf"(?P<scheme>https?:)?{_SLASHES}(?:{there}):{self.port}(?!\d)",
            rf"(?P<scheme>https?:){_SLASHES}{re.escape(self.name)}(?::\d+)?{_ENDS}",
        ]
        if scheme := _DEFAULT_PORTS.get(self.port):
            patterns.append(rf"(?P<scheme>{scheme}:){_SLASHES}(?:{there}){_ENDS}")
        return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)

    def renamed(self, text: str) -> str:
        """A URL, or text with URLs, in which the server has its new name."""
        for pattern in self._origins:
            text = pattern.sub(self._new, text)
        return text

    def _new(self, match: re.Match[str]) -> str:
        return f"{'https:' if match['scheme'] else ''}{match['slashes']}{self.name}"


@dataclass(frozen=True)
class HostMaps:
    """All that are mapped."""

    maps: tuple[HostMap, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> HostMaps:
        """From options; see `HostMap.parse`."""
        return cls(tuple(map(HostMap.parse, texts)))

    def of(self, url: str) -> HostMap | None:
        """The map that a URL, renamed, is subject to."""
        host = urlsplit(url).hostname
        return next((host_map for host_map in self.maps if host_map.name == host), None)

    def renamed(self, text: str) -> str:
        """A URL, or text with URLs, with all new names."""
        for host_map in self.maps:
            text = host_map.renamed(text)
        return text

    def applied(self, recording: Recording) -> Recording:
        """A recording with all new names, and a note of how many bodies that changed.

        Redirects that lead to themselves by that, as from HTTP to HTTPS, are left out.
        """
        if not self.maps:
            return recording
        site = recording.site
        renamed = [self._exchange(exchange) for exchange in site.exchanges]
        changed = sum(
            old.body != new.body for old, new in zip(site.exchanges, renamed, strict=True)
        )
        kept = dict.fromkeys(
            exchange for exchange in renamed if redirect_target(exchange) != exchange.url
        )
        notes = [f"hosts renamed in bodies ({changed})"] if changed else []
        lost = tuple(replace(exchange, url=self.renamed(exchange.url)) for exchange in site.lost)
        renamed_site = replace(site, page=self.renamed(site.page), exchanges=tuple(kept), lost=lost)
        return Recording(renamed_site, (*recording.notes, *notes))

    def _exchange(self, exchange: Exchange) -> Exchange:
        return replace(
            exchange,
            url=self.renamed(exchange.url),
            headers=tuple((name, self.renamed(value)) for name, value in exchange.headers),
            body=self._body(exchange),
        )

    def _body(self, exchange: Exchange) -> bytes:
        """Its body as it was, unless it is text that names a host."""
        if not is_textual(exchange):
            return exchange.body
        names = content_codings(exchange.headers)
        try:
            # Whatever its character set is, host names are ASCII, and the rest stays.
            text = decoded(exchange.body, names).decode("latin-1")
        except CodingError:
            return exchange.body
        renamed = self.renamed(text)
        return exchange.body if renamed == text else encoded(renamed.encode("latin-1"), names)


NO_MAPS = HostMaps()
