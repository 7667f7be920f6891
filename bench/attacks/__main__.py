"""Measures what clients that mean no good take of headway-server's memory, and whether others are served.

    cargo build --release --workspace --examples    (in native/)
    python -m bench.attacks native/target/release

Each attack has a server of its own with its default limits. While it goes on, another client asks for a
kilobyte again and again, over HTTP/1.1, and over HTTP/3 if that is what is attacked; the longest time
counts. Resident memory is read at the end, at its highest. The other client has an address of its own
(127.0.0.2). Attacks over HTTP/3 are those of `native/server/examples/hostile.rs`.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import ipaddress
import json
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

CERTIFICATE, KEY = "server.pem", "server.key"
FILE_BYTES = 10_000_000
CONNECTIONS = 900
STREAMS = 1000
REQUESTS_AFTER = 20
"""Requests of another client once all of an attack was sent."""
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, WINDOW_UPDATE, HEADERS, PING, RST_STREAM = 4, 8, 1, 6, 3
INITIAL_WINDOW_SIZE = 4


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    process: subprocess.Popen[str]
    programs: Path
    files: Path
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


Attack = Callable[[Server], object]
"""What it returns lasts until the measurement is over."""


def many(beginning: bytes) -> Attack:
    """Connections that say this, and then nothing."""

    def attack(server: Server) -> object:
        opened = [server.connect() for _ in range(CONNECTIONS)]
        for stream in opened:
            with contextlib.suppress(OSError):
                stream.sendall(beginning)
        return opened

    return attack


def idle_h2(server: Server) -> object:
    """HTTP/2 connections without requests."""
    return [server.h2(65_535) for _ in range(100)]


def stalled(path: str, window: int) -> Attack:
    """Responses that the windows of their streams hold back, on ten connections."""

    def attack(server: Server) -> object:
        opened = [server.h2(window) for _ in range(10)]
        for stream in opened:
            stream.sendall(requests(path))
        return opened

    return attack


def repeated(start: bytes, again: Callable[[int], bytes], times: int) -> Attack:
    """The same again and again, until the server ends the connection."""

    def attack(server: Server) -> object:
        stream = server.h2(0)
        with contextlib.suppress(OSError):
            stream.sendall(start)
            for number in range(times):
                stream.sendall(again(number))
        return stream

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


def over_quic(name: str) -> Attack:
    """One of the hostile client's, by its name."""

    def attack(server: Server) -> object:
        command = [server.programs / "examples/hostile", name, f"127.0.0.1:{server.tls}"]
        process = subprocess.Popen(
            [*command, server.files / CERTIFICATE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        print(process.stdout.readline().strip(), file=sys.stderr, flush=True)
        return process

    return attack


def nothing(_: Server) -> object:
    """What the rest is compared with."""
    return None


TCP_ATTACKS: dict[str, Attack] = {
    "nothing": nothing,
    f"{CONNECTIONS} idle connections": many(b""),
    f"{CONNECTIONS} connections with half a head": many(b"GET / HTTP/1.1\r\nhos"),
    f"{CONNECTIONS} connections that do not read a file of 10 MB": many(
        b"GET /file.bin HTTP/1.1\r\nhost: a\r\n\r\n"
    ),
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
QUIC_ATTACKS: dict[str, Attack] = {
    "h3: nothing": nothing,
    "h3: 2,000 Initial packets from 100 addresses": over_quic("half-open"),
    "h3: 100 idle connections": over_quic("idle"),
    f"h3: 10 x {STREAMS} responses of 1 GB, window 0": over_quic("stalled"),
    f"h3: 10 x {STREAMS} files of 10 MB, window 0": over_quic("stalled-files"),
    "h3: 200,000 pieces of a stream behind gaps": over_quic("gaps"),
    "h3: 100,000 requests reset": over_quic("reset"),
    "h3: 100,000 requests that the server is made to reset": over_quic("made-to-reset"),
}


@contextlib.contextmanager
def running(programs: Path, files: Path) -> Iterator[Server]:
    """A server of files, with and without TLS."""
    command = [str(programs / "headway-server"), "--plain=0.0.0.0:0", "--listen=0.0.0.0:0"]
    command += [f"--root={files}", "--protocols=h2,h1,h3"]
    command += [f"--cert={files / CERTIFICATE}", f"--key={files / KEY}"]
    # Where nobody else listens over UDP either.
    with socket.create_server(("0.0.0.0", 0)) as free:
        port = free.getsockname()[1]
    command[2] = f"--listen=0.0.0.0:{port}"
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        lines = [process.stderr.readline().strip() for _ in range(3)]
        plain = next(line for line in lines if "http://" in line).rpartition(":")[2]
        yield Server(process, programs, files, int(plain), port)
    finally:
        process.kill()
        process.wait()


def by_h1(server: Server) -> float | None:
    """How long another client's request takes in seconds, from its connection on; none without answer."""
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


def by_h3(server: Server) -> float | None:
    """The same over HTTP/3."""
    command = [str(server.programs / "headway-client"), "--protocol=h3", "--bind=127.0.0.2"]
    command += ["--report=-", "--timeout=10", f"--ca={server.files / CERTIFICATE}"]
    url = f"https://127.0.0.1:{server.tls}/bytes/1000"
    told = subprocess.run([*command, url], check=False, capture_output=True, text=True)
    row = json.loads(told.stdout)["requests"][0]
    if row["status"] != 200 or row["error"] is not None:
        return None
    took_s: float = row["last_byte_s"] - row["connect_start_s"]
    return took_s


def longest(server: Server, ask: Callable[[Server], float | None], attack: Attack) -> float | None:
    """The longest time of another client's requests during an attack and shortly after."""
    held: list[object] = []
    thread = threading.Thread(target=lambda: held.append(attack(server)))
    thread.start()
    times_s = []
    after = 0
    while after < REQUESTS_AFTER:
        after += not thread.is_alive()
        times_s.append(ask(server))
    thread.join()
    for process in held:
        if isinstance(process, subprocess.Popen):
            process.kill()
            process.wait()
    return None if None in times_s else max(filter(None, times_s))


def write_identity(directory: Path) -> None:
    """A certificate that is its own authority, of P-256 as most are: RSA would make handshakes slow."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    addresses = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    directory.joinpath(CERTIFICATE).write_bytes(certificate.public_bytes(pem))
    form, secrecy = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    directory.joinpath(KEY).write_bytes(key.private_bytes(pem, form, secrecy))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path, help="directory of Headway's own programs")
    parser.add_argument("--only", default="", help="attacks whose names have this")
    options = parser.parse_args()
    programs: Path = options.programs
    with tempfile.TemporaryDirectory() as name:
        files = Path(name)
        files.joinpath("file.bin").write_bytes(bytes(FILE_BYTES))
        write_identity(files)
        print("| attack | resident memory, at most | another client's request, at most |")
        print("|---|---|---|")
        for what, attack in (TCP_ATTACKS | QUIC_ATTACKS).items():
            if options.only not in what:
                continue
            ask = by_h3 if what in QUIC_ATTACKS else by_h1
            with running(programs, files) as server:
                took_s = longest(server, ask, attack)
                memory = f"{server.highest_bytes() / 1e6:.1f} MB"
                answered = "not answered" if took_s is None else f"{took_s * 1000:.1f} ms"
                print(f"| {what} | {memory} | {answered} |", flush=True)


if __name__ == "__main__":
    main()
