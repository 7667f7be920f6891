"""Headway's own compilers, for what tests compile: a machine need not have any."""

from __future__ import annotations

import os
from functools import cache

from headway.image import builder, shown_progress
from headway.image.process import user_environment
from headway.image.toolchain import Toolchain


@cache
def own_toolchain() -> Toolchain:
    """That of the image, brought first if this machine does not have it yet."""
    with shown_progress() as progress:
        return builder.toolchain(progress=progress)


@cache
def environment() -> dict[str, str]:
    """Of programs that find the compilers in ``PATH``."""
    return own_toolchain().environment({**os.environ, **user_environment()})
