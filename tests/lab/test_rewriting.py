"""Code that makes calls is what the program has, though the lab's kernel replaces calls that repeat."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.lab.machine import Machine, SharedDirectory
from tests.lab.compiled import compiled, dynamic

pytestmark = pytest.mark.lab

NAME = "rewriting"
OWN = ("copied and gone", "copied before other code", "changed", "compared", "of two views")
LIBRARY = (
    *("read by a call", "read as memory", "read by the parent", "compared with the file"),
    *("library changed", "stopped at a breakpoint"),
)


def _lines(machine: Machine, directory: Path, *words: str, rewrite_calls: bool = True) -> list[str]:
    made = dynamic(NAME, directory) if words else compiled(NAME, directory)
    argv = (f"/lab/extras/{NAME}/{NAME}", *words)
    orders = Orders((Namespace("client"),), programs=(Program("trial", "client", argv),))
    outcome = machine.boot(
        orders,
        directory / "lab",
        seed=1,
        rewrite_calls=rewrite_calls,
        shown={f"extras/{NAME}": SharedDirectory(made)},
    )
    assert outcome.reason is None
    return (directory / "lab" / "trial.out").read_text().splitlines()


def test_code_of_a_program_is_its_own(machine: Machine, tmp_path: Path) -> None:
    """It copies, changes and compares its code, and makes some at run time."""
    assert _lines(machine, tmp_path) == [f"{name}: right" for name in OWN]


def test_code_of_the_c_library_is_what_its_file_has(machine: Machine, tmp_path: Path) -> None:
    """Whoever looks at it, changes it or stops there; only a load of the program's own shows it replaced."""
    expected = [f"{name}: right, replaced" for name in (*OWN, *LIBRARY)]
    assert _lines(machine, tmp_path, "library") == expected


def test_nothing_is_replaced_where_a_study_says_so(machine: Machine, tmp_path: Path) -> None:
    expected = [f"{name}: right" for name in (*OWN, *LIBRARY)]
    assert _lines(machine, tmp_path, "library", rewrite_calls=False) == expected
