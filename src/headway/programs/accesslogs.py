"""Logs of requests with what players tell servers of their state (CMCD, CTA-5004)."""

from __future__ import annotations

from headway.programs.base import Listener


def access_log(listener: Listener) -> str:
    """Where a server logs requests, in the run's directory."""
    return f"/lab/run/{listener.namespace}-access.jsonl"


def heard_by_nginx(listener: Listener) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """nginx's directives for such a log, of its blocks http and server; none if players tell nothing."""
    if not listener.hears_players:
        return (), ()
    names = ("object", "request", "session", "status")
    text = ",".join(f'"$http_cmcd_{name}"' for name in names)
    fields = (
        '"at_unix_s":$msec,"protocol":"$server_protocol","path":"$uri",'
        f'"status":$status,"bytes":$body_bytes_sent,"cmcd":[{text}]'
    )
    return (
        (f"log_format players escape=json '{{{fields}}}';",),
        (f"access_log {access_log(listener)} players;",),
    )
