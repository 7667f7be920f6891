"""Compiles the programs of our own over other people's libraries, to be compared with (`bench/peers`)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from headway.cache import cache_directory
from headway.errors import HeadwayError
from headway.image import shown_progress
from headway.image.builder import toolchain
from headway.image.process import user_environment

_QUINN = Path(__file__).parent / "peers/quinn"


def quinn_peer() -> Path:
    """The server and client on quinn and h3, compiled if need be.

    Raises:
        HeadwayError: it cannot be compiled.
    """
    with shown_progress() as progress:
        environment = toolchain(progress=progress).environment(user_environment())
    target = cache_directory() / "bench"
    command = ["cargo", "build", "--release", "--locked", "--target-dir", str(target)]
    done = subprocess.run(command, cwd=_QUINN, env=environment, check=False)
    if done.returncode:
        raise HeadwayError(f"the quinn peer was not compiled: {' '.join(command)} in {_QUINN}")
    return target / "release/quinn-peer"
