"""`headway image`: build, show and remove the lab image."""

from __future__ import annotations

from typing import Annotated

import typer

from headway.cli.terminal import notes, output
from headway.lab.bodies import body_directory
from headway.lab.image import BuildOptions, Image, build, compiled_guest_code, find, remove, status
from headway.lab.image.progress import BuildProgress
from headway.lab.machine import Machine

app = typer.Typer(help="The lab image: kernel and root tree.", no_args_is_help=True)

Mirror = Annotated[
    str | None,
    typer.Option(help="Debian mirror; default: that of this machine's apt configuration."),
]


def ensure_image(mirror: str | None = None) -> Image:
    """The cached image, built first if there is none."""
    options = BuildOptions.from_environment(mirror=mirror)
    cached = find(options)
    if cached:
        return cached
    with BuildProgress(notes) as shown:
        return build(options, shown)


def machine_of(image: Image) -> Machine:
    """A machine that boots an image."""
    return Machine(image, compiled_guest_code(image), body_directory())


@app.command("build")
def build_command(mirror: Mirror = None) -> None:
    """Build the lab image, unless it is cached."""
    image = ensure_image(mirror)
    output.print(f"{image.path}: kernel {image.info.kernel}, {len(image.info.packages)} packages")


@app.command("status")
def status_command(mirror: Mirror = None) -> None:
    """Show what is cached."""
    output.print(status(BuildOptions.from_environment(mirror=mirror)))


@app.command("remove")
def remove_command() -> None:
    """Remove everything from the cache."""
    output.print(remove())
