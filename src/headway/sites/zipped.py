"""Recordings in ZIP files: HAR with its bodies beside it, as Playwright saves it, and WACZ."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from headway.errors import WrongInputError
from headway.foreign.bounds import RECORDING, Budget, TooMuchContentError
from headway.foreign.files import read_regular
from headway.sites.captured import RecordedFile
from headway.sites.har_import import har_content
from headway.sites.wacz import WaczPackage, package_of
from headway.sites.warc_records import archive_of

ZIP_START = b"PK\x03\x04"
_ARCHIVES = (".warc", ".warc.gz", ".arc", ".arc.gz")
_WACZ = ".wacz"
_READ_BYTES = 4096
"""At a time: of bzip2 and xz, Python decodes all that it reads."""
_DAMAGE = (
    *(zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, lzma.LZMAError),
    *(ValueError, OverflowError, IndexError, struct.error, OSError),
)
"""What reading a ZIP file of others may end with."""


def read_zip(path: Path) -> RecordedFile:
    """What a ZIP file holds.

    Raises:
        WrongInputError: it is damaged, or holds neither HAR nor WARC files.
    """
    try:
        data = read_regular(path)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _imported(_Members(archive, RECORDING.budget(len(data))), path)
    except TooMuchContentError as error:
        raise WrongInputError(error.message, where=str(path)) from None
    except _DAMAGE as error:
        raise WrongInputError(
            f"damaged: its ZIP file cannot be read: {error}", where=str(path)
        ) from error


class _Members:
    """What a ZIP file holds, read within a budget; a name that two have is the last one's."""

    def __init__(self, archive: zipfile.ZipFile, budget: Budget) -> None:
        self._archive = archive
        self.budget = budget
        self.names = list(dict.fromkeys(archive.namelist()))

    def read(self, name: str) -> bytes:
        """A member's content.

        Raises:
            TooMuchContentError: it is more than the budget has.
        """
        parts = []
        with self._archive.open(name) as member:
            while part := member.read(_READ_BYTES):
                self.budget.take(len(part))
                parts.append(part)
        return b"".join(parts)

    def package(self) -> WaczPackage:
        """What it is as a WACZ file."""
        archives = sorted(
            name
            for name in self.names
            if name.endswith(_ARCHIVES) and not _is_of_a_file_system(name)
        )
        return package_of(archives, self.names, self.read)


def _imported(archive: _Members, path: Path) -> RecordedFile:
    names = [name for name in archive.names if not _is_of_a_file_system(name)]
    hars = [name for name in names if name.endswith(".har")]
    if any(name.endswith((*_ARCHIVES, _WACZ)) for name in names):
        return _crawl(archive, path)
    if len(hars) == 1:
        inside = PurePosixPath(hars[0]).parent

        def attached(name: str) -> bytes | None:
            member = str(inside / name)
            return archive.read(member) if member in names else None

        return har_content(archive.read(hars[0]), path, attached)
    if hars:
        message = f"it holds {len(hars)} HAR files; unpack it and name one, or several one after the other"
        raise WrongInputError(message, where=str(path))
    raise WrongInputError("it has neither a HAR nor a WARC file in it", where=str(path))


def _crawl(archive: _Members, path: Path) -> RecordedFile:
    """What WARC files have that are in a ZIP file, or in the WACZ files that a collection has."""
    packages = [archive.package(), *_collected(archive)]
    contents = [content for package in packages for content in package.archives]
    file = archive_of(contents, path, archive.budget)
    notes = tuple(note for package in packages for note in package.faults)
    page = next((package.main for package in packages if package.main), None)
    if page is None:
        return replace(file, notes=notes)
    return replace(file, page=page.url, captured=page.first(file.captured), notes=notes)


def _collected(archive: _Members) -> Iterator[WaczPackage]:
    """The packages in a collection (profile ``multi-wacz-package``), one level deep."""
    for name in archive.names:
        if name.endswith(_WACZ) and not _is_of_a_file_system(name):
            with zipfile.ZipFile(io.BytesIO(archive.read(name))) as inner:
                yield _Members(inner, archive.budget).package()


def _is_of_a_file_system(name: str) -> bool:
    """Whether a member is what macOS puts beside files."""
    return name.startswith("__MACOSX/") or PurePosixPath(name).name.startswith("._")
