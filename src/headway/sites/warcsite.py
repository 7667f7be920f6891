"""Sites from what WARC files hold."""

from __future__ import annotations

from pathlib import Path

from headway.sites.recording import Recording, assembled, site_name
from headway.sites.urls import as_asked
from headway.sites.warc_records import Archive, read_records


def read_warc(path: Path) -> Recording:
    """The site of a WARC or ARC file, Headway's own or another tool's.

    Raises:
        WrongInputError: it cannot be read, is damaged, or holds no page.
    """
    return warc_recording(read_records(path), path)


def warc_recording(archive: Archive, path: Path, page: str | None = None) -> Recording:
    """The site of what an archive holds.

    Args:
        archive: what it holds.
        path: of its file.
        page: URL that is loaded, if the archive does not tell it; None if nobody does.

    Raises:
        WrongInputError: it holds no page.
    """
    return assembled(
        archive.name or site_name(path),
        archive.captured,
        source=str(path),
        description=archive.description or f"Imported from {path.name}.",
        page=as_asked(archive.page or page or ""),
        lost=archive.lost,
    )
