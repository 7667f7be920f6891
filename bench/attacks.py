"""Measures what clients that mean no good take of headway-server's memory, and whether others are served.

    python -m bench.attacks native/target/release/headway-server

Each attack has a server of its own with its default limits. While it goes on, another client asks for a
kilobyte; resident memory is read until then, at its highest. Attacks come from one address and the other
client from another one (127.0.0.2).
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import ssl
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

FILE_BYTES = 10_000_000
CONNECTIONS = 900
STREAMS = 1000
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, WINDOW_UPDATE, HEADERS, PING, RST_STREAM = 4, 8, 1, 6, 3
INITIAL_WINDOW_SIZE = 4


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    process: subprocess.Popen[str]
    plain: int
    tls: int

    def highest_bytes(self) -> int:
        """The most memory that it had resident so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def connect(self) -> socket.socket:
        """A connection without TLS."""
        return socket.create_connection(("127.0.0.1", self.plain), timeout=30)

    def h2(self, initial_window: int) -> ssl.SSLSocket:
        """An HTTP/2 connection whose streams have this window."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        raw = socket.create_connection(("127.0.0.1", self.tls), timeout=30)
        stream = context.wrap_socket(raw)
        stream.sendall(PREFACE + settings(initial_window))
        return stream


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame of HTTP/2 (RFC 9113, section 4.1)."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(initial_window: int) -> bytes:
    """SETTINGS with SETTINGS_INITIAL_WINDOW_SIZE."""
    return frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, initial_window))


def get(stream: int, path: str) -> bytes:
    """A request: indexed fields of the static table, and literals without Huffman coding."""
    path_field = b"\x04" + bytes([len(path)]) + path.encode()
    block = b"\x82\x87" + path_field + b"\x01\x01a"
    return frame(HEADERS, 0x05, stream, block)


def requests(path: str) -> bytes:
    """As many requests as there may be at a time."""
    return b"".join(get(2 * number + 1, path) for number in range(STREAMS))


Attack = Callable[[Server], list[socket.socket]]


def idle(server: Server) -> list[socket.socket]:
    """Connections that say nothing."""
    return [server.connect() for _ in range(CONNECTIONS)]


def dribbling(server: Server) -> list[socket.socket]:
    """Connections with half a request."""
    opened = idle(server)
    for stream in opened:
        with contextlib.suppress(OSError):
            stream.sendall(b"GET / HTTP/1.1\r\nhos")
    return opened


def unread(server: Server) -> list[socket.socket]:
    """Connections that do not read their files."""
    opened = idle(server)
    for stream in opened:
        with contextlib.suppress(OSError):
            stream.sendall(b"GET /file.bin HTTP/1.1\r\nhost: a\r\n\r\n")
    return opened


def idle_h2(server: Server) -> list[socket.socket]:
    """HTTP/2 connections without requests."""
    return [server.h2(65_535) for _ in range(100)]


def stalled(path: str, window: int) -> Attack:
    """Responses that the windows of their streams hold back, on ten connections."""

    def attack(server: Server) -> list[socket.socket]:
        opened: list[socket.socket] = []
        for _ in range(10):
            stream = server.h2(window)
            stream.sendall(requests(path))
            opened.append(stream)
        return opened

    return attack


def repeated(start: bytes, again: Callable[[int], bytes], times: int) -> Attack:
    """The same again and again, until the server ends the connection."""

    def attack(server: Server) -> list[socket.socket]:
        stream = server.h2(0)
        with contextlib.suppress(OSError):
            stream.sendall(start)
            for number in range(times):
                stream.sendall(again(number))
        return [stream]

    return attack


def toggled(_: int) -> bytes:
    """The window opens and closes."""
    return settings(1) + settings(0)


def reset(number: int) -> bytes:
    """A request that is given up."""
    stream = 2 * number + 1
    return get(stream, "/bytes/1000") + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))


def made_to_reset(number: int) -> bytes:
    """A request, and what makes the server give it up."""
    stream = 2 * number + 1
    return get(stream, "/bytes/1000") + frame(WINDOW_UPDATE, 0, stream, bytes(4))


ATTACKS: dict[str, Attack] = {
    f"{CONNECTIONS} idle connections": idle,
    f"{CONNECTIONS} connections with half a head": dribbling,
    f"{CONNECTIONS} connections that do not read a file of 10 MB": unread,
    "100 idle connections over h2": idle_h2,
    f"h2: 10 x {STREAMS} responses of 1 GB, window 0": stalled("/bytes/1000000000", 0),
    f"h2: 10 x {STREAMS} files of 10 MB, window 1": stalled("/file.bin", 1),
    "h2: 100,000 SETTINGS that open and close 1,000 windows": repeated(
        requests("/bytes/1000000"), toggled, 50_000
    ),
    "h2: 300,000 PING": repeated(b"", lambda _: frame(PING, 0, 0, bytes(8)), 300_000),
    "h2: 100,000 requests reset": repeated(b"", reset, 100_000),
    "h2: 100,000 requests that the server is made to reset": repeated(b"", made_to_reset, 100_000),
}


@contextlib.contextmanager
def running(program: Path, directory: Path) -> Iterator[Server]:
    """A server of a file, with and without TLS."""
    command = [str(program), "--plain=0.0.0.0:0", "--listen=0.0.0.0:0", f"--root={directory}"]
    command += [f"--cert={directory}/cert.pem", f"--key={directory}/key.pem"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        ports = {}
        for _ in range(2):
            scheme, _, port = process.stderr.readline().strip().rpartition(":")
            ports["https" in scheme] = int(port)
        yield Server(process, ports[False], ports[True])
    finally:
        process.kill()
        process.wait()


def other_client_s(server: Server) -> float | None:
    """How long another client's request takes, from its connection on; none if it is not answered."""
    begin = time.perf_counter()
    source = ("127.0.0.2", 0)
    try:
        with socket.create_connection(("127.0.0.1", server.plain), 10, source) as stream:
            stream.sendall(b"GET /bytes/1000 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            received = b""
            while piece := stream.recv(65_536):
                received += piece
    except OSError:
        return None
    return time.perf_counter() - begin if len(received) > 1000 else None


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    program: Path = parser.parse_args().program
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.joinpath("file.bin").write_bytes(bytes(FILE_BYTES))
        certificate = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ]
        certificate += ["-nodes", "-subj", "/CN=a", "-days", "1"]
        certificate += ["-keyout", f"{directory}/key.pem", "-out", f"{directory}/cert.pem"]
        subprocess.run(certificate, check=True, capture_output=True)
        print("| attack | resident memory, at most | another client's request |")
        print("|---|---|---|")
        for what, attack in ATTACKS.items():
            with running(program, directory) as server:
                opened = attack(server)
                took_s = other_client_s(server)
                time.sleep(1)
                memory = f"{server.highest_bytes() / 1e6:.1f} MB"
                answered = "not answered" if took_s is None else f"{took_s * 1000:.1f} ms"
                print(f"| {what} | {memory} | {answered} |", flush=True)
                for stream in opened:
                    stream.close()


if __name__ == "__main__":
    main()
