"""Several runs in one boot: what is slow to start, a browser, is started once for all of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from headway.contract.names import OUTCOME_FILE
from headway.contract.orders import Orders
from headway.contract.outcome import Outcome
from headway.lab.assemble import orders_for, round_of
from headway.lab.cancel import Cancellation
from headway.lab.certificate import certified
from headway.lab.links import link
from headway.lab.machine import Machine
from headway.lab.meter import Meter
from headway.lab.outcomes import read_outcome
from headway.lab.run import Result, booting, carry_out, measure
from headway.planning.runs import Run


def carry_out_together(
    runs: Sequence[Run],
    machine: Machine,
    directories: Sequence[Path],
    *,
    cpu: int | None = None,
    cancellation: Cancellation | None = None,
) -> Iterator[tuple[Run, Path, Result]]:
    """Boot a lab for runs of one setting, which differ in their seeds, and measure each.

    A lab that ends early has the rest carried out in another one.

    Args:
        runs: for which `Setting.may_share_a_boot` holds if there are several.
        machine: boots the lab.
        directories: what each run leaves goes there; they do not exist.
        cpu: the core that the lab is pinned to; any if None.
        cancellation: ends the lab when it is turned on.

    Yields:
        Each run with its directory and its result; in what it took of this machine, boots are shared equally.

    Raises:
        Cancelled: the study was ended meanwhile.
    """
    left = list(zip(runs, directories, strict=True))
    while left:
        if len(left) == 1:
            run, directory = left[0]
            result = carry_out(run, machine, directory, cpu=cpu, cancellation=cancellation)
            yield run, directory, result
            return
        done = _boot(left, machine, cpu, cancellation)
        yield from done
        left = left[len(done) :]


def _boot(
    left: list[tuple[Run, Path]],
    machine: Machine,
    cpu: int | None,
    cancellation: Cancellation | None,
) -> list[tuple[Run, Path, Result]]:
    """Carry out runs in one boot; the first that were done, at least one."""
    meter = Meter()
    first, first_directory = left[0]
    boot_directory = first_directory.with_name(f".{first_directory.name}.boot")
    shutil.rmtree(boot_directory, ignore_errors=True)
    orders = replace(
        certified(orders_for(first.deployment), machine.image.root),
        rounds=tuple(round_of(run.deployment, directory.name) for run, directory in left),
    )
    boot = booting(first.deployment, machine, meter, cpu, cancellation)
    outcomes = [boot(orders, boot_directory), *_later_outcomes(boot_directory, orders)]
    wall_s, boot_s = meter.wall_s / len(outcomes), meter.processor_s / len(outcomes)
    done = []
    for (run, directory), outcome in zip(left, outcomes, strict=False):
        reading = Meter()
        _move(boot_directory, directory)
        outcome, measured = measure(run.deployment, orders, outcome, directory)
        done.append(
            (run, directory, Result(outcome, measured, wall_s, boot_s + reading.processor_s))
        )
    shutil.rmtree(boot_directory)
    return done


def _later_outcomes(boot_directory: Path, orders: Orders) -> Iterator[Outcome]:
    """The outcomes of all rounds but the first, as far as they came."""
    for round_orders in orders.rounds[1:]:
        file = boot_directory / round_orders.directory / OUTCOME_FILE
        if not file.exists():
            return
        yield read_outcome(file)


def _move(boot_directory: Path, directory: Path) -> None:
    """What a round left, into its run's directory, with what all rounds share."""
    own = boot_directory / directory.name
    if not own.is_dir():
        # A program may have put something else there, or nothing was left.
        own.unlink(missing_ok=True)
        own.mkdir()
    for shared in boot_directory.iterdir():
        if shared.is_file() and not (own / shared.name).exists():
            link(shared, own / shared.name)
    own.rename(directory)
