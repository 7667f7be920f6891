"""Fields of the record that count packets, in the words that they share."""

from __future__ import annotations

from typing import Any

from pydantic import Field

LOST = "that the loss models of links took, blackouts not counted"
BLACKED_OUT = "that blackouts took"
BY_NUMBER = "that were dropped by their number (`drop_packets`)"
QUEUE = "that queues dropped"
REORDERED = "that left a link after one that had come to it later (RFC 4737)"
DUPLICATED = "that links added as copies of others"
CORRUPTED = "in which links flipped a bit"
MARKED = "that queues marked instead of dropping them (ECN)"


def down(what: str) -> Any:
    """The field that counts them towards the client."""
    return Field(default=None, description=f"Packets {what}, towards the client.")


def up(what: str) -> Any:
    """The field that counts them towards the server."""
    return Field(default=None, description=f"Packets {what}, towards the server.")
