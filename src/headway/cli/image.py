"""`headway image`: build, show and remove the lab image and what can be added to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from headway.image import (
    EXTRAS,
    ExtraStatus,
    ImageOptions,
    NativeInfo,
    RustToolchain,
    add_extra,
    extra_status,
    find_extra,
    remove,
    remove_extras,
    shown_progress,
    status,
)
from headway.image.archive import export_image, import_image, lacking
from headway.lab.ready import ready_image
from headway.terminal import output

app = typer.Typer(help="The lab image: kernel, root tree, extras.", no_args_is_help=True)

Mirror = Annotated[
    str | None,
    typer.Option(
        help="Address of a Debian archive; default: the one apt is configured with. "
        "Other commands take it from HEADWAY_MIRROR.",
        envvar="HEADWAY_MIRROR",
    ),
]


@app.command("build")
def build_command(mirror: Mirror = None) -> None:
    """Build the lab image, unless it is cached."""
    image = ready_image(_options(mirror))
    info = image.info
    output.print(
        f"The lab image is ready: kernel {info.kernel_version}, {len(info.packages)} packages of "
        f"Debian {info.suite}, Headway's own programs {info.native.version} ({image.path})",
        soft_wrap=True,
    )


@app.command("status")
def status_command(mirror: Mirror = None) -> None:
    """Show what is cached."""
    cached = status(_options(mirror))
    if cached.image:
        info = cached.image.info
        output.print(f"kernel     {info.kernel_version}, built {info.kernel.built:%Y-%m-%d %H:%M}")
        output.print(f"root tree  Debian {info.suite}, {len(info.packages)} packages")
        output.print(f"programs   {_programs(info.native)}", soft_wrap=True)
        output.print(
            f"size       {cached.size_bytes / 1e6:.0f} MB in {cached.path}", soft_wrap=True
        )
    else:
        missing = [
            name
            for name, there in (
                ("kernel", cached.kernel_built),
                ("root tree", cached.root_built),
                ("Headway's own programs", cached.native_built),
            )
            if not there
        ]
        output.print(f"not built: {', '.join(missing)}; `headway image build` builds it")
    output.print(f"rust       {described_rust(cached.rust)}", soft_wrap=True)
    if cached.other:
        output.print(
            f"unused     {cached.other_size_bytes / 1e6:.0f} MB of {len(cached.other)} others"
        )
    for extra in EXTRAS.values():
        output.print(f"extra      {_described(extra_status(extra))}", soft_wrap=True)


@app.command("export")
def export_command(
    file: Annotated[Path, typer.Argument(help="The file: .tar, or .tar.gz, which is compressed.")],
) -> None:
    """Write the lab image and the extras to a file, for another machine or a cache."""
    image = ready_image()
    with shown_progress() as progress:
        size = export_image(image, file, progress)
    output.print(f"{file}: {size / 1e6:.0f} MB", markup=False, soft_wrap=True)


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="A file that `image export` wrote.")],
) -> None:
    """Take the lab image and the extras from a file that you trust."""
    with shown_progress() as progress:
        found = import_image(file, progress)
    for name in found.known:
        output.print(f"{name} was there", markup=False)
    for name in found.new:
        output.print(f"{name} is new", markup=False)
    if missing := lacking():
        output.print(
            f"This Headway needs {', '.join(missing)} besides, which is not in the file; "
            "`headway image build` makes what is missing",
            markup=False,
            soft_wrap=True,
        )


@app.command("add")
def add_command(
    name: Annotated[str, typer.Argument(help="Name of the extra; `image status` lists them.")],
) -> None:
    """Compile an optional program for labs, unless it is cached."""
    extra = find_extra(name)
    with shown_progress() as progress:
        installed = add_extra(extra, progress)
    output.print(
        f"{extra.name} {extra.version} is ready, compiled with go {installed.go_version} "
        f"({installed.directory})",
        soft_wrap=True,
    )


@app.command("remove")
def remove_command() -> None:
    """Remove the lab image, its extras and what compiles them from the cache."""
    freed = remove(ImageOptions.from_environment()) + remove_extras()
    output.print(f"{freed / 1e6:.0f} MB freed")


def described_rust(rust: RustToolchain | None) -> str:
    """Which toolchain compiles Headway's own programs."""
    if rust is None:
        return "none in PATH that is new enough; Debian's is taken when it is needed"
    return f"{rust.version}, {rust.origin}"


def _programs(native: NativeInfo) -> str:
    return f"{native.version}: {', '.join(native.programs) or 'none'}"


def _described(found: ExtraStatus) -> str:
    extra = found.extra
    if found.installed:
        state = f"compiled with go {found.installed.go_version}"
    elif found.obstacle:
        state = f"not installed: {found.obstacle}"
    else:
        state = f"not installed; `headway image add {extra.name}` compiles it"
    return f"{extra.name} {extra.version} ({extra.what}): {state}"


def _options(mirror: str | None) -> ImageOptions:
    options = ImageOptions.from_environment()
    return replace(options, mirror=mirror) if mirror else options
