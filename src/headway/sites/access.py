"""Access of a recording browser to hosts that are mapped, or whose certificates nobody vouches for."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from functools import cached_property

from headway.errors import HeadwayError
from headway.sites.hostmap import NO_MAPS, HostMap, HostMaps

_ANSWERS_WITHIN_S = 10.0


@dataclass(frozen=True)
class Access:
    """Detours of a browser.

    Attributes:
        maps: where mapped hosts are.
        insecure: whether certificates may be wrong.
    """

    maps: HostMaps = NO_MAPS
    insecure: bool = False

    def loaded(self, url: str) -> str:
        """The URL that the browser loads for one that is to be replayed.

        A mapped server that speaks no TLS is asked over HTTP.
        """
        plain = self.maps.of(url) in self._plain
        return url.replace("https:", "http:", 1) if plain else url

    def described(self, url: str) -> str:
        """A URL, and where it really is."""
        server = self.maps.of(url)
        return f"{url} at {server.address}:{server.port}" if server else url

    def flags(self) -> tuple[str, ...]:
        """What the browser's command line has to say of all that."""
        flags = []
        if self.maps.maps:
            rules = ", ".join(host_map.rule for host_map in self.maps.maps)
            flags.append(f"--host-resolver-rules={rules}")
        if self._plain:
            # In a lab these pages will be secure contexts, so that their scripts may do more.
            origins = ",".join(f"http://{host_map.name}" for host_map in self._plain)
            flags += [
                f"--unsafely-treat-insecure-origin-as-secure={origins}",
                "--disable-features=HttpsUpgrades",
            ]
        if self.insecure:
            flags.append("--ignore-certificate-errors")
        return tuple(flags)

    def hint(self, error: str) -> str:
        """What may help against an error of the browser, as the end of a message."""
        if "ERR_CERT_" in error and not self.insecure:
            return "; --insecure records it all the same"
        return ""

    @cached_property
    def _plain(self) -> tuple[HostMap, ...]:
        return tuple(host_map for host_map in self.maps.maps if not speaks_tls(host_map))


NO_DETOURS = Access()


def speaks_tls(server: HostMap) -> bool:
    """Whether a server answers a TLS handshake.

    Raises:
        HeadwayError: it cannot be reached.
    """
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    place = server.address.strip("[]"), server.port
    try:
        with socket.create_connection(place, _ANSWERS_WITHIN_S) as connection:
            try:
                context.wrap_socket(connection, server_hostname=server.name).close()
            except (ssl.SSLError, ConnectionError, TimeoutError):
                return False
            return True
    except OSError as error:
        reason = error.strerror or str(error)
        raise HeadwayError(
            f"--map {server.name}={server.address}:{server.port}: nobody answers there: {reason}"
        ) from error
