"""Recordings in ZIP files: HAR with its bodies beside it, as Playwright saves it, and WACZ."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from headway.errors import WrongInputError
from headway.sites.har_import import har_recording
from headway.sites.recording import Recording
from headway.sites.warc_records import archive_of
from headway.sites.warcsite import warc_recording

ZIP_START = b"PK\x03\x04"
_WARC = (".warc", ".warc.gz")
_PAGES = "pages/pages.jsonl"


def read_zip(path: Path) -> Recording:
    """The site of a ZIP file.

    Raises:
        WrongInputError: it is damaged, holds neither HAR nor WARC files, or no page.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _recording(archive, path)
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise WrongInputError(
            f"damaged: its ZIP file cannot be read: {error}", where=str(path)
        ) from error


def _recording(archive: zipfile.ZipFile, path: Path) -> Recording:
    names = archive.namelist()
    warcs = sorted(name for name in names if name.endswith(_WARC))
    hars = [name for name in names if name.endswith(".har")]
    if warcs:
        read = archive_of((archive.read(name) for name in warcs), path)
        return warc_recording(read, path, _first_page(archive) if _PAGES in names else None)
    if len(hars) == 1:
        inside = PurePosixPath(hars[0]).parent

        def attached(name: str) -> bytes | None:
            member = str(inside / name)
            return archive.read(member) if member in names else None

        return har_recording(archive.read(hars[0]), path, attached)
    if hars:
        message = f"it holds {len(hars)} HAR files; unpack it and name one, or several one after the other"
        raise WrongInputError(message, where=str(path))
    if any(name.startswith("raw/") for name in names):
        message = "a session of Fiddler, which can export it as HTTPArchive (.har)"
        raise WrongInputError(message, where=str(path))
    raise WrongInputError("a ZIP file without a HAR or WARC file in it", where=str(path))


def _first_page(archive: zipfile.ZipFile) -> str | None:
    """URL of the first page that a WACZ file lists."""
    for line in archive.read(_PAGES).decode(errors="replace").splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and isinstance(told.get("url"), str):
            return str(told["url"])
    return None
