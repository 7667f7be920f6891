"""Evidence of a run of a test case: captures at both hosts, files, and how the programs ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from headway.instruments.interop.connection import HANDSHAKE, INITIAL, RETRY, Connection, key_log
from headway.instruments.interop.datagram import datagrams
from headway.instruments.interop.trace import CapturedQuic
from headway.lab.pcapng import read_pcapng

_FINISHED = 20
_NAMED = 3
"""So many of several files or packets are named."""


class CheckError(Exception):
    """A check that does not hold, and why, in words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UncheckableError(CheckError):
    """A check that nobody can make, since something for it is missing."""


@dataclass
class CaseEvidence:
    """What a run left.

    Attributes:
        client_capture: packets at the client, pcapng.
        server_capture: packets at the server, pcapng.
        secrets: the key log of either endpoint; empty if there is none.
        served: the directory of what the server has.
        downloads: the directory of what the client wrote.
        names: of the files that it asked for.
        servers: the server's addresses.
        opens_short: whether the contents of packets with a short header matter.
    """

    client_capture: Path
    server_capture: Path
    secrets: str
    served: Path
    downloads: Path
    names: Sequence[str]
    servers: frozenset[str]
    opens_short: bool = True

    @cached_property
    def client(self) -> CapturedQuic:
        """What the client's device saw."""
        return self._trace(self.client_capture)

    @cached_property
    def server(self) -> CapturedQuic:
        """What the server's device saw."""
        return self._trace(self.server_capture)

    def _trace(self, capture: Path) -> CapturedQuic:
        frames = datagrams(read_pcapng(capture), self.servers)
        return CapturedQuic.read(frames, key_log(self.secrets), opens_short=self.opens_short)

    @property
    def whole(self) -> CaseEvidence:
        """The same with everything opened."""
        return self if self.opens_short else replace(self, opens_short=True)

    def check_keys(self) -> None:
        """Let the captures open.

        Raises:
            UncheckableError: neither endpoint wrote the secrets.
        """
        if not self.secrets:
            raise UncheckableError(
                "the captures have no keys: neither endpoint wrote TLS secrets to SSLKEYLOGFILE"
            )
        if not self.client.has_keys:
            lacking = sum(not each.has_secrets for each in self.client.connections)
            raise UncheckableError(
                f"the captures lack the keys of {lacking} of {len(self.client.connections)} connections: "
                "the file of SSLKEYLOGFILE has no secrets of their ClientHello's random number"
            )

    def check_files(self) -> None:
        """Let the client have written what the server has, and nothing else.

        Raises:
            CheckError: it did not.
        """
        written = (
            {file.name for file in self.downloads.iterdir()} if self.downloads.is_dir() else set()
        )
        asked = set(self.names)
        if missing := sorted(asked - written):
            what = "the file" if len(self.names) == 1 else f"{len(missing)} of {len(asked)} files"
            raise CheckError(f"{what} did not arrive ({_listed(missing)})")
        if more := sorted(written - asked):
            raise CheckError(f"files were written that nobody asked for: {_listed(more)}")
        for name in self.names:
            self._check_content(name)

    def _check_content(self, name: str) -> None:
        want, got = (self.served / name).read_bytes(), (self.downloads / name).read_bytes()
        if len(want) != len(got):
            raise CheckError(f"{name[:20]} arrived with {len(got)} of {len(want)} bytes")
        if want != got:
            place = next(at for at, (a, b) in enumerate(zip(want, got, strict=True)) if a != b)
            raise CheckError(f"{name[:20]} arrived with other content from byte {place} on")

    @property
    def completed(self) -> list[Connection]:
        """The connections whose client sent its Finished."""
        return [
            connection
            for connection in self.client.connections
            if any(
                kind == _FINISHED
                for kind, _ in connection.stream(HANDSHAKE, of_client=True).messages
            )
        ]

    @property
    def handshakes(self) -> int:
        """How many handshakes the client completed.

        Without keys: connections of whose client a Handshake packet was sent.
        """
        if self.secrets:
            return len(self.completed)
        return sum(
            any(packet.kind == HANDSHAKE and packet.of_client for packet in connection.packets)
            for connection in self.client.connections
        )

    @property
    def server_versions(self) -> frozenset[int]:
        """Of the Initials that the server sent."""
        packets = self.server.of(INITIAL, of_client=False)
        return frozenset(packet.header.version or 0 for packet in packets)

    @property
    def retries(self) -> frozenset[bytes]:
        """Tokens of the Retry packets that the client received."""
        return frozenset(packet.header.token for packet in self.client.of(RETRY, of_client=False))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(name[:20] for name in names[:_NAMED])
    return f"{shown}, ..." if len(names) > _NAMED else shown
