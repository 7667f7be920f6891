"""Run cargo in native/, with the toolchain that also compiles Headway's programs for labs.

    python tools/cargo.py test --workspace --locked

A command that this machine's toolchain lacks (rustup and Debian package ``fmt`` and ``clippy``
apart) is skipped, and that is said.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from headway.errors import HeadwayError
from headway.image import shown_progress
from headway.image.builder import rust_toolchain

_NATIVE = Path(__file__).parents[1] / "native"
_PACKAGED_APART = ("clippy", "fmt")


def main() -> int:
    """Do it; the exit status is cargo's."""
    command, *_ = words = sys.argv[1:] or ["help"]
    try:
        with shown_progress() as progress:
            rust = rust_toolchain(progress=progress)
    except HeadwayError as error:
        print(f"headway: {error}", file=sys.stderr)
        return 1
    if command in _PACKAGED_APART and not rust.has(command):
        print(f"cargo {command} skipped: Rust {rust.version} ({rust.origin}) is without it")
        return 0
    os.chdir(_NATIVE)
    os.execvpe("cargo", ["cargo", *words], rust.environment())


if __name__ == "__main__":
    sys.exit(main())
