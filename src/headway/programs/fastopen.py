"""TCP Fast Open (RFC 7413): the knob of clients, and when it saves no round trip."""

from __future__ import annotations

from headway.programs.keyexchange import ANY, KEY_EXCHANGE, MLKEM, X25519
from headway.programs.knob import Knob
from headway.study.host import Host

_SYSCTL = "net.ipv4.tcp_fastopen"
_LINUX = "1"
_WITHOUT_COOKIE = 0b101
"""A client that opens fast, also where it has no cookie of the server yet."""


def _in_vain(host: Host) -> str:
    """Why it saves no round trip at a client."""
    if host.knobs.get(KEY_EXCHANGE, ANY) in (ANY, MLKEM):
        return (
            "with a post-quantum key share the ClientHello is longer than a SYN, and the server waits for the rest; "
            f'knobs.{KEY_EXCHANGE} = "{X25519}" makes it shorter'
        )
    flags = int(host.kernel.sysctls.get(_SYSCTL, _LINUX))
    if flags & _WITHOUT_COOKIE != _WITHOUT_COOKIE:
        return f'a first connection only asks for a cookie; kernel.sysctls."{_SYSCTL}" = 1543 does without, at both ends'
    return ""


FAST_OPEN = Knob(
    "tcp_fast_open",
    "off",
    "whether the ClientHello goes with the SYN (RFC 7413); both hosts' kernels need net.ipv4.tcp_fastopen",
    ("on", "off"),
    vain_at=_in_vain,
)
