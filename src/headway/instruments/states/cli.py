"""`headway states`: the state machines of senders, from results or from qlog files of any program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.errors import WrongInputError, nearest
from headway.terminal import output, say

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from headway.instruments.states.statemachine import ChangedTransition
    from headway.instruments.states.statepath import StatePath


def states(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="A directory of results, or files: qlog of any program, or .hwtrace of Headway's own.",
            metavar="RESULTS|FILE...",
        ),
    ],
    cell: Annotated[
        list[str] | None,
        typer.Option(
            help="Show cells that have this title, or this part of it; may be given several times.",
            metavar="TITLE",
        ),
    ] = None,
    contender: Annotated[
        list[str] | None,
        typer.Option(help="Show this contender; may be given several times.", metavar="NAME"),
    ] = None,
    difference: Annotated[
        bool,
        typer.Option(
            "--difference", help="Show how the second of two contenders or files differs."
        ),
    ] = False,
) -> None:
    """Show the state machines of senders, also of other qlog files.

    Of each: shares of time, transitions with their probabilities, and invariants.
    """
    directories = [path for path in paths if path.is_dir()]
    if directories and len(paths) > 1:
        raise WrongInputError("takes one directory of results, or files only", where=str(paths[0]))
    if directories:
        pairs = list(_of_results(directories[0], tuple(cell or ()), tuple(contender or ())))
    else:
        if cell or contender:
            raise WrongInputError(
                "is for results, and these are files", where="--cell, --contender"
            )
        pairs = [("", list(_of_files(paths)))]
    if not pairs:
        raise WrongInputError("no run left the states of its senders", where=str(paths[0]))
    for title, machines in pairs:
        if title:
            output().print(f"[bold]{title}[/bold]\n")
        if difference:
            _print_difference(machines)
        else:
            for name, of_it in machines:
                _print_machine(name, of_it)


Named = tuple[str, "list[StatePath]"]


def _of_files(files: Sequence[Path]) -> Iterator[Named]:
    """A machine for each file, and in it for congestion control and for the connection."""
    from headway.instruments.states.sources import read_state_file
    from headway.instruments.states.statepath import MachineKind

    read = [(file, read_state_file(file)) for file in files]
    for file, state_paths in read:
        for machine in MachineKind:
            if of_it := [path for path in state_paths if path.machine is machine]:
                yield f"{file.name}, {machine}", of_it


def _of_results(
    directory: Path, cells: Sequence[str], contenders: Sequence[str]
) -> Iterator[tuple[str, list[Named]]]:
    from headway.analysis import analyse, load_results
    from headway.instruments.states.machines import paths_by_cell
    from headway.records.store import refresh_table

    refresh_table(directory)
    results = load_results(directory)
    _check_contenders(results.runs, contenders)
    there = False
    for experiment in results.experiments:
        runs = results.runs_of(experiment)
        titles = analyse(results, experiment).titles
        wanted = [name for name, title in titles.items() if _matches(title, cells)]
        there |= bool(wanted)
        state_paths = paths_by_cell(directory, runs.filter(runs["cell"].is_in(wanted)))
        for name in (text for text in titles if text in state_paths):
            chosen = [
                (contender, paths)
                for contender, paths in state_paths[name].items()
                if not contenders or contender.partition(": ")[0] in contenders
            ]
            heading = ": ".join(part for part in (experiment.name, titles[name]) if part)
            if chosen:
                yield heading, chosen
    if not there:
        raise WrongInputError(f"no cell has {', '.join(map(repr, cells))}", where="--cell")


def _check_contenders(runs: pl.DataFrame, contenders: Sequence[str]) -> None:
    known = runs["contender"].unique().sort().to_list()
    for name in contenders:
        if name not in known:
            hint = nearest(name, known) or f"; there are {', '.join(known)}"
            raise WrongInputError(f"there is no contender {name!r}{hint}", where="--contender")


def _matches(title: str, cells: Sequence[str]) -> bool:
    return not cells or any(part in title for part in cells)


def _print_machine(name: str, paths: Sequence[StatePath]) -> None:
    from headway.instruments.states.invariants import invariants, ordered
    from headway.instruments.states.statemachine import StateMachine

    machine = StateMachine.of(paths)
    count = f"{len(paths)} connection{'' if len(paths) == 1 else 's'}"
    sampled = any(path.sampled for path in paths)
    seen = ", looked at every 10 to 100 ms: shorter visits are missing" if sampled else ""
    output().print(f"[bold]{name}[/bold] ({count}{seen})")
    visits = Counter(state for path in paths for state in path.states)
    table = _table("state", "time", "share", "visits")
    for state_share in machine.states:
        table.add_row(
            state_share.state,
            f"{state_share.seconds:.3f} s",
            f"{state_share.share:.1%}",
            str(visits[state_share.state]),
        )
    output().print(table)
    if machine.transitions:
        table = _table("from", "to", "count", "probability", "interval (95 %)")
        for step in machine.transitions:
            between = f"{step.interval.low:.3f} to {step.interval.high:.3f}"
            table.add_row(
                step.before, step.after, str(step.count), f"{step.probability:.3f}", between
            )
        output().print(table)
    for invariant in ordered(invariants(path.states for path in paths)):
        say(f"  {invariant}")
    say("")


def _print_difference(machines: Sequence[Named]) -> None:
    from headway.instruments.states.statemachine import (
        StateMachine,
        changed_shares,
        changed_transitions,
    )

    if len(machines) != 2:
        names = ", ".join(name for name, _ in machines)
        raise WrongInputError(
            f"compares two, and there are {len(machines)}: {names}; choose them by --contender",
            where="--difference",
        )
    (first, of_first), (second, of_second) = machines
    left, other = StateMachine.of(of_first), StateMachine.of(of_second)
    output().print(f"[bold]{second}[/bold] against [bold]{first}[/bold]")
    table = _table("state", first, second, "difference")
    for share in changed_shares(left, other):
        table.add_row(
            share.state,
            f"{share.first:.1%}",
            f"{share.second:.1%}",
            f"{share.change * 100:+.1f} points",
        )
    output().print(table)
    table = _table("from", "to", first, second, "difference", "intervals")
    for step in changed_transitions(left, other):
        table.add_row(step.before, step.after, *_changed(step))
    output().print(table)


def _changed(step: ChangedTransition) -> Iterator[str]:
    """Both probabilities, their difference and whether the intervals lie apart."""
    for there in (step.first, step.second):
        yield f"{there.probability:.3f}" if there else "state not left"
    if step.change is None:
        yield from ("", "")
    else:
        yield from (f"{step.change:+.3f}", "apart" if step.is_sure else "overlap")


def _table(*headings: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading)
    return table
