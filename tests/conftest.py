"""The machine that boots labs, from the cached image; a core for each worker that carries out tests.

With ``--twice``, every lab in virtual time is booted once more in other surroundings.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from headway.lab.cores import available_cores
from headway.lab.machine import Machine
from tests.surroundings import booting_twice, forget_copies

# The same examples in every run: a red build is a change's doing, not chance's.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# A command obeys what it was started to ignore, and so would those that tests start under nohup.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

_HAVE_LABS = {Path(__file__).with_name("unit"): False, Path(__file__).with_name("lab"): True}
"""Whether tests boot labs, by their directory."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Tests run side by side as labs do: one at a time on each core."""
    return len(available_cores())


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes that are no text have no place in a test's name: of compressed ones, some are of the time, and workers would differ."""
    is_text = not isinstance(val, bytes) or val.decode("ascii", errors="replace").isprintable()
    return None if is_text else argname


def pytest_configure() -> None:
    """A worker keeps to one core, and so does whatever its tests start."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        cores = available_cores()
        os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules of which no test is asked for need not be read: to be drawn up, some tests plan whole studies."""
    asked, lab = config.option.markexpr, _HAVE_LABS.get(collection_path)
    if not asked or lab is None:
        return None
    try:
        may_be_asked_for = any(
            eval(asked, {"__builtins__": {}}, {"lab": lab, "nightly": nightly})
            for nightly in (False, True)
        )
    except (NameError, SyntaxError):  # of other marks
        return None
    return None if may_be_asked_for else True


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--twice",
        action="store_true",
        help="boot every lab once more in other surroundings, and compare what it leaves",
    )


@pytest.fixture(autouse=True)
def labs_twice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.config.getoption("--twice"):
        monkeypatch.setattr(Machine, "boot", booting_twice(Machine.boot))


def pytest_unconfigure() -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        forget_copies()


@pytest.fixture(scope="session")
def machine() -> Machine:
    from headway.image.layers import layer_names
    from headway.lab.ready import ready_image, ready_machine

    return ready_machine(ready_image(layers=layer_names()))
