"""Received bodies: their size and digest."""

import os

from headway.contract.orders import Body

_BLOCK = 2**20


def digest(path: str) -> Body:
    """Size and SHA-256 of a file."""
    # Loading it takes a while, and few runs keep their bodies.
    import hashlib

    found = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return Body(path, os.path.getsize(path), found.hexdigest())
