"""Sockets of either family of addresses."""

import socket


def datagram_socket(address: str) -> socket.socket:
    """A UDP socket for an address of its own, or for the peer's."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)
