#!/usr/bin/env python3
"""A server of HTTP/1.1 that breaks its answers: breaking.py ADDRESS PORT CERTIFICATE KEY ROOT WAY."""

import socket
import ssl
import struct
import sys
import threading
from pathlib import Path

address, port, certificate, key, root, way = sys.argv[1:]
(file,) = Path(root).glob("*.bin")
body = file.read_bytes()
half = body[: len(body) // 2]


def reset(connection: ssl.SSLSocket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def answer(connection: ssl.SSLSocket) -> None:
    with connection.makefile("rb") as request:
        while request.readline() not in (b"\r\n", b""):
            pass
    status, size, content = {
        "bit": (200, len(body), body[:-1] + bytes([body[-1] ^ 1])),
        "status": (404, len(body), body),
        "shorter": (200, len(half), half),
        "longer": (200, len(body) + 1, body + b"x"),
        "cut": (200, len(body), half),
        "reset": (200, len(body), half),
        "whole": (200, len(body), body),
    }[way]
    head = f"HTTP/1.1 {status} OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
    connection.sendall(head.encode() + content)
    if way == "reset":
        reset(connection)
    connection.close()


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
listener = socket.create_server((address, int(port)))
while True:
    accepted, _ = listener.accept()
    threading.Thread(
        target=lambda raw: answer(context.wrap_socket(raw, server_side=True)), args=(accepted,)
    ).start()
