"""Programs of a ``programs.toml`` as stacks."""

from __future__ import annotations

from pathlib import Path

from headway.instruments.interop.stack import Stack


def declared_stacks(file: Path | None) -> dict[str, Stack]:
    """The servers and clients of a file of programs, by name; of the one in this directory by default."""
    return {}
