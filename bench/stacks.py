"""The QUIC stacks that `bench.loopback` compares: servers and clients, as commands on this host.

ngtcp2, Caddy and aioquic are those of the lab's root tree. They are programs of a newer Debian than
this host may be, so each runs under that tree's own dynamic loader with that tree's libraries.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import headway
from headway.errors import HeadwayError
from headway.programs.base import SERVER_NAME

ADDRESS = "127.0.0.1"
UDP_PAYLOAD = 1452
"""Bytes in a full datagram, of all who can be told: the most that quic-go may send."""
LEAST_UDP_PAYLOAD = 1200
"""Bytes that every path takes (RFC 9000, section 14)."""
LOOPBACK_UDP_PAYLOAD = 65_000
"""The most that Headway probes for, which the loopback interface takes."""
_IDLE_S = 30


@dataclass(frozen=True)
class Place:
    """Where programs are.

    Attributes:
        tree: the lab's root tree.
        native: the directory of Headway's own programs.
        quic_go_client: the extra; None if it is not installed.
        quinn_peer: the program of `bench/peers/quinn`; None if nothing that is measured needs it.
        documents: the directory of bodies.
        scratch: a directory for configuration files.
    """

    tree: Path
    native: Path
    quic_go_client: Path | None
    quinn_peer: Path | None
    documents: Path
    scratch: Path

    @property
    def ca(self) -> Path:
        """The certificate authority that clients trust."""
        return self.tree / "lab/pki/ca.pem"

    @property
    def certificate(self) -> Path:
        """The servers' certificate."""
        return self.tree / "lab/pki/server.pem"

    @property
    def key(self) -> Path:
        """Its key."""
        return self.tree / "lab/pki/server.key"

    def own(self, name: str) -> str:
        """One of Headway's own programs."""
        return existing(self.native / name)

    def of_tree(self, program: str) -> list[str]:
        """Words that run a program of the root tree on this host."""
        libraries = self.tree / "usr/lib/x86_64-linux-gnu"
        loader = existing(libraries / "ld-linux-x86-64.so.2")
        return [loader, "--library-path", str(libraries), existing(self.tree / program)]

    def python(self, module: str) -> Command:
        """A module of Headway's in the root tree's Python."""
        argv = [*self.of_tree("usr/bin/python3"), "-B", "-m", module]
        code = Path(headway.__file__).parents[1]
        return Command(argv, {"PYTHONHOME": f"{self.tree}/usr", "PYTHONPATH": str(code)})


@dataclass(frozen=True)
class Command:
    """A command, and what its environment has in addition."""

    argv: list[str]
    env: Mapping[str, str] = field(default_factory=dict)

    def plus(self, *words: object) -> Command:
        """The command with more words."""
        return Command([*self.argv, *map(str, words)], self.env)


def existing(program: Path) -> str:
    """The path of a program.

    Raises:
        HeadwayError: it is not there.
    """
    if not program.exists():
        raise HeadwayError(f"there is no {program}: build the lab's image (headway image build)")
    return str(program)


class Stack(ABC):
    """A QUIC stack, with a server and a client for HTTP/3.

    Attributes:
        name: what the tables call it.
        protocol: the version of HTTP.
        is_slow: it gets a tenth of the body.
    """

    name: str
    protocol: str = "h3"
    is_slow = False

    @abstractmethod
    def serve(self, place: Place, port: int) -> Command:
        """A server of the directory of bodies."""

    @abstractmethod
    def fetch(self, place: Place, port: int, file: str) -> Command:
        """A client that downloads a body and throws it away."""


def url(file: str, port: int) -> str:
    """Address of a body."""
    return f"https://{SERVER_NAME}:{port}/{file}"


@dataclass(frozen=True)
class Headway(Stack):
    """Headway's own: quinn-proto driven by one thread.

    Attributes:
        name: as of every stack.
        generated: the body is generated (``/bytes/N``) and not a file.
        protocol: the version of HTTP; ``h2`` is with the server's defaults for TCP.
        knobs: of its QUIC, on both sides.
    """

    name: str = "headway"
    generated: bool = False
    protocol: str = "h3"
    knobs: str = f"max-udp-payload={UDP_PAYLOAD}"

    def serve(self, place: Place, port: int) -> Command:
        """See `Stack.serve`."""
        return Command([place.own("headway-server")]).plus(
            f"--listen={ADDRESS}:{port}",
            f"--protocols={self.protocol}",
            f"--cert={place.certificate}",
            f"--key={place.key}",
            f"--root={place.documents}",
            f"--quic={self.knobs}",
        )

    def fetch(self, place: Place, port: int, file: str) -> Command:
        """See `Stack.fetch`."""
        target = f"bytes/{Path(file).stem}" if self.generated else file
        return Command([place.own("headway-client")]).plus(
            f"--protocol={self.protocol}",
            f"--ca={place.ca}",
            f"--resolve={SERVER_NAME}:{ADDRESS}",
            f"--quic={self.knobs}",
            url(target, port),
        )


