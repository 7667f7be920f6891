"""`headway interop`: which QUIC stacks work with which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.options import Jobs, Offline
from headway.errors import HeadwayError, WrongInputError, counted
from headway.terminal import complain, note, output, say

# Test cases and labs take a moment to load, which help and completion need not wait for.
if TYPE_CHECKING:
    from headway.instruments.interop.matrix import Logs, Matrix, MatrixCell
    from headway.instruments.interop.stack import Stack
    from headway.instruments.interop.stackpair import StackPair
    from headway.instruments.interop.verdict import CaseVerdict
    from headway.lab.machine import Machine

_RESULT_FILE, _PAGE_FILE = "result.json", "index.html"


def interop(
    server: Annotated[
        str,
        typer.Option("--server", "-s", help="Servers, separated by commas.", metavar="NAME,..."),
    ] = "",
    client: Annotated[
        str,
        typer.Option("--client", "-c", help="Clients, separated by commas.", metavar="NAME,..."),
    ] = "",
    test: Annotated[
        str,
        typer.Option(
            "--test",
            "--cases",
            "-t",
            help="Test cases, separated by commas: names, abbreviations, a file with a case, onlyTests, or "
            "onlyMeasurements; default: all tests.",
            metavar="CASE,...",
        ),
    ] = "",
    replace: Annotated[
        list[str] | None,
        typer.Option(
            "--replace",
            "-r",
            help="A stack of your own: a container image, or a directory with run_endpoint.sh; may be given several "
            "times.",
            metavar="NAME=PATH",
        ),
    ] = None,
    program: Annotated[
        str,
        typer.Option(
            "--program",
            "--must-include",
            "-i",
            help="Take only pairs that include this stack.",
            metavar="NAME",
        ),
    ] = "",
    programs: Annotated[
        Path | None,
        typer.Option(
            help="File of your own programs; default: programs.toml here.", metavar="FILE"
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Carry each case out with so many seeds.", metavar="N")
    ] = 1,
    seed: Annotated[
        int, typer.Option(min=0, help="The first seed of everything random.", metavar="N")
    ] = 1,
    log_dir: Annotated[
        Path,
        typer.Option(
            "--log-dir",
            "-l",
            help="Directory for logs, result.json and the page.",
            metavar="DIRECTORY",
        ),
    ] = Path("interop"),
    json: Annotated[
        Path | None,
        typer.Option("--json", "-j", help="Another file for result.json.", metavar="FILE"),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the logs of runs that succeed, too.")
    ] = False,
    jobs: Jobs = None,
    offline: Offline = False,
) -> None:
    """Try which QUIC stacks work with which, by the interop runner's test cases.

    Each pair plays each case in a lab, in virtual time; equal seeds give equal results. A failure leaves its captures
    below --log-dir, and a command that repeats it. Exit status 1 if a case fails.
    """
    from headway.instruments.interop.matrix import Logs, carry_out
    from headway.lab.cores import available_cores

    matrix = _matrix(
        server, client, test, replace or (), program, programs, range(seed, seed + seeds)
    )
    machine = _machine((*matrix.clients, *matrix.servers))
    _check_compliance(matrix, machine)
    log_dir.mkdir(parents=True, exist_ok=True)
    logs = Logs(log_dir, keep)
    options = [f"-r {word}" for word in replace or ()]
    if programs:
        options.append(f"--programs {programs}")

    def report(pairing: StackPair, number: int, verdict: CaseVerdict) -> None:
        _report(pairing, number, verdict, options)

    cells = carry_out(matrix, machine, logs, jobs or len(available_cores()), report)
    _conclude(matrix, cells, logs, json)


def _matrix(
    server: str,
    client: str,
    test: str,
    replace: Sequence[str],
    program: str,
    programs: Path | None,
    seeds: Sequence[int],
) -> Matrix:
    """What is to be tried."""
    from headway.instruments.interop.brought import replaced
    from headway.instruments.interop.case import EndpointRole
    from headway.instruments.interop.catalogue import chosen_cases, chosen_stacks, known_stacks
    from headway.instruments.interop.matrix import Matrix
    from headway.instruments.interop.userprograms import declared_stacks

    known = {
        **known_stacks(),
        **declared_stacks(programs),
        **{stack.name: stack for stack in (replaced(word, "--replace") for word in replace)},
    }
    cases = chosen_cases(_words(test), "--test")
    sides = {}
    for role, text, option in (
        (EndpointRole.CLIENT, client, "--client"),
        (EndpointRole.SERVER, server, "--server"),
    ):
        stacks = chosen_stacks(_words(text), known, option) if text else list(known.values())
        for stack in stacks:
            if text and role not in stack.roles:
                raise WrongInputError(f"{stack.name} plays no {role}", where=option)
        sides[role] = [stack for stack in stacks if role in stack.roles]
    if program:
        chosen_stacks([program], known, "--program")
    matrix = Matrix(sides[EndpointRole.CLIENT], sides[EndpointRole.SERVER], cases, seeds, program)
    if not list(matrix.pairs):
        raise WrongInputError(f"no pair of these includes {program}", where="--program")
    return matrix


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _machine(stacks: Sequence[Stack]) -> Machine:
    """A machine whose labs have what these stacks need."""
    from headway.image.keys import OWN_PROGRAMS
    from headway.image.layers import layers_of_outside
    from headway.lab.ready import ready_image, ready_machine

    # A case has traffic beside its own, which is of Headway's programs.
    layers = {OWN_PROGRAMS, *(layer for stack in stacks for layer in stack.layers)}
    for stack in stacks:
        for brought in stack.brought.values():
            brought.program.check_whole()
            layers |= layers_of_outside(brought.program)
    machine = ready_machine(ready_image(layers=layers))
    for stack in stacks:
        for name in stack.extras:
            if name not in machine.extras:
                raise HeadwayError(
                    f"{stack.name} needs {name}; `headway image add {name}` compiles it"
                )
    return machine


def _check_compliance(matrix: Matrix, machine: Machine) -> None:
    """Say of stacks that nobody knows if they do not answer 127 to a test case that nobody knows, as the runner asks."""
    from headway.instruments.interop.compliance import wrong_answer

    own = [
        stack
        for stack in (*matrix.clients, *matrix.servers)
        if not stack.cases and not stack.is_plain
    ]
    for stack in {stack.name: stack for stack in own}.values():
        for role in sorted(stack.roles):
            if text := wrong_answer(machine, stack, role):
                complain(f"note: {text}")


def _report(pairing: StackPair, seed: int, verdict: CaseVerdict, options: Sequence[str]) -> None:
    """Tell a failure when it comes, with the command that repeats it."""
    from headway.instruments.interop.verdict import CaseResult

    if verdict.result is not CaseResult.FAILED:
        return
    note(f"✕ {pairing.words}, seed {seed}: {verdict.reason}")
    words = [
        "headway interop",
        f"-s {pairing.server.name} -c {pairing.client.name} -t {pairing.case.name} --seed {seed}",
        *options,
    ]
    note(f"  again: {' '.join(words)}")


def _conclude(matrix: Matrix, cells: Sequence[MatrixCell], logs: Logs, json: Path | None) -> None:
    """Write the results, print the matrix, and end with status 1 if a case failed."""
    from headway.instruments.interop.page import page
    from headway.instruments.interop.results import result_json
    from headway.instruments.interop.verdict import CaseResult

    file = json or logs.directory / _RESULT_FILE
    file.write_text(result_json(matrix, cells, str(logs.directory)), encoding="utf-8")
    (logs.directory / _PAGE_FILE).write_text(page(matrix, cells), encoding="utf-8")
    _print(matrix, cells)
    counts = {result: sum(cell.result is result for cell in cells) for result in CaseResult}
    say(
        f"{counted(counts[CaseResult.SUCCEEDED], 'case')} succeeded, {counts[CaseResult.FAILED]} failed, "
        f"{counts[CaseResult.UNSUPPORTED]} are not played. {file}, {logs.directory / _PAGE_FILE}"
    )
    if counts[CaseResult.FAILED]:
        raise typer.Exit(1)


def _print(matrix: Matrix, cells: Sequence[MatrixCell]) -> None:
    """The matrix as the runner prints it: a row for each client, a column for each server."""
    from rich.table import Table

    table = Table(header_style="bold", show_lines=True)
    table.add_column("client / server")
    for server in matrix.servers:
        table.add_column(server.name)
    for client in matrix.clients:
        texts = [_cell(client.name, server.name, cells) for server in matrix.servers]
        if any(texts):
            table.add_row(client.name, *texts)
    output().print(table)


def _cell(client: str, server: str, cells: Sequence[MatrixCell]) -> str:
    from headway.instruments.interop.verdict import CaseResult

    of_pair = [
        cell
        for cell in cells
        if cell.pairing.client.name == client and cell.pairing.server.name == server
    ]
    lines = []
    for result, colour in (
        (CaseResult.SUCCEEDED, "green"),
        (CaseResult.UNSUPPORTED, "dim"),
        (CaseResult.FAILED, "red"),
    ):
        texts = [_abbreviated(cell) for cell in of_pair if cell.result is result]
        if texts:
            lines.append(f"[{colour}]{result.symbol}({','.join(texts)})[/{colour}]")
    return "\n".join(lines)


def _abbreviated(cell: MatrixCell) -> str:
    """A case by its abbreviation; with several seeds how many a failing one passes, and a measurement's value."""
    from headway.instruments.interop.results import details
    from headway.instruments.interop.verdict import CaseResult

    case = cell.pairing.case
    if case.measures and cell.result is CaseResult.SUCCEEDED:
        return f"{case.abbreviation}: {details(cell)}"
    if cell.result is CaseResult.FAILED and len(cell.verdicts) > 1:
        return f"{case.abbreviation} {len(cell.succeeded_seeds)}/{len(cell.verdicts)}"
    return case.abbreviation
