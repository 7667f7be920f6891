"""Headway: a laboratory for HTTP over TCP and QUIC in virtual time."""

__version__ = "0.1.0"
