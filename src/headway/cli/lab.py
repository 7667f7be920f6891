"""`headway exec` and `shell`: the emulated path by itself."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headway.cli import again, suggest
from headway.cli.options import Offline, Seed
from headway.contract.names import NET_NAMESPACES
from headway.errors import WrongInputError, nearest
from headway.study.clock import Clock
from headway.terminal import note

# Labs and what studies say of paths take a moment to load, which help and completion need not wait for.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from headway.planning.runs import Run
    from headway.study.path import Path as NetworkPath

RateOption = Annotated[
    str | None, typer.Option("--rate", help='Rate each way, such as "10 Mbit/s".')
]
RttOption = Annotated[str | None, typer.Option("--rtt", help='Round-trip delay, such as "100 ms".')]
LossOption = Annotated[
    str | None, typer.Option("--loss", help='Random loss each way, such as "2 %".')
]
JitterOption = Annotated[
    str | None, typer.Option("--jitter", help='Jitter each way, such as "5 ms".')
]
QueueOption = Annotated[
    str | None, typer.Option("--queue", help='Queue, such as "1 BDP", "64 kB" or "100 packets".')
]


WithLayers = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        help="A layer that the lab has, such as chromium; may be given several times.",
        metavar="LAYER",
        autocompletion=suggest.layers,
    ),
]


class Capability(StrEnum):
    """What a command may be allowed beyond what programs of labs may."""

    NET_NAMESPACES = NET_NAMESPACES


def shell(
    study: Annotated[
        str | None,
        typer.Argument(
            help="A study file, or the name of a built-in study, in whose network the shell is.",
            metavar="STUDY",
            autocompletion=suggest.studies,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Where the shell is: a host of the study's network.")
    ] = "",
    contender: Annotated[
        str, typer.Option("--contender", help="Whose network; default: the first contender's.")
    ] = "",
    cell: Annotated[
        str, typer.Option("--cell", help="In which cell; default: the first one.")
    ] = "",
    rate: RateOption = None,
    rtt: RttOption = None,
    loss: LossOption = None,
    jitter: JitterOption = None,
    queue: QueueOption = None,
    seed: Seed = 1,
    layers: WithLayers = None,
    offline: Offline = False,
) -> None:
    """Open a shell on the client's side of a path, or at a host of a study's network.

    On a path, a server answers at https://server.test/ on the other side. In a network the study's servers and proxies
    run, and its clients do not. Time passes as on the host.
    """
    from headway.image.keys import OWN_PROGRAMS
    from headway.image.layers import known_layers
    from headway.lab.ready import ready_image, ready_machine
    from headway.lab.shell import BODIES, shell_on_path
    from headway.programs.base import SERVER_NAME

    given = {"--rate": rate, "--rtt": rtt, "--loss": loss, "--jitter": jitter, "--queue": queue}
    of_study = {"--host": host, "--contender": contender, "--cell": cell}
    wanted = known_layers(layers or (), "--with")
    if study is None:
        if stated := next((option for option, value in of_study.items() if value), None):
            raise WrongInputError("it is of a study's network: name the study", where=stated)
        path = _path(rate=rate, rtt=rtt, loss=loss, jitter=jitter, queue=queue)
        # Nobody knows what will be typed.
        image = ready_image(layers=wanted | {OWN_PROGRAMS})
        note(f"https://{SERVER_NAME}/N.bin answers for N = {', '.join(map(str, BODIES))}.")
        note("`exit` ends the lab.")
        raise typer.Exit(shell_on_path(ready_machine(image), path, seed=seed))
    if stated := next((option for option, value in given.items() if value), None):
        raise WrongInputError("the study states its paths: leave it out", where=stated)
    from headway.campaign.feasibility import checked_plan, needed_layers
    from headway.lab.networkshell import shell_in_network
    from headway.study.load import load_study

    run = _chosen(checked_plan(load_study(study), study), contender, cell)
    image = ready_image(layers=wanted | needed_layers([run]) | {OWN_PROGRAMS})
    nodes = run.deployment.nodes
    where = host or run.deployment.flows[0].asked.namespace
    note(f"hosts: {', '.join(node.name for node in nodes)}; the shell is at {where}")
    note("`exit` ends the lab.")
    raise typer.Exit(shell_in_network(ready_machine(image), run.deployment, where))


def _chosen(runs: Sequence[Run], contender: str, cell: str) -> Run:
    """The first run of a contender in a cell, or of the first ones."""
    for option, key, wanted in (("--contender", "contender", contender), ("--cell", "cell", cell)):
        known = list(dict.fromkeys(getattr(run, key) for run in runs))
        if wanted and wanted not in known:
            hint = nearest(wanted, known, then=f"there are {', '.join(known)}")
            raise WrongInputError(f"no {key} {wanted!r}{hint}", where=option)
    fitting = (r for r in runs if contender in ("", r.contender) and cell in ("", r.cell))
    if (run := next(fitting, None)) is None:
        raise WrongInputError(f"{contender} has no run in {cell}", where="--cell")
    return run


def execute(
    command: Annotated[
        list[str], typer.Argument(help="The command, after --.", metavar="-- COMMAND")
    ],
    rate: RateOption = None,
    rtt: RttOption = None,
    loss: LossOption = None,
    jitter: JitterOption = None,
    queue: QueueOption = None,
    seed: Seed = 1,
    clock: Annotated[Clock, typer.Option(help="How the lab's time passes.")] = Clock.VIRTUAL,
    rewrite_calls: Annotated[
        bool,
        typer.Option(
            help="Let the lab's kernel replace calls that repeat in code of the C library."
        ),
    ] = True,
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
    layers: WithLayers = None,
    offline: Offline = False,
) -> None:
    """Run one command on the client's side of a path.

    A server answers at https://server.test/ on the other side: N.bin has N bytes, for every N that
    the command names. Without options the path is a cable. The command's exit status becomes this
    one's. The lab has the layers of programs that the command names.
    """
    from headway.image.layers import known_layers, layer_words, layers_in
    from headway.lab.lab_options_cache import remember
    from headway.lab.ready import ready_image, ready_machine
    from headway.lab.shell import lab_on_path

    path = _path(rate=rate, rtt=rtt, loss=loss, jitter=jitter, queue=queue)
    wanted = layers_in(command) | known_layers(layers or (), "--with")
    mounted = dict(_mounted(directory) for directory in mount or ())
    sizes = _body_sizes(command)
    machine = ready_machine(ready_image(layers=wanted))
    lab = lab_on_path(machine, path, seed=seed, layers=wanted, sizes=sizes)
    given = {"rate": rate, "rtt": rtt, "loss": loss, "jitter": jitter, "queue": queue}
    options = again.options_that(seed=seed, clock=clock, **given)
    if not wanted:
        remember(again.for_bodies(options, command), lab, layer_words())
    note(again.path_in_words(options))
    allowed = tuple(choice.value for choice in capability or ())
    status = lab.run(
        tuple(command),
        clock=clock,
        allowed=allowed,
        mounted=mounted,
        rewrite_calls=rewrite_calls,
    )
    raise typer.Exit(status)


def _body_sizes(command: list[str]) -> frozenset[int]:
    """Sizes of the bodies that a command asks for."""
    from headway.study.units import Size, UnitError
    from headway.words import body_sizes_in

    sizes = body_sizes_in(command)
    try:
        for size in sizes:
            Size.parse(f"{size} B")
    except UnitError as error:
        raise WrongInputError(str(error), where=f"{size}.bin") from None
    return sizes


def _mounted(directory: Path) -> tuple[str, Path]:
    """The name by which a lab shows a directory, and where that is."""
    import re

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
    from pydantic import ValidationError

    from headway.study.path import Path as NetworkPath

    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    try:
        return NetworkPath.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        places = (*first["loc"], first.get("ctx", {}).get("key"))
        names = [str(part) for part in places if str(part) in options]
        where = f"--{names[0]}" if names else "path"
        raise WrongInputError(first["msg"].removeprefix("Value error, "), where=where) from None
