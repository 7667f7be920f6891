"""Fixtures: the machine that boots labs, from the cached image."""

from __future__ import annotations

import pytest

from headway.lab.machine import Machine


@pytest.fixture(scope="session")
def machine() -> Machine:
    from headway.cli.image import ensure_image, machine_of

    return machine_of(ensure_image())
