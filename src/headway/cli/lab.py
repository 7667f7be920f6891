"""`headway doctor`, `shell` and `exec`: the emulated path by itself."""

from __future__ import annotations

import json
import re
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from headway.contract.orders import NET_NAMESPACES
from headway.errors import HeadwayError, WrongInputError
from headway.image import status
from headway.lab.cores import available_cores
from headway.lab.ready import ready_image, ready_machine
from headway.lab.shell import BODIES, execute_on_path, shell_on_path
from headway.programs.base import SERVER_NAME
from headway.study.model import Clock
from headway.study.path import Path as NetworkPath
from headway.terminal import notes, output, progress

RateOption = Annotated[str | None, typer.Option("--rate", help='Rate each way, as "10 Mbit/s".')]
RttOption = Annotated[str | None, typer.Option("--rtt", help='Round-trip delay, as "100 ms".')]
LossOption = Annotated[str | None, typer.Option("--loss", help='Random loss each way, as "2 %".')]
JitterOption = Annotated[str | None, typer.Option("--jitter", help='Jitter each way, as "5 ms".')]
QueueOption = Annotated[
    str | None, typer.Option("--queue", help='Queue, as "1 BDP", "64 kB" or "100 packets".')
]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]


class Capability(StrEnum):
    """What a command may be allowed beyond what programs of labs may."""

    NET_NAMESPACES = NET_NAMESPACES


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    seed: SeedOption = 1,
) -> None:
    """Measure the emulation from inside and say what is right and what is not."""
    # Imported here because statistics take seconds to load, and only this command needs them.
    from headway.cli.image import described_rust
    from headway.selftest.battery import COALESCED_PATH, COALESCING, battery
    from headway.selftest.measure import check_paths, measure_path
    from headway.selftest.table import print_checks

    paths = battery()
    image = ready_image()
    machine = ready_machine(image)
    with (
        tempfile.TemporaryDirectory(prefix="headway-doctor-") as directory,
        progress("measuring the emulation", len(paths) + 1) as count,
    ):
        checks = check_paths(
            machine,
            paths,
            seed=seed,
            directory=Path(directory),
            cores=available_cores(),
            on_path=count,
        )
        coalesced = measure_path(
            machine,
            COALESCED_PATH,
            seed=seed,
            directory=Path(directory) / "coalescing",
            coalescing=COALESCING,
        )
        count(all(check.passed for check in coalesced))
    checks += coalesced
    if as_json:
        print(json.dumps([check.as_json() for check in checks], indent=1))
    else:
        output.print(f"Rust: {described_rust(status().rust)}", soft_wrap=True)
        output.print(f"Headway's own programs: {image.info.native.version}", soft_wrap=True)
        print_checks(output, checks)
    failed = sum(not check.passed for check in checks)
    if failed:
        raise HeadwayError(f"{failed} of {len(checks)} checks failed")


def shell(
    rate: RateOption = None,
    rtt: RttOption = None,
    loss: LossOption = None,
    jitter: JitterOption = None,
    queue: QueueOption = None,
    seed: SeedOption = 1,
) -> None:
    """Open a shell on the client's side of a path; https://server.test/ answers on the other."""
    path = _path(rate=rate, rtt=rtt, loss=loss, jitter=jitter, queue=queue)
    notes.print(f"https://{SERVER_NAME}/N.bin answers for N = {', '.join(map(str, BODIES))}.")
    notes.print("`exit` ends the lab.")
    raise typer.Exit(shell_on_path(ready_machine(ready_image()), path, seed=seed))


def execute(
    command: Annotated[
        list[str], typer.Argument(help="The command, after --.", metavar="-- COMMAND")
    ],
    rate: RateOption = None,
    rtt: RttOption = None,
    loss: LossOption = None,
    jitter: JitterOption = None,
    queue: QueueOption = None,
    seed: SeedOption = 1,
    clock: Annotated[Clock, typer.Option(help="How the lab's time passes.")] = Clock.REAL,
    mount: Annotated[
        list[Path] | None,
        typer.Option(help="A directory that the lab shows, read-only, as /lab/extras/ITS-NAME."),
    ] = None,
    capability: Annotated[
        list[Capability] | None,
        typer.Option(
            help="Let the command make network namespaces. It can then mount the host's files, too."
        ),
    ] = None,
) -> None:
    """Run one command on the client's side of a path; its exit status becomes this one's."""
    path = _path(rate=rate, rtt=rtt, loss=loss, jitter=jitter, queue=queue)
    mounted = dict(_mounted(directory) for directory in mount or ())
    status = execute_on_path(
        ready_machine(ready_image()),
        path,
        tuple(command),
        seed=seed,
        clock=clock,
        allowed=tuple(one.value for one in capability or ()),
        mounted=mounted,
    )
    raise typer.Exit(status)


def _mounted(directory: Path) -> tuple[str, Path]:
    """The name by which a lab shows a directory, and where that is."""
    place = directory.resolve()
    if not place.is_dir():
        raise WrongInputError(f"--mount {directory}: there is no such directory")
    # It is a word of the kernel's command line.
    if not re.fullmatch(r"[A-Za-z0-9._-]+", place.name):
        raise WrongInputError(
            f"--mount {directory}: its name may have letters, digits, dots, dashes and underscores"
        )
    return place.name, place


def _path(**options: str | None) -> NetworkPath:
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    try:
        return NetworkPath.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        places = (*first["loc"], first.get("ctx", {}).get("key"))
        names = [str(part) for part in places if str(part) in options]
        where = f"--{names[0]}" if names else "path"
        raise WrongInputError(first["msg"].removeprefix("Value error, "), where=where) from None
