"""Fixtures: the machine that boots labs, from the cached image."""

from __future__ import annotations

import pytest
from hypothesis import settings

from headway.lab.machine import Machine

# The same examples in every run: a red build is a change's doing, not chance's.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def machine() -> Machine:
    from headway.lab.ready import ready_image, ready_machine

    return ready_machine(ready_image())
