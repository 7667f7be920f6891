"""A lab whose console is the terminal: a client's host, a path and a server, for one program of a person's choice."""

from __future__ import annotations

import json
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from headway.contract.artifact import SpoiltError
from headway.contract.names import OUTCOME_FILE
from headway.contract.program import Program
from headway.contract.text import dump
from headway.errors import HeadwayError
from headway.lab.machine import Machine, SharedDirectory, WrittenOrders
from headway.lab.spoilt import spoilt
from headway.study.clock import Clock
from headway.study.units import Duration

A_DAY = Duration(86_400 * 10**9)
_RAW_CONSOLE = ("sh", "-c", 'stty raw -echo; exec "$@" </dev/null', "sh")


@dataclass(frozen=True)
class BootParts:
    """What of an image a lab boots.

    Attributes:
        kernel: the lab kernel.
        root: the guest's root tree.
        native: the directory of Headway's own programs.
    """

    kernel: Path
    root: Path
    native: Path


@dataclass(frozen=True)
class ConsoleLab:
    """Such a lab but for its program; all its values are those of JSON, so that it can be kept.

    Attributes:
        host: the namespace of the program.
        seed: of everything random.
        orders: what the lab does beside the program; written, so that their types need not be loaded.
        kernel, root, native: of the image.
        code: the guest's modules.
        memory_mib: memory of its guest.
        shown: directories that it shows, by their names.
    """

    host: str
    seed: int
    orders: WrittenOrders
    kernel: str
    root: str
    native: str
    code: str
    memory_mib: int
    shown: dict[str, str]

    @property
    def places(self) -> tuple[str, ...]:
        """The files and directories of this machine that it needs."""
        return (self.kernel, self.root, self.native, self.code, *self.shown.values())

    def run(
        self,
        command: tuple[str, ...],
        *,
        clock: Clock,
        allowed: tuple[str, ...] = (),
        mounted: Mapping[str, Path] | None = None,
        rewrite_calls: bool = True,
    ) -> int:
        """Run a command, its output on the terminal; returns its exit status.

        Args:
            command: its words.
            clock: how the lab's time passes.
            allowed: what programs may do beyond what they otherwise may, as in `Orders`.
            mounted: directories that the lab shows beside the extras, as ``/lab/extras/NAME``.
            rewrite_calls: as of `Machine.boot`.

        Raises:
            HeadwayError: the lab itself failed.
        """
        program = Program("command", self.host, (*_RAW_CONSOLE, *command), interactive=True)
        return self.carry_out(program, clock, allowed, mounted or {}, rewrite_calls=rewrite_calls)

    def carry_out(
        self,
        program: Program,
        clock: Clock,
        allowed: tuple[str, ...],
        mounted: Mapping[str, Path],
        *,
        rewrite_calls: bool = True,
    ) -> int:
        """Carry out a program that has the console; as `run` otherwise."""
        parts = BootParts(Path(self.kernel), Path(self.root), Path(self.native))
        shown = {name: Path(place) for name, place in self.shown.items()}
        shown |= {f"extras/{name}": place for name, place in mounted.items()}
        with (
            tempfile.TemporaryDirectory(prefix="headway-shell-") as directory,
            _terminal_restored(),
        ):
            outcome = Machine(parts, Path(self.code)).boot(
                _with_program(self.orders, program, allowed),
                Path(directory, "run"),
                seed=self.seed,
                clock=clock,
                rewrite_calls=rewrite_calls,
                cpu_limit=A_DAY,
                interactive=True,
                memory_mib=self.memory_mib,
                shown={name: SharedDirectory(place) for name, place in shown.items()},
            )
        if outcome.status != "ok":
            raise HeadwayError(f"the lab failed: {outcome.reason}")
        statuses = (ended.exit_status for ended in outcome.ended if ended.name == program.name)
        if (status := next(statuses, None)) is None:
            reason = spoilt(SpoiltError(OUTCOME_FILE, "lacks the command"))
            raise HeadwayError(f"the lab failed: {reason}")
        return status if status >= 0 else 128 - status


def _with_program(
    orders: WrittenOrders, program: Program, allowed: tuple[str, ...]
) -> WrittenOrders:
    """Orders for one program more; what they are but for it need not be known."""
    value = json.loads(orders.text)
    value["programs"].append(json.loads(dump(program)))
    value["allowed"] = allowed
    return replace(orders, text=json.dumps(value, separators=(",", ":")))


@contextmanager
def _terminal_restored() -> Iterator[None]:
    """The lab's console puts the terminal into raw mode."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
