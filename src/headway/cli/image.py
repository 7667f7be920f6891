"""`headway image`: build, show and remove the lab image and what can be added to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cache import directory_size
from headway.cli import suggest
from headway.cli.group import CommandGroup, OneCommand
from headway.cli.options import Offline
from headway.errors import EXIT_FAILED, HeadwayError, counted
from headway.terminal import say

# What the image is made of takes a moment to load, which help and completion need not wait for.
if TYPE_CHECKING:
    from headway.image import ExtraStatus, ImageOptions, NativeInfo, Toolchain
    from headway.image.cached import CachedLayer

app = typer.Typer(
    cls=CommandGroup,
    help="Build, move or remove the lab image.",
    add_completion=False,
    rich_markup_mode=None,
)

Mirror = Annotated[
    str | None,
    typer.Option(
        help="Address of a Debian archive; default: the one apt is configured with. "
        "Other commands take it from HEADWAY_MIRROR.",
        envvar="HEADWAY_MIRROR",
    ),
]


@app.command("build", cls=OneCommand)
def build_command(
    layer: Annotated[
        list[str] | None,
        typer.Argument(
            help="Layers to fetch, too, such as chromium; `image status` lists them.",
            metavar="[LAYER]...",
            autocompletion=suggest.layers,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Fetch all layers.")] = False,
    renew: Annotated[
        bool,
        typer.Option(
            "--renew", help="Make the root tree and its layers anew, from what Debian has today."
        ),
    ] = False,
    mirror: Mirror = None,
    offline: Offline = False,
) -> None:
    """Build the lab image and fetch layers, unless they are cached."""
    from headway.image import shown_progress
    from headway.image.layers import known_layers, layer_names
    from headway.lab.ready import ready_image

    options = _options(mirror)
    wanted = known_layers(layer_names() if every else layer or (), "image build")
    if renew:
        from headway.image.builder import renew as renew_image

        with shown_progress() as progress:
            renew_image(options, progress)
    image = ready_image(options, wanted)
    info = image.info
    more = f" with {', '.join(sorted(wanted))}" if wanted else ""
    say(
        f"The lab image is ready{more}: kernel {info.kernel_version}, {len(info.packages)} packages of "
        f"Debian {info.suite}, Headway's own programs {info.native.version} ({image.path})"
    )


@app.command("status", cls=OneCommand)
def status_command(mirror: Mirror = None) -> None:
    """Show what is cached."""
    from headway.image import EXTRAS, extra_status, status

    cached = status(_options(mirror))
    if cached.image:
        info = cached.image.info
        say(f"image      {cached.image.key}")
        say(f"kernel     {info.kernel_version}, built {info.kernel.built:%Y-%m-%d %H:%M}")
        say(f"           by {info.kernel.compiler}")
        say(f"root tree  Debian {info.suite}, {len(info.packages)} packages")
        for name, layer in cached.layers.items():
            say(f"layer      {name}: {_layer(layer)}")
        say(f"programs   {_programs(cached.programs)}")
        say(f"size       {cached.size_bytes / 1e6:.0f} MB in {cached.path}")
    else:
        say(f"not built: {', '.join(cached.missing)}; `headway image build` builds it")
    say(f"toolchain  {described_toolchain(cached.toolchain)}")
    if cached.other:
        say(f"unused     {cached.other_size_bytes / 1e6:.0f} MB of {len(cached.other)} others")
    for extra in EXTRAS.values():
        say(f"extra      {_described(extra_status(extra))}")


@app.command("verify", cls=OneCommand)
def verify_command(mirror: Mirror = None) -> None:
    """Read the whole image, and find what was changed since it was built.

    Exit status 1 if a part is damaged.
    """
    from headway.image.verify import verify

    verifications = verify(_options(mirror))
    for verification in verifications:
        state = (
            verification.words
            if verification.damaged
            else f"{verification.entry.name}: as it was built"
        )
        say(
            state
            if verification.is_sealed
            else f"{verification.entry.name}: of an earlier Headway; hashed now"
        )
    if not verifications:
        raise HeadwayError("there is no image; `headway image build` builds it")
    if any(verified.damaged for verified in verifications):
        raise typer.Exit(EXIT_FAILED)


@app.command("export", cls=OneCommand)
def export_command(
    file: Annotated[Path, typer.Argument(help="The file: .tar, or .tar.gz, which is compressed.")],
) -> None:
    """Write the lab image, its layers and the extras to a file, for another machine or a cache."""
    from headway.image import shown_progress, status
    from headway.image.archive import export_image
    from headway.lab.ready import ready_image

    image = ready_image()
    with shown_progress() as progress:
        additions = [part.entry for part in status().layout.additions.values() if part.info()]
        size = export_image(image, file, progress, additions)
    say(f"{file}: {size / 1e6:.0f} MB")


@app.command("import", cls=OneCommand)
def import_command(
    file: Annotated[Path, typer.Argument(help="A file that `image export` wrote.")],
) -> None:
    """Take the lab image and the extras from a file that you trust."""
    from headway.image import shown_progress
    from headway.image.archive import import_image, lacking

    with shown_progress() as progress:
        imported = import_image(file, progress)
    for name in imported.known:
        say(f"{name} was there")
    for name in imported.new:
        say(f"{name} is new")
    if missing := lacking():
        say(
            f"This Headway also needs {', '.join(missing)}, which the file lacks; "
            "`headway image build` makes the rest"
        )


@app.command("add", cls=OneCommand)
def add_command(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of the extra; `image status` lists them.",
            metavar="NAME",
            autocompletion=suggest.extras,
        ),
    ],
) -> None:
    """Compile an optional program for labs, unless it is cached."""
    from headway.image import add_extra, find_extra, shown_progress

    extra = find_extra(name)
    with shown_progress() as progress:
        installed = add_extra(extra, progress)
    say(
        f"{extra.name} {extra.version} is ready, compiled with go {installed.go_version} "
        f"({installed.directory})"
    )


@app.command("remove", cls=OneCommand)
def remove_command() -> None:
    """Remove the lab image, its extras and what compiles them from the cache."""
    from headway.image import ImageOptions, remove, remove_extras

    freed = remove(ImageOptions.from_environment()) + remove_extras()
    say(f"{freed / 1e6:.0f} MB freed")


def described_toolchain(toolchain: Toolchain | None) -> str:
    """What compiles kernels and Headway's own programs."""
    if toolchain is None:
        return "not here; Headway fetches it when it compiles something"
    return f"{toolchain.compiler}, Rust {toolchain.rust}, of Debian {toolchain.info.suite}"


def _layer(layer: CachedLayer) -> str:
    info, name = layer.info(), layer.inputs.name
    if info is None:
        return f"not here; a study that needs it fetches it, or `headway image build {name}`"
    size = directory_size(layer.entry)
    packages = counted(len(info.packages), "package")
    return f"{packages}, {size / 1e6:.0f} MB, key {layer.key.rpartition('-')[2]}"


def _programs(native: NativeInfo | None) -> str:
    if native is None:
        return "not here but for the agent; a study that needs them compiles them, or `headway image build headway`"
    return f"{native.version}: {', '.join(native.programs) or 'none'}"


def _described(extra_status: ExtraStatus) -> str:
    extra = extra_status.extra
    if extra_status.installed:
        state = f"compiled with go {extra_status.installed.go_version}"
    elif extra_status.obstacle:
        state = f"not installed: {extra_status.obstacle}"
    else:
        state = f"not installed; `headway image add {extra.name}` compiles it"
    return f"{extra.name} {extra.version} ({extra.what}): {state}"


def _options(mirror: str | None) -> ImageOptions:
    from dataclasses import replace

    from headway.image import ImageOptions

    options = ImageOptions.from_environment()
    return replace(options, mirror=mirror) if mirror else options
