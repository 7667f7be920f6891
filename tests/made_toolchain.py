"""Toolchains for tests, which take this machine's programs or none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from headway.image.infos import ToolchainInfo
from headway.image.toolchain import Toolchain

VERSIONS = {"gcc-12": "12.2.0-14", "binutils": "2.40-2", "rustc-web": "1.85.0+dfsg3-1~deb12u3"}


def of_this_machine(entry: Path) -> Toolchain:
    """A toolchain without programs of its own: those in ``PATH`` are taken."""
    info = ToolchainInfo(
        key="t",
        suite="bookworm",
        mirror="m",
        packages=VERSIONS,
        built=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return Toolchain(entry, info)
