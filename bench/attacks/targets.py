"""The programs that are attacked, and how another client asks each of them for a kilobyte."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.attacks.identity import CERTIFICATE, KEY, NAME

ANSWER_BYTES = 1000
OTHER_CLIENT = "127.0.0.2"
"""It has an address of its own: limits are for addresses."""
_PATIENCE_S = 10
_NO_LIMITS = ("--limits=off", "--max-connections=3000")
"""Of a server behind a proxy, from whose one address everything comes: the proxy's own limits count."""


@dataclass(frozen=True)
class Place:
    """Where Headway's own programs are, and the files that are served."""

    programs: Path
    files: Path

    def program(self, name: str, *arguments: str) -> list[str]:
        """Its command line."""
        return [str(self.programs / name), *arguments]

    @property
    def identity(self) -> tuple[str, str, str]:
        """What a server says of itself: certificate and key as paths, and whom its clients trust."""
        certificate, key = self.files / CERTIFICATE, self.files / KEY
        return str(certificate), str(key), str(certificate)


@dataclass(frozen=True)
class Target:
    """A program that runs."""

    name: str
    process: subprocess.Popen[str]
    place: Place
    plain: int
    """Its port for TCP without TLS."""
    secured: int
    """Its port for TLS and QUIC."""

    def highest_bytes(self) -> int:
        """The most memory that it had resident so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def connect(self) -> socket.socket:
        """A connection without TLS."""
        return socket.create_connection(("127.0.0.1", self.plain), timeout=30)

    def connect_h2(self) -> ssl.SSLSocket:
        """A connection with TLS on which HTTP/2 is agreed."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        raw = socket.create_connection(("127.0.0.1", self.secured), timeout=30)
        return context.wrap_socket(raw)


Ask = Callable[[Target], float | None]
"""How long another client's request takes in seconds, from its connection on; none without an answer."""


def by_h1(target: Target) -> float | None:
    """Over HTTP/1.1 without TLS."""
    begin = time.perf_counter()
    address = ("127.0.0.1", target.plain)
    try:
        with socket.create_connection(address, _PATIENCE_S, (OTHER_CLIENT, 0)) as stream:
            request = f"GET /bytes/{ANSWER_BYTES} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
            stream.sendall(request.encode())
            received = b""
            while piece := stream.recv(65_536):
                received += piece
    except OSError:
        return None
    return time.perf_counter() - begin if len(received) > ANSWER_BYTES else None


def by_h3(target: Target) -> float | None:
    """Over HTTP/3."""
    command = target.place.program("headway-client", "--protocol=h3", f"--bind={OTHER_CLIENT}")
    command += ["--report=-", f"--timeout={_PATIENCE_S}", f"--ca={target.place.identity[2]}"]
    url = f"https://127.0.0.1:{target.secured}/bytes/{ANSWER_BYTES}"
    told = subprocess.run([*command, url], check=False, capture_output=True, text=True)
    row = json.loads(told.stdout)["requests"][0]
    if row["status"] != 200 or row["error"] is not None:
        return None
    took_s: float = row["last_byte_s"] - row["connect_start_s"]
    return took_s


def by_perf(transport: str) -> Ask:
    """A flow of headway-perf."""

    def ask(target: Target) -> float | None:
        port = target.plain if transport == "tcp" else target.secured
        command = target.place.program("headway-perf", "client", f"127.0.0.1:{port}")
        command += [f"--transport={transport}", f"--bytes={ANSWER_BYTES}", f"--bind={OTHER_CLIENT}"]
        if transport != "tcp":
            command += [f"--ca={target.place.identity[2]}", f"--server-name={NAME}"]
        told = subprocess.run(
            ["timeout", str(_PATIENCE_S), *command], check=False, capture_output=True, text=True
        )
        if told.returncode != 0:
            return None
        flow = json.loads(told.stdout)["flows"][0]
        took_s: float = flow["end_s"] - flow["start_s"]
        return took_s

    return ask


@contextlib.contextmanager
def running(command: list[str], said: int) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A program that says so many lines on its standard error once it listens."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        yield process, [process.stderr.readline().strip() for _ in range(said)]
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    """Where nobody listens, over UDP neither (by chance)."""
    with socket.create_server(("0.0.0.0", 0)) as free:
        port: int = free.getsockname()[1]
        return port


@contextlib.contextmanager
def server(place: Place, *options: str) -> Iterator[Target]:
    """headway-server, with files, with and without TLS."""
    certificate, key, _ = place.identity
    port = _free_port()
    command = place.program(
        "headway-server",
        "--plain=0.0.0.0:0",
        f"--listen=0.0.0.0:{port}",
        f"--root={place.files}",
        *options,
    )
    command += ["--protocols=h2,h1,h3", f"--cert={certificate}", f"--key={key}"]
    with running(command, said=3) as (process, lines):
        plain = next(line for line in lines if "http://" in line).rpartition(":")[2]
        yield Target("headway-server", process, place, int(plain), port)


@contextlib.contextmanager
def tcp_pep(place: Place) -> Iterator[Target]:
    """headway-tcp-pep before headway-server without TLS."""
    with server(place, *_NO_LIMITS) as behind:
        port = _free_port()
        command = place.program(
            "headway-tcp-pep", f"--listen=0.0.0.0:{port}", f"--to=127.0.0.1:{behind.plain}"
        )
        with running(command, said=1) as (process, _):
            yield Target("headway-tcp-pep", process, place, port, behind.secured)


@contextlib.contextmanager
def quic_pep(place: Place) -> Iterator[Target]:
    """headway-quic-pep before headway-server."""
    certificate, key, authority = place.identity
    with server(place, *_NO_LIMITS) as behind:
        port = _free_port()
        command = place.program(
            "headway-quic-pep", f"--listen=0.0.0.0:{port}", f"--to=127.0.0.1:{behind.secured}"
        )
        command += [f"--ca={authority}", f"--certificate={certificate}", f"--key={key}"]
        command += [f"--server-name={NAME}"]
        with running(command, said=1) as (process, _):
            yield Target("headway-quic-pep", process, place, behind.plain, port)


@contextlib.contextmanager
def perf(place: Place, transport: str) -> Iterator[Target]:
    """headway-perf's server."""
    certificate, key, _ = place.identity
    port = _free_port()
    command = place.program(
        "headway-perf", "server", f"--listen=0.0.0.0:{port}", f"--transport={transport}"
    )
    command += ["--report=/dev/null"]
    if transport != "tcp":
        command += [f"--certificate={certificate}", f"--key={key}"]
    with running(command, said=1) as (process, _):
        yield Target("headway-perf", process, place, port, port)
