"""Caddy, a server: HTTP/1.1, HTTP/2 and HTTP/3, in Go; its QUIC is quic-go."""

from __future__ import annotations

import json
from typing import Any

from headway.contract.program import Program
from headway.overriding import override
from headway.programs import uploads
from headway.programs.base import (
    CERTIFICATE_FILE,
    KEY_FILE,
    QLOG_DIRECTORY,
    Adjustment,
    Listener,
    Server,
    Started,
    served_on,
)
from headway.programs.keyexchange import ANY, KEY_EXCHANGE, MLKEM, key_exchange
from headway.study.capture import Capture
from headway.study.host import HTTP, Host, Protocol


class Caddy(Server):
    """Caddy's file server, with all of Go's own HTTP, TLS and QUIC (quic-go).

    quic-go's one controller is NewReno with an initial window of 32 packets. It paces.
    """

    name = "caddy"
    package = "caddy"
    protocols = HTTP
    offers_several = True
    takes_uploads = True
    has_application = True
    takes_websockets = frozenset({Protocol.H1})
    knobs = (key_exchange("takes"),)
    quic_congestion_controls = ("reno",)
    writes_qlog = True
    adjustments = (
        Adjustment(
            "caddy",
            "QUIC congestion control",
            "reno",
            "quic-go's only one",
        ),
        Adjustment("caddy", "session_tickets", "off", "every connection pays for a full handshake"),
        Adjustment(
            "caddy",
            "reverse_proxy",
            "headway-server on the same host",
            "of uploads, series of requests and streams only, which it hands on to an application",
        ),
        Adjustment("caddy", "automatic_https, admin", "off", "it does nothing but answer requests"),
    )

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        file = f"/run/{listener.namespace}-caddy.json"
        argv = ("caddy", "run", "--config", file)
        group = self.knob(KEY_EXCHANGE, host)
        program = Program(
            f"{listener.namespace}-caddy",
            listener.namespace,
            argv,
            env={"QLOGDIR": f"{QLOG_DIRECTORY}/{listener.namespace}", **_switch(group)},
            service=True,
            listens=served_on(listener),
        )
        application = listener.application
        behind: tuple[Program, ...] = ()
        if application:
            behind = uploads.upstream(listener.namespace, application).programs
        configuration = json.dumps(_configuration(listener, group), indent=1)
        return Started((*behind, program), {file: configuration})


def _switch(group: str) -> dict[str, str]:
    """Debian builds Caddy without its module file, and Go then leaves out what is newer than Go 1.20."""
    return {"GODEBUG": "tlsmlkem=1"} if group == MLKEM else {}


def _configuration(listener: Listener, group: str) -> dict[str, Any]:
    files = {"handler": "file_server", "root": "/lab/www"}
    upstream = {"handler": "reverse_proxy", "upstreams": [{"dial": uploads.UPSTREAM}]}
    server: dict[str, Any] = {
        "listen": [listener.socket_address],
        "protocols": sorted(listener.protocols),
        "automatic_https": {"disable": True},
        "routes": [{"handle": [upstream if listener.application else files]}],
    }
    if listener.tls:
        policy: dict[str, Any] = {"protocol_min": "tls1.3"}
        if group != ANY:
            policy["curves"] = [group]
        server["tls_connection_policies"] = [policy]
    certificate = {"certificate": CERTIFICATE_FILE, "key": KEY_FILE}
    return {
        "admin": {"disabled": True, "config": {"persist": False}},
        "logging": {"logs": {"default": {"level": "WARN"}}},
        "apps": {
            "http": {"servers": {"lab": server}},
            "tls": {
                "certificates": {"load_files": [certificate]},
                "session_tickets": {"disabled": True},
                "disable_storage_check": True,
                "disable_storage_clean": True,
            },
        },
    }
