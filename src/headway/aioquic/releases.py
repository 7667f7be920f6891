"""Differences between releases of aioquic."""

import sys
from typing import Any

import aioquic  # type: ignore
from aioquic.quic import packet  # type: ignore

_INITIAL = (
    packet.QuicPacketType.INITIAL
    if hasattr(packet, "QuicPacketType")
    else packet.PACKET_TYPE_INITIAL
)
"""Before 1.0.1, types of packets were numbers."""


def is_initial(header: Any) -> bool:
    """Whether a packet is one with which a client begins to connect."""
    return bool(header.packet_type == _INITIAL)


def say_release() -> None:
    """Name the release that runs, and where it is from, on standard error."""
    print(f"aioquic {aioquic.__version__} in {aioquic.__path__[0]}", file=sys.stderr, flush=True)
