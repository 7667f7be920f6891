#!/usr/bin/env python3
"""An HTTP/1.1 server over TLS that Headway does not know."""

import functools
import http.server
import ssl
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of a directory."""

    protocol_version = "HTTP/1.1"


address, port, certificate, key, root = sys.argv[1:6]
handler = functools.partial(Handler, directory=root)
server = http.server.ThreadingHTTPServer((address, int(port)), handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
