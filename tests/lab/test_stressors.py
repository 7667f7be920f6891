"""stress-ng's stressors in virtual time: each ends as it does on any Linux, and twice alike.

`stressors.csv` has all of stress-ng 0.22.01, their classes, and why one does not pass. `make test` tries some of every
kind (`tests/unit/test_nightly.py`), the night all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.outcome import Outcome
from headway.contract.program import Program
from headway.image.layers import layer_names
from headway.lab.machine import Machine, SharedDirectory
from headway.lab.ready import ready_image
from headway.study.units import Duration
from tests.lab.debian import LIBRARIES, unpacked
from tests.stressors import listed

pytestmark = pytest.mark.lab

NAME = "stress-ng"
PLACE = f"/lab/extras/{NAME}"
GRAPHICS = ("libegl-mesa0", "libllvm21")
"""Drivers of GPUs, which labs have not."""
AS_USER = ("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups")
LIMIT_S = 60
MOST_CPU = Duration(300 * 10**9)


TRIED = {one.name: one for one in listed()}


@dataclass(frozen=True)
class Said:
    """What came of a boot: its outcome, and what stress-ng wrote."""

    outcome: Outcome
    text: str


def carry_out(machine: Machine, directory: Path, *words: str) -> Said:
    environment = {"LD_LIBRARY_PATH": f"{PLACE}/{LIBRARIES}", "TMPDIR": "/tmp"}
    argv = ("sh", "-c", 'mkdir -m 777 /tmp/here; cd /tmp/here; exec "$@"', "sh", *words)
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("stress", "client", argv, environment),),
        limit_ns=LIMIT_S * 10**9,
    )
    shown = {f"extras/{name}": SharedDirectory(place) for name, place in machine.extras.items()}
    outcome = machine.boot(orders, directory, seed=1, cpu_limit=MOST_CPU, shown=shown)
    texts = [directory / f"stress.{kind}" for kind in ("out", "err")]
    return Said(outcome, "".join(file.read_text(errors="replace") for file in texts))


@pytest.fixture(scope="session")
def stressing(machine: Machine) -> Machine:
    return replace(
        machine, extras={NAME: unpacked(NAME, ready_image(layers=layer_names()), GRAPHICS)}
    )


@pytest.fixture(scope="session")
def offered(stressing: Machine, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The stressors that Debian's stress-ng of today has."""
    said = carry_out(
        stressing, tmp_path_factory.mktemp(NAME), f"{PLACE}/usr/bin/{NAME}", "--stressors"
    )
    found = set(said.text.split())
    assert {"cpu", "vm"} <= found, said.text
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one.name, marks=[pytest.mark.nightly] if one.nightly else [])
        for one in TRIED.values()
    ],
)
def test_it_ends_as_on_any_linux_and_twice_alike(
    name: str, stressing: Machine, offered: set[str], tmp_path: Path
) -> None:
    if name not in offered:
        pytest.skip(f"Debian's stress-ng has no stressor {name} any more")
    one = TRIED[name]
    # Once, or for a second of the lab's time where it never counts; what it computes is verified.
    options = (f"--{name}", "1", f"--{name}-ops", "1", "-t", "1", "--verify", "--oom-avoid")
    account = AS_USER if one.account == "user" else ()
    first, second = (
        carry_out(stressing, tmp_path / turn, *account, f"{PLACE}/usr/bin/{NAME}", *options)
        for turn in ("first", "second")
    )
    assert first.outcome.reason is None
    counts = dict(re.findall(r"\b(passed|skipped|failed): (\d+)", first.text))
    ended = [kind for kind, count in counts.items() if count == "1"]
    assert len(ended) == 1 and ended[0] in one.outcomes, first.text
    if one.alike:
        assert second == first
