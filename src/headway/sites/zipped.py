"""Recordings in ZIP files: HAR with its bodies beside it, as Playwright saves it, and WACZ."""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path, PurePosixPath

from headway.errors import WrongInputError
from headway.sites.captured import RecordedFile
from headway.sites.har_import import har_content
from headway.sites.warc_records import archive_of

ZIP_START = b"PK\x03\x04"
_WARC = (".warc", ".warc.gz")
_PAGES = "pages/pages.jsonl"


def read_zip(path: Path) -> RecordedFile:
    """What a ZIP file holds.

    Raises:
        WrongInputError: it is damaged, or holds neither HAR nor WARC files.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _imported(archive, path)
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise WrongInputError(
            f"damaged: its ZIP file cannot be read: {error}", where=str(path)
        ) from error


def _imported(archive: zipfile.ZipFile, path: Path) -> RecordedFile:
    names = archive.namelist()
    warcs = sorted(name for name in names if name.endswith(_WARC))
    hars = [name for name in names if name.endswith(".har")]
    if warcs:
        found = archive_of((archive.read(name) for name in warcs), path)
        return replace(found, page=_first_page(archive)) if _PAGES in names else found
    if len(hars) == 1:
        inside = PurePosixPath(hars[0]).parent

        def attached(name: str) -> bytes | None:
            member = str(inside / name)
            return archive.read(member) if member in names else None

        return har_content(archive.read(hars[0]), path, attached)
    if hars:
        message = f"it holds {len(hars)} HAR files; unpack it and name one, or several one after the other"
        raise WrongInputError(message, where=str(path))
    if any(name.startswith("raw/") for name in names):
        message = "a session of Fiddler, which can export it as HTTPArchive (.har)"
        raise WrongInputError(message, where=str(path))
    raise WrongInputError("a ZIP file without a HAR or WARC file in it", where=str(path))


def _first_page(archive: zipfile.ZipFile) -> str:
    """URL of the first page that a WACZ file lists; empty if it lists none."""
    for line in archive.read(_PAGES).decode(errors="replace").splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and isinstance(told.get("url"), str):
            return str(told["url"])
    return ""
