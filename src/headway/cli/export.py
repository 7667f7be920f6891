"""`headway export`: a study's results as one file to publish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from headway.cli.options import ResultsDirectory
from headway.cli.reading import reading
from headway.errors import WrongInputError
from headway.terminal import say


def export(
    directory: ResultsDirectory,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Archive to write, FILE.zip.", metavar="FILE")
    ],
    artifacts: Annotated[
        bool,
        typer.Option(
            "--artifacts",
            help="Add the files of every run, not only of those that the report shows.",
        ),
    ] = False,
    licence: Annotated[
        str | None,
        typer.Option(
            "--license",
            help="Licence of the results, such as https://creativecommons.org/licenses/by/4.0/.",
            metavar="URL",
        ),
    ] = None,
) -> None:
    """Write results to one archive, to publish them.

    It holds study, data, manifest, report and checksums, as an RO-Crate.
    """
    if licence and urlsplit(licence).scheme not in ("http", "https"):
        raise WrongInputError("is not a web address", where=f"--license {licence}")
    with reading(directory):
        from headway.report.archive import SUFFIX, write_archive

    if out.suffix != SUFFIX:
        raise WrongInputError(f"must end in {SUFFIX}", where=f"--out {out}")
    if not out.parent.is_dir():
        raise WrongInputError("there is no such directory", where=f"--out {out}")
    write_archive(directory, out, artifacts=artifacts, licence=licence)
    size = out.stat().st_size / 1e6
    say(f"{out}: {size:.1f} MB")
