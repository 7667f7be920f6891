"""Waiting for what another process does, without taking its core away from it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress

_LOOK_EVERY_S = 0.01


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait until a condition holds; a process that ends before that fails the test."""
    while not condition():
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_EVERY_S)
            raise AssertionError(process.communicate())
