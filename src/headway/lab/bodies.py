"""Bodies that servers deliver: files of any size, incompressible, the same everywhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from headway.cache import EntryDirectory, cache_directory, digest, written_atomically
from headway.lab.links import link, link_all

_BLOCK = 2**20
_LONGEST_NAME = 100


def bodies_directory() -> Path:
    """The directory of all bodies that were ever asked for; it need not exist."""
    return cache_directory() / "www"


def served_bodies(sizes: Iterable[int], videos: Mapping[str, Path] = MappingProxyType({})) -> Path:
    """A directory of bodies of these sizes and no others, which is a server's document root.

    It is made when first asked for, and holds hard links.

    Args:
        sizes: in bytes.
        videos: directories with files of videos, by the name that each has there.

    Raises:
        HeadwayError: no space is left.
    """
    wanted = sorted(set(sizes))
    name = "+".join([*map(str, wanted), *(path.name for path in videos.values())]) or "none"
    if len(name) > _LONGEST_NAME:
        name = digest(name)
    store = EntryDirectory(cache_directory() / "served")
    entry = store.entry(name)
    if entry.is_dir():
        return entry

    def fill(directory: Path) -> None:
        for size in wanted:
            link(body_file(size), directory / f"{size}.bin")
        for place, files in videos.items():
            link_all(files, directory / place)

    with store.locked():
        return entry if entry.is_dir() else store.make(name, fill)


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
            _fill(file, size_bytes)
    return path


@lru_cache(maxsize=1024)
def body_sha256(size_bytes: int) -> str:
    """The SHA-256 of the body of exactly that size, in hexadecimal."""
    with body_file(size_bytes).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fill(file: int, size_bytes: int) -> None:
    # Most commands find their bodies in the cache and need not load this.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    # A standardised key stream is fast and, unlike the random module, the same in every version.
    key = hashlib.sha256(f"headway body {size_bytes}".encode()).digest()
    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    zeros = bytes(_BLOCK)
    for start in range(0, size_bytes, _BLOCK):
        _write(file, stream.update(zeros[: size_bytes - start]))


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
