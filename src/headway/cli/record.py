"""`headway record`: a site from the web, or from what another tool recorded, into an archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.errors import WrongInputError
from headway.study.device import Device
from headway.terminal import note, say

_SUFFIX = ".warc.gz"


def record_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="URL that Chromium loads, or what another tool recorded: WARC, ARC, WACZ, HAR, mitmproxy's "
            "flows, Web Page Replay's archives, Mahimahi's directories.",
            metavar="SOURCE",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Archive to write, FILE.warc.gz.", metavar="FILE")],
    name: Annotated[
        str | None, typer.Option(help="Name of the site; default: the archive's.", metavar="NAME")
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(
            help="URL of the page that is loaded; default: the first page of the first source.",
            metavar="URL",
        ),
    ] = None,
    device: Annotated[
        Device, typer.Option(help="What the browser pretends to be.")
    ] = Device.DESKTOP,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="Record the server at ADDRESS:PORT as https://NAME, such as shop.test=127.0.0.1:8001; "
            "may be given several times.",
            metavar="NAME=ADDRESS:PORT",
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Accept certificates that nobody vouches for.")
    ] = False,
    browser: Annotated[
        Path | None,
        typer.Option(help="Chromium that records; default: one in PATH.", metavar="PATH"),
    ] = None,
) -> None:
    """Record a web page, or import a recording.

    Studies can replay the archive.
    """
    # Imported here so that help and completion need not wait for it.
    from datetime import UTC, datetime

    from headway.cli.site_tables import print_findings
    from headway.sites.hostmap import HostMaps
    from headway.sites.recording import site_name
    from headway.sites.sources import Browsing, record_site
    from headway.sites.warc import write_archive

    if not out.name.endswith(_SUFFIX):
        raise WrongInputError(f"must end in {_SUFFIX}", where=f"--out {out}")
    if not out.parent.is_dir():
        raise WrongInputError("there is no such directory", where=f"--out {out}")
    browsing = Browsing(device, browser, HostMaps.parse(maps or ()), insecure, page or "")
    recording = record_site(name or site_name(out), sources, browsing)
    write_archive(recording.site, out, recorded=datetime.now(UTC))
    for remark in recording.notes:
        note(remark)
    site = recording.site
    say(
        f"{site.page}: responses {len(site.exchanges)}, hosts {len(site.hosts)}, "
        f"{site.size_bytes / 1e3:.1f} kB, in {out}"
    )
    print_findings(str(out), site)
