"""Bounds of a file of others once it is decoded, and what has been taken of one."""

from __future__ import annotations

from dataclasses import dataclass

from headway.errors import WrongInputError


@dataclass(frozen=True)
class Bound:
    """Content of a file is at most so long, or so many times as long as the file if that is more.

    Attributes:
        least_bytes: what every file may hold.
        times: by how much a large file may grow.
    """

    least_bytes: int
    times: int

    def budget(self, size_bytes: int) -> Budget:
        """What a file of a size may hold."""
        return Budget(self, max(self.least_bytes, self.times * size_bytes))

    def __str__(self) -> str:
        return f"{self.least_bytes >> 20} MiB, or {self.times} times its size if that is more"


RECORDING = Bound(128 << 20, 20)
"""Of a recording: its compressed data, the members of a ZIP file and all that these hold, together."""
BODY = Bound(64 << 20, 20)
"""Of a response: its body without content codings, and with each of several undone."""
LAYERS = Bound(1 << 30, 30)
"""Of a container image: its layers uncompressed, and its files."""
BLOCK_BYTES = 4096
"""What an entry of an archive counts at least, as on a disk: empty ones are not for nothing."""
DOCUMENT_BYTES = 16 << 20
"""Of a document that says what else a file holds, such as an image's configuration."""


class TooMuchContentError(WrongInputError):
    """A file holds more than Headway decodes."""


class Budget:
    """What a file may still hold."""

    def __init__(self, bound: Bound, left: int) -> None:
        self._bound = bound
        self.left = left

    def take(self, count: int) -> None:
        """Count decoded bytes.

        Raises:
            TooMuchContentError: they are too many.
        """
        self.left -= count
        if self.left < 0:
            raise TooMuchContentError(
                f"holds more than Headway decodes of a file, which is {self._bound}"
            )
