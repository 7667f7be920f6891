"""The replay of a recorded site by nginx: headway-server behind it has the site, and it adds nothing.

Its header fields ``Server`` and ``Date`` can be left out by a module only. What it still adds is
``Connection`` in HTTP/1.1.
"""

from __future__ import annotations

PORT = 8081
"""Port of the headway-server on the loopback address."""
MODULE = "ngx_http_headers_more_filter_module.so"
"""The module, of Debian's package ``libnginx-mod-http-headers-more-filter``."""
UPSTREAM = (
    f"upstream replay {{ server 127.0.0.1:{PORT}; keepalive 64; keepalive_requests 1000000; }}"
)
"""The headway-server, with connections that are used again."""

_ORDERS = tuple(
    f"X-Accel-{name}" for name in ("Buffering", "Charset", "Expires", "Limit-Rate", "Redirect")
)
"""Fields of a response by which servers tell nginx what to do with it."""

DIRECTIVES = (
    "location / { proxy_pass http://replay; }",
    "proxy_http_version 1.1;",
    'proxy_set_header Connection "";',
    # Requests of HTTP/2 and HTTP/3 need not have the field.
    "proxy_set_header Host $host;",
    "proxy_set_header X-Forwarded-Proto $scheme;",
    "proxy_next_upstream off;",
    # Requests are as large as a page makes them.
    "client_max_body_size 0;",
    "client_body_buffer_size 1m;",
    "large_client_header_buffers 4 64k;",
    # All of a response is there at once, however slowly the client takes it.
    "proxy_buffering on;",
    "proxy_buffer_size 64k;",
    "proxy_buffers 1024 64k;",
    "proxy_busy_buffers_size 32m;",
    "proxy_max_temp_file_size 0;",
    # Fields are those recorded: none is left out, changed, obeyed or added.
    *(f"proxy_pass_header {name};" for name in ("Date", "Server", "X-Pad", *_ORDERS)),
    f"proxy_ignore_headers {' '.join(_ORDERS)};",
    "proxy_redirect off;",
    "more_set_headers 'Server: $upstream_http_server' 'Date: $upstream_http_date';",
)
"""What a server block has that replays."""
