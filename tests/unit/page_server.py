"""A page on loopback with what recordings must cope with: codings, chunks, redirects, other hosts."""

from __future__ import annotations

import gzip
import ssl
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import brotli

PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>A page</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css">
<script src="/old.js"></script></head>
<body><p>Text, and ümlauts.</p><img src="/dot.png"><img src="/dot.png?size=2">
<iframe src="http://localhost:PORT/frame.html"></iframe>
<script>fetch("http://localhost:PORT/data.json", {method: "PUT", body: "1"})</script>
</body></html>
"""
STYLE = "p { color: green }\n" * 40
SCRIPT = "document.title = 'Run';\n" * 40
FRAME = "<!doctype html><script src='/latin.js'></script>"
LATIN = "var word = 'fête';\n"
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc00000030101004fa0d7c00000000049454e44ae426082"
)

_DATE = "Sun, 01 Mar 2026 00:00:00 GMT"
_NEXT_DAY = "Mon, 02 Mar 2026 00:00:00 GMT"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/":
            page = PAGE.replace("PORT", str(self.server.server_address[1]))
            self._answer(gzip.compress(page.encode()), "text/html", "gzip")
        elif path == "/style.css":
            fields = (("Expires", _NEXT_DAY),)
            if "br" in self.headers["Accept-Encoding"]:
                self._answer(brotli.compress(STYLE.encode()), "text/css", "br", fields)
            else:
                self._answer(STYLE.encode(), "text/css", more=fields)
        elif path == "/old.js":
            self._redirect("/script.js")
        elif path == "/script.js":
            self._chunks(zlib.compress(SCRIPT.encode()), "text/javascript", "deflate")
        elif path == "/dot.png":
            self._answer(DOT, "image/png", more=(("Cache-Control", "max-age=60"),))
        elif path == "/frame.html":
            self._answer(FRAME.encode(), "text/html")
        elif path == "/latin.js":
            self._answer(LATIN.encode("latin-1"), "text/javascript; charset=iso-8859-1")
        else:
            self._answer(b"", "text/plain", status=404)

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        allowed = (("Access-Control-Allow-Origin", "*"),)
        self._answer(b'{"a": 1}', "application/json", more=allowed)

    def do_OPTIONS(self) -> None:
        allowed = (
            ("Access-Control-Allow-Origin", "*"),
            ("Access-Control-Allow-Methods", "PUT"),
        )
        self._answer(b"", "", status=204, more=allowed)

    def log_message(self, *_: object) -> None:
        pass

    def date_time_string(self, timestamp: float | None = None) -> str:
        return _DATE

    def _start(self, status: int, fields: tuple[tuple[str, str], ...]) -> None:
        self.send_response(status)
        for name, value in fields:
            if value:
                self.send_header(name, value)
        self.end_headers()

    def _answer(
        self,
        body: bytes,
        kind: str,
        coding: str = "",
        more: tuple[tuple[str, str], ...] = (),
        status: int = 200,
    ) -> None:
        length = "" if status == 204 else str(len(body))
        fields = (("Content-Type", kind), ("Content-Encoding", coding), ("Content-Length", length))
        cookie = ("Set-Cookie", f"seen=1; Expires={_NEXT_DAY}; Path=/")
        self._start(status, (*fields, cookie, ("Alt-Svc", 'h3=":443"'), *more))
        self.wfile.write(body)

    def _redirect(self, location: str) -> None:
        self._start(302, (("Location", location), ("Content-Length", "0")))

    def _chunks(self, body: bytes, kind: str, coding: str) -> None:
        fields = (("Content-Type", kind), ("Content-Encoding", coding))
        self._start(200, (*fields, ("Transfer-Encoding", "chunked")))
        for at in range(0, len(body), 16):
            piece = body[at : at + 16]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")


@contextmanager
def served(port: int = 0, certificate: Path | None = None) -> Iterator[str]:
    """The page, on any port or the given one; yields its URL.

    With a certificate (and its key in the same file), over TLS.
    """
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
