"""`headway record`: a site from the web, or from what another tool recorded, into an archive."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from headway.cli.terminal import notes, output
from headway.errors import WrongInputError
from headway.study.workload import Device

_SUFFIX = ".warc.gz"


def record_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="URL that Chromium loads, or a WARC, HAR or mitmproxy flow file.", metavar="SOURCE"
        ),
    ],
    out: Annotated[Path, typer.Option(help="Archive to write, FILE.warc.gz.", metavar="FILE")],
    name: Annotated[
        str | None, typer.Option(help="Name of the site; default: the archive's.", metavar="NAME")
    ] = None,
    device: Annotated[
        Device, typer.Option(help="What the browser pretends to be.")
    ] = Device.DESKTOP,
    browser: Annotated[
        Path | None,
        typer.Option(help="Chromium that records; default: one in PATH.", metavar="PATH"),
    ] = None,
) -> None:
    """Record a page, or import a recording, into an archive that studies can replay.

    Of several sources, the first one's page is the site's page.
    """
    # Imported here so that other commands start sooner.
    from headway.web.recording import merged, site_name
    from headway.web.sources import Browsing, record
    from headway.web.warc import write_archive

    if not out.name.endswith(_SUFFIX):
        raise WrongInputError(f"must end in {_SUFFIX}", where=f"--out {out}")
    if not out.parent.is_dir():
        raise WrongInputError("there is no such directory", where=f"--out {out}")
    browsing = Browsing(device, browser)
    recording = merged(name or site_name(out), [record(source, browsing) for source in sources])
    write_archive(recording.site, out, recorded=datetime.now(UTC))
    for note in recording.notes:
        notes.print(note, markup=False, soft_wrap=True)
    site = recording.site
    output.print(
        f"{site.page}: responses {len(site.exchanges)}, hosts {len(site.hosts)}, "
        f"{site.size_bytes / 1e3:.1f} kB, in {out}",
        markup=False,
        soft_wrap=True,
    )
