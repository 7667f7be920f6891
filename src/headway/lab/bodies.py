"""Bodies that servers deliver: files of any size, incompressible, the same everywhere."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from headway.lab.image.cache import cache_directory, written_atomically

_BLOCK = 2**20


def bodies_directory() -> Path:
    """The directory of all bodies, which is a server's document root; it need not exist."""
    return cache_directory() / "www"


def body_file(size_bytes: int) -> Path:
    """The body of exactly that size, made when first asked for.

    Its bytes look random and depend on nothing but the size.

    Args:
        size_bytes: size in bytes; 0 or more.

    Returns:
        ``<size>.bin`` in the directory of bodies, readable by everyone.

    Raises:
        HeadwayError: no space is left.
    """
    if size_bytes < 0:
        raise ValueError(f"a body cannot have {size_bytes} bytes")
    path = bodies_directory() / f"{size_bytes}.bin"
    with written_atomically(path) as file:
        if file is not None:
            for start in range(0, size_bytes, _BLOCK):
                _write(file, _block(size_bytes, start)[: size_bytes - start])
    return path


def _block(size_bytes: int, start: int) -> bytes:
    # A standardised function, unlike Python's random module, is the same in every version.
    return hashlib.shake_128(f"headway body {size_bytes} {start}".encode()).digest(_BLOCK)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