@dataclass(frozen=True)
class Quinn(Stack):
    """quinn and h3: a server and a client of our own writing, of one thread each.

    Attributes:
        name: as of every stack.
        payload: bytes in a full datagram.
    """

    name: str = "quinn"
    payload: int = UDP_PAYLOAD

    def serve(self, place: Place, port: int) -> Command:
        """See `Stack.serve`."""
        return self._peer(place, "server").plus(
            f"--listen={ADDRESS}:{port}",
            f"--cert={place.certificate}",
            f"--key={place.key}",
            f"--root={place.documents}",
        )

    def fetch(self, place: Place, port: int, file: str) -> Command:
        """See `Stack.fetch`."""
        return self._peer(place, "client").plus(
            f"--ca={place.ca}", f"--address={ADDRESS}:{port}", url(file, port)
        )

    def _peer(self, place: Place, side: str) -> Command:
        if place.quinn_peer is None:
            raise HeadwayError("the quinn peer is not compiled")
        return Command([existing(place.quinn_peer), side, f"--payload={self.payload}"])


class Ngtcp2(Stack):
    """ngtcp2's example programs, with GnuTLS."""

    name = "ngtcp2"

    def serve(self, place: Place, port: int) -> Command:
        """See `Stack.serve`."""
        return Command(place.of_tree("usr/sbin/gtlsserver")).plus(
            "--quiet",
            f"--htdocs={place.documents}",
            f"--max-udp-payload-size={UDP_PAYLOAD}",
            *(ADDRESS, port, place.key, place.certificate),
        )

    def fetch(self, place: Place, port: int, file: str) -> Command:
        """See `Stack.fetch`."""
        return Command(place.of_tree("usr/bin/gtlsclient")).plus(
            "--quiet",
            "--no-quic-dump",
            "--no-http-dump",
            "--exit-on-all-streams-close",
            f"--timeout={_IDLE_S}s",
            f"--sni={SERVER_NAME}",
            *(ADDRESS, port, url(file, port)),
        )


class QuicGo(Stack):
    """quic-go: Caddy, and Headway's client on it."""

    name = "quic-go"

    def serve(self, place: Place, port: int) -> Command:
        """See `Stack.serve`."""
        configuration = place.scratch / "caddy.json"
        configuration.write_text(json.dumps(_caddy(place, port)))
        command = Command(place.of_tree("usr/bin/caddy"), {"HOME": str(place.scratch)})
        return command.plus("run", "--config", configuration)

    def fetch(self, place: Place, port: int, file: str) -> Command:
        """See `Stack.fetch`."""
        if place.quic_go_client is None:
            raise HeadwayError("quic-go-client is not installed: headway image add quic-go-client")
        return Command([existing(place.quic_go_client)]).plus(
            f"--ca={place.ca}", f"--address={ADDRESS}:{port}", url(file, port)
        )


class Aioquic(Stack):
    """aioquic: Headway's server and client on it. It keeps to datagrams of 1200 bytes."""

    name = "aioquic"
    is_slow = True

    def serve(self, place: Place, port: int) -> Command:
        """See `Stack.serve`."""
        return place.python("headway.aioquic.server").plus(
            f"--address={ADDRESS}",
            f"--port={port}",
            f"--certificate={place.certificate}",
            f"--key={place.key}",
            "--congestion-control=cubic",
            f"--idle-timeout={_IDLE_S}",
            place.documents,
        )

    def fetch(self, place: Place, port: int, file: str) -> Command:
        """See `Stack.fetch`."""
        client = place.python("headway.aioquic.client")
        # Where the lab has its certificate authority.
        client = Command(client.argv, {**client.env, "SSL_CERT_FILE": str(place.ca)})
        return client.plus(f"--address={ADDRESS}", f"--port={port}", url(file, port))


def _caddy(place: Place, port: int) -> dict[str, object]:
    server = {
        "listen": [f"{ADDRESS}:{port}"],
        "protocols": ["h1", "h2", "h3"],
        "automatic_https": {"disable": True},
        "routes": [{"handle": [{"handler": "file_server", "root": str(place.documents)}]}],
        "tls_connection_policies": [{}],
    }
    certificate = {"certificate": str(place.certificate), "key": str(place.key)}
    return {
        "admin": {"disabled": True, "config": {"persist": False}},
        "logging": {"logs": {"default": {"level": "WARN"}}},
        "storage": {"module": "file_system", "root": str(place.scratch)},
        "apps": {
            "http": {"servers": {"bench": server}},
            "tls": {
                "certificates": {"load_files": [certificate]},
                "disable_storage_check": True,
                "disable_storage_clean": True,
            },
        },
    }
