"""`headway processor`: what computing costs this machine, and the processors that have a name."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.group import CommandGroup, OneCommand
from headway.errors import HeadwayError
from headway.terminal import output, say

# Labs and what studies say of hosts take a moment to load, which help and completion need not wait for.
if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(
    cls=CommandGroup,
    help="Measure what calls and packets cost here; list known processors.",
    add_completion=False,
    rich_markup_mode=None,
)

_PROGRAM = "headway-processor"
_CALLS = ("call", "send_call", "receive_call", "wait_call", "switch")
_PACKETS = ("buffer", "packet", "kilobyte")


@app.command("measure", cls=OneCommand)
def measure_command(
    host: Annotated[
        str, typer.Option(help="Whose table to print: client, server or another host of a study.")
    ] = "client",
) -> None:
    """Measure what calls, packets and bytes cost this machine, and print it for a study file.

    Close other programs first: the measurement takes 2 seconds of one core.
    """
    from headway.image.layers import layers_in
    from headway.lab.ready import ready_image

    program = ready_image(layers=layers_in([_PROGRAM])).native / _PROGRAM
    try:
        process = subprocess.run(
            [program], capture_output=True, text=True, encoding="utf-8", check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise HeadwayError(f"{_PROGRAM} cannot measure this machine: {error}") from error
    costs = json.loads(process.stdout)
    say(f"[{host}.kernel.processor]")
    for name in _CALLS:
        say(f'{name} = "{_told(costs[name])}"')
    packets = ", ".join(f'{name} = "{_told(costs[name])}"' for name in _PACKETS)
    for way in ("sent", "received"):
        say(f"{way} = {{ {packets} }}")
    say("# What QUIC programs do for each datagram is not among these: docs/processors.md")


def _told(ns: float) -> str:
    return f"{ns / 1000:.3g} us"


@app.command("list", cls=OneCommand)
def list_command() -> None:
    """List the processors that have a name, with their costs, and where their factors come from."""
    from headway.study.processor import derivations

    output().print(_table())
    say("")
    for profile, derivation in derivations().items():
        say(f"{profile}: {derivation}")


def _table() -> Table:
    from rich.table import Table

    from headway.study.processor import Processor, ProcessorProfile

    priced = [
        processor_profile
        for processor_profile in ProcessorProfile
        if processor_profile is not ProcessorProfile.FREE
    ]
    named = {literal: Processor(profile=literal).costs for literal in priced}
    shown = Table(box=None, pad_edge=False, header_style="bold")
    shown.add_column("cost of", no_wrap=True)
    for column in named:
        shown.add_column(str(column), justify="right", overflow="fold")
    for key in dict.fromkeys(key for costs in named.values() for key in costs):
        shown.add_row(key, *(str(costs.get(key, "")) for costs in named.values()))
    return shown
