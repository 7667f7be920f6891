"""Chromium fetches bodies from our server by HTTP/3, over loopback: every byte, without loss and with.

Needs Chromium and Headway's own programs, and is skipped without them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import select
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from headway.image import find
from headway.lab.bodies import body_file

NAME = "server.test"
LOOPBACK = "127.0.0.1"
SIZES = [0, 1, 1000, 65_537, 1_000_000, 5_000_000]
# It fetches everything at once, by whichever protocol it likes, and says what came.
PAGE = """<!doctype html>
<script type="module">
async function fetched(size) {
  const path = `/bytes/${size}`;
  const content = await (await fetch(path)).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  const entry = performance.getEntriesByName(new URL(path, location).href)[0];
  return [size, Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join(""),
          entry.nextHopProtocol];
}
const results = await Promise.all(SIZES.map(fetched))
  .catch((error) => [["error", String(error), ""]]);
await fetch("REPORT", {method: "POST", mode: "no-cors", body: JSON.stringify(results)});
</script>
"""


@pytest.fixture
def chromium() -> str:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not in PATH; `apt-get install chromium` brings it")
    return path


@pytest.fixture(scope="module")
def server_program() -> str:
    image = find()
    if image is None:
        pytest.skip("Headway's own programs are not built; `headway image build` does that")
    return str(image.native / "headway-server")


@dataclass
class Certificate:
    """A certificate of the server, by files, and the hash by which Chromium is told to trust it."""

    certificate: Path
    key: Path
    spki: str

    @classmethod
    def made(cls, directory: Path) -> Certificate:
        """Sign one, with its own key."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=7))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
            .sign(key, hashes.SHA256())
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        made = cls(
            directory / "server.pem",
            directory / "server.key",
            base64.b64encode(hashlib.sha256(public).digest()).decode(),
        )
        made.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        made.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return made


@contextmanager
def served(program: str, certificate: Certificate, root: Path) -> Iterator[int]:
    """A server on loopback, and its port."""
    argv = [program, f"--listen={LOOPBACK}:0", "--protocols=h3", f"--root={root}"]
    argv += [f"--cert={certificate.certificate}", f"--key={certificate.key}"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            listening = re.search(r":(\d+) over QUIC", server.stderr.readline())
            assert listening
            yield int(listening[1])
        finally:
            server.terminate()


@dataclass
class Relay:
    """Loses datagrams on their way to a server and back, the same ones every time."""

    server: tuple[str, int]
    loss: float
    lost: int = 0
    passed: int = 0
    _random: random.Random = field(default_factory=lambda: random.Random(1))
    _out: dict[tuple[str, int], socket.socket] = field(default_factory=dict)

    @contextmanager
    def running(self) -> Iterator[int]:
        """The relay at work, and its port."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as inner:
            inner.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            inner.bind((LOOPBACK, 0))
            end, ended = socket.socketpair()
            thread = threading.Thread(target=self._run, args=(inner, ended))
            thread.start()
            try:
                yield inner.getsockname()[1]
            finally:
                end.close()
                thread.join()
                ended.close()

    def _run(self, inner: socket.socket, ended: socket.socket) -> None:
        while True:
            back = {out: client for client, out in self._out.items()}
            ready = select.select([inner, ended, *back], [], [])[0]
            if ended in ready:
                break
            for one in ready:
                datagram, sender = one.recvfrom(65536)
                if self._random.random() < self.loss:
                    self.lost += 1
                    continue
                self.passed += 1
                if one is inner:
                    self._towards_server(sender).send(datagram)
                else:
                    inner.sendto(datagram, back[one])
        for out in self._out.values():
            out.close()

    def _towards_server(self, client: tuple[str, int]) -> socket.socket:
        if client not in self._out:
            out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            out.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            out.connect(self.server)
            self._out[client] = out
        return self._out[client]


class Reports(HTTPServer):
    """Gets what the page says."""

    def __init__(self) -> None:
        super().__init__((LOOPBACK, 0), Report)
        self.results: list[list[str]] = []

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/"

    def await_results(self, browser: int) -> None:
        """Wait for the page's report, or until the browser, a pidfd, is gone."""
        ready = select.select([self, browser], [], [])[0]
        if self in ready:
            self.handle_request()


class Report(BaseHTTPRequestHandler):
    """A request with results."""

    server: Reports

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["content-length"]))
        self.server.results = json.loads(content)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def browsed(chromium: str, url: str, port: int, spki: str, profile: Path) -> Iterator[int]:
    """A page in a browser that has no window; yields the browser's pidfd."""
    argv = [
        chromium,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={profile}",
        f"--host-resolver-rules=MAP {NAME} {LOOPBACK}",
        f"--origin-to-force-quic-on={NAME}:{port}",
        f"--ignore-certificate-errors-spki-list={spki}",
        url,
    ]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
        ended = os.pidfd_open(browser.pid)
        try:
            yield ended
        finally:
            os.close(ended)
            browser.terminate()


@pytest.mark.parametrize("loss", [0.0, 0.03])
def test_every_byte_arrives(
    chromium: str, server_program: str, tmp_path: Path, loss: float
) -> None:
    certificate = Certificate.made(tmp_path)
    root = tmp_path / "www"
    root.mkdir()
    with (
        Reports() as reports,
        served(server_program, certificate, root) as server_port,
    ):
        relay = Relay((LOOPBACK, server_port), loss)
        page = PAGE.replace("SIZES", json.dumps(SIZES)).replace("REPORT", reports.url)
        (root / "page.html").write_text(page)
        with relay.running() as port:
            url = f"https://{NAME}:{port}/page.html"
            with browsed(chromium, url, port, certificate.spki, tmp_path / "profile") as browser:
                reports.await_results(browser)
    expected = [
        [size, hashlib.sha256(body_file(size).read_bytes()).hexdigest(), "h3"] for size in SIZES
    ]
    assert reports.results == expected
    assert relay.passed > sum(SIZES) / 1500
    assert (relay.lost > 0) == (loss > 0)
