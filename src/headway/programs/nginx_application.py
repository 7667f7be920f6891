"""Applications behind nginx: uploads, series of requests, streams and WebSocket."""

from __future__ import annotations

from headway.programs import uploads
from headway.programs.base import Adjustment, Knob
from headway.study.application import Application

CONTENT_KNOBS = (
    Knob(
        "proxy_request_buffering",
        "on",
        "of uploads: whether all content is there before the upstream gets any",
        ("on", "off"),
    ),
    Knob(
        "client_body_buffer_size",
        "16k",
        "of uploads: content that is in memory; what HTTP/2 may have on its way if proxy_request_buffering is off",
    ),
    Knob("http2_body_preread_size", "64k", "of uploads: HTTP/2's first window of a stream"),
)
CONTENT_ADJUSTMENTS = (
    Adjustment(
        "nginx",
        "client_max_body_size",
        "0",
        "of uploads: its default of 1m refuses larger ones with status 413",
    ),
)


STREAM_KNOBS = (
    Knob(
        "proxy_buffering",
        "on",
        "of streams: whether nginx may keep what it has of a response until a buffer is full",
        ("on", "off"),
    ),
)


def content(values: dict[str, str]) -> list[str]:
    """How content of requests is taken."""
    names = [knob.name for knob in CONTENT_KNOBS]
    return ["client_max_body_size 0;", *(f"{name} {values[name]};" for name in names)]


_HEADER_BUFFERS = ("proxy_buffer_size 16k;", "proxy_buffers 8 16k;")
"""The first one holds a response's header section; nginx refuses it beside smaller others."""


def upstream(values: dict[str, str], application: Application) -> list[str]:
    """How requests are handed to the application."""
    names = [knob.name for knob in STREAM_KNOBS] if application.streams else []
    return [
        *(f"{name} {values[name]};" for name in names),
        *(_HEADER_BUFFERS if application.header_bytes else ()),
        *content(values),
        f"location / {{ proxy_pass http://{uploads.UPSTREAM}; }}",
        "proxy_http_version 1.1;",
        *connection(application),
        "proxy_next_upstream off;",
        "proxy_read_timeout 600s;",
        "proxy_send_timeout 600s;",
        "client_body_timeout 600s;",
    ]


def connection(application: Application | None) -> tuple[str, ...]:
    """What the connection behind is used for: request after request, or WebSocket."""
    if application is None or not application.websockets:
        return ('proxy_set_header Connection "";',)
    return ("proxy_set_header Upgrade $http_upgrade;", 'proxy_set_header Connection "Upgrade";')
