"""The files of an archive or a directory that keeps an image."""

from __future__ import annotations

import hashlib
import lzma
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from headway.containers.paths import resolved
from headway.errors import WrongInputError
from headway.foreign.bounds import BLOCK_BYTES, DOCUMENT_BYTES, LAYERS, Budget
from headway.foreign.kinds.containers import TAR
from headway.foreign.kinds.identify import identify
from headway.foreign.kinds.refusing import of_other_kind
from headway.foreign.names import below

_DIGEST = "sha256:"
DAMAGE = (
    *(tarfile.TarError, EOFError, KeyError, zlib.error, lzma.LZMAError),
    # What tarfile ends with at numbers that are none, and at headers of headers.
    *(ValueError, OverflowError, IndexError, RecursionError),
)
"""What reading a tar archive of others may end with."""


class Files:
    """The files of an archive or a directory, by their names."""

    def __init__(self, find: Callable[[str], IO[bytes] | None]) -> None:
        self._find = find

    def __contains__(self, name: str) -> bool:
        io = self._find(str(below(name)))
        if io is not None:
            io.close()
        return io is not None

    def open(self, name: str) -> IO[bytes]:
        """Open one.

        Raises:
            WrongInputError: it is not there.
        """
        io = self._find(str(below(name)))
        if io is None:
            raise WrongInputError(f"lacks {name}, which it says that it consists of: it is cut off")
        return io

    def size_bytes(self, name: str) -> int:
        """How long one is, as it is kept.

        Raises:
            WrongInputError: it is not there.
        """
        with self.open(name) as opened:
            return opened.seek(0, os.SEEK_END)

    def content(self, name: str, digest: str = "") -> bytes:
        """Read one, whose digest has to be right if it is known."""
        with self.open(name) as opened:
            data = opened.read(DOCUMENT_BYTES + 1)
        if len(data) > DOCUMENT_BYTES:
            raise WrongInputError(f"its {name} has more than {DOCUMENT_BYTES >> 20} MiB")
        if digest and _DIGEST + hashlib.sha256(data).hexdigest() != digest:
            raise WrongInputError(
                f"its {name} is damaged: it has another digest than its name says"
            )
        return data


@contextmanager
def files_of(source: Path) -> Iterator[Files]:
    """The files of an archive or a directory.

    Raises:
        WrongInputError: it is neither, or damaged.
    """
    if source.is_dir():

        def find(name: str) -> IO[bytes] | None:
            file = resolved(source, name)
            return file.open("rb") if file.is_file() else None

        yield Files(find)
        return
    try:
        if not source.is_file() or not tarfile.is_tarfile(source):
            raise _no_archive(source)
        with tarfile.open(source) as tar:
            members = _members(tar, LAYERS.budget(source.stat().st_size))
            yield Files(lambda name: tar.extractfile(members[name]) if name in members else None)
    except DAMAGE as error:
        raise WrongInputError(f"is cut off or damaged: {error}") from None


def _members(tar: tarfile.TarFile, budget: Budget) -> dict[str, tarfile.TarInfo]:
    members = {}
    for tar_info in tar:
        budget.take(max(BLOCK_BYTES, tar_info.size))
        if not tar_info.isdir():
            members[str(below(tar_info.name))] = tar_info
    return members


def _no_archive(source: Path) -> WrongInputError:
    identity = identify(source)
    if "zstd" in identity.kind.key or identity.kind is TAR:
        return WrongInputError(f"{identity}, which is not read: decompress it first")
    refusal = of_other_kind(
        identity, source, "an image: it is neither a directory nor a tar archive"
    )
    return WrongInputError(refusal.message)
