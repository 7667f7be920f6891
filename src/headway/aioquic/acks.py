"""Short ACK frames of aioquic."""

from typing import Any

_MOST_ACK_RANGES = 64


def forget_old_gaps(quic: Any) -> None:
    """Keep a connection's ACK frames short, as RFC 9000, section 13.2.3 advises.

    aioquic lists every gap there ever was, and fails when the list outgrows a packet.
    """
    for space in quic._spaces.values():
        while len(space.ack_queue) > _MOST_ACK_RANGES:
            space.ack_queue.shift()
