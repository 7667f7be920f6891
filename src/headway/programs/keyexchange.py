"""The knob of TLS' key exchange (RFC 8446, section 4.2.7), and its groups as programs call them."""

from __future__ import annotations

from headway.programs.knob import Knob

KEY_EXCHANGE = "key_exchange"
"""Name of the knob, of every program that has one."""
ANY = "any"
"""Value of the knob: whatever the program offers or takes by itself."""
X25519, MLKEM, P256 = "x25519", "x25519mlkem768", "secp256r1"

_IN_OPENSSL = {X25519: "X25519", MLKEM: "X25519MLKEM768", P256: "P-256"}
"""Also in libraries that follow it, as BoringSSL."""
_IN_GNUTLS = {X25519: "GROUP-X25519", P256: "GROUP-SECP256R1"}


def key_exchange(verb: str, *groups: str) -> Knob:
    """The knob of a program.

    Args:
        verb: what the program does with a group: offers or takes it.
        groups: those that it can be limited to; all three if none are stated.
    """
    choices = (ANY, *(groups or (X25519, MLKEM, P256)))
    last = "; x25519mlkem768 is the post-quantum one" if MLKEM in choices else ""
    return Knob(
        KEY_EXCHANGE,
        ANY,
        f"the only group that it {verb} to exchange keys by{last}; any is the program's own choice",
        choices,
    )


def openssl_group(group: str) -> str:
    """What OpenSSL and BoringSSL call a group."""
    return _IN_OPENSSL[group]


def ngtcp2_options(group: str) -> tuple[str, ...]:
    """How an example program of ngtcp2 is told a group: by a part of GnuTLS' priority string."""
    return () if group == ANY else (f"--groups=-GROUP-ALL:+{_IN_GNUTLS[group]}",)


GNUTLS_GROUPS = tuple(_IN_GNUTLS)
"""Those that Debian's GnuTLS has for the example programs of ngtcp2."""
