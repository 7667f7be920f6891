"""A switch that ends all labs waiting on it."""

from __future__ import annotations

import os


class Cancellation:
    """Turned on once; labs that are running when it is turned on, or are booted later, end."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def fileno(self) -> int:
        """A descriptor that becomes readable when the switch is turned on."""
        return self._read

    def cancel(self) -> None:
        """Turn the switch on."""
        os.write(self._write, b"x")

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self._read)
        os.close(self._write)


class Cancelled(Exception):  # noqa: N818  (not an error)
    """A lab was ended because its study was."""
