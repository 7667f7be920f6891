"""An image in a file, for another machine or a cache of CI: its parts and the extras, as one tar archive."""

from __future__ import annotations

import gzip
import itertools
import lzma
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.cache import EntryDirectory, cache_directory
from headway.errors import HeadwayError, WrongInputError
from headway.foreign.names import below
from headway.foreign.shown import quoted
from headway.foreign.tars import unpack_tar
from headway.image.extras import installed_extras
from headway.image.image import Image, Layout
from headway.image.options import ImageOptions
from headway.image.progress import BuildProgress, SilentProgress

_IMAGE, _EXTRAS = "image", "extras"
_END = "end"
"""The last member: without it an archive that was cut off between two of them would look whole."""
_DAMAGE = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
"""What reading a tar archive ends with, compressed or not, that is not whole."""
_PLAIN, _COMPRESSED = ".tar", ".tar.gz"


@dataclass(frozen=True)
class Imported:
    """What became of an archive's entries: those that are new, and those that were there."""

    new: tuple[str, ...]
    known: tuple[str, ...]


def export_image(
    image: Image, file: Path, progress: BuildProgress | None = None, additions: Sequence[Path] = ()
) -> int:
    """Write an image, and the extras that are installed, to a file.

    Args:
        image: the image, without layers.
        file: a tar archive, compressed if its name says so.
        progress: is told how it goes; by default nobody is.
        additions: entries of own programs, and of layers on its root tree.

    Returns:
        The file's size.

    Raises:
        WrongInputError: its name does not say what it is.
        HeadwayError: it cannot be written.
    """
    if not file.name.endswith((_PLAIN, _COMPRESSED)):
        raise WrongInputError(f"ends with {_PLAIN} or {_COMPRESSED}", where=str(file))
    progress = progress or SilentProgress()
    entries = [path.parent for path in (image.kernel, image.root, image.native)]
    parts = [(_IMAGE, path) for path in (*entries, *additions)]
    parts += [
        (_EXTRAS, installed_extra.directory) for installed_extra in installed_extras().values()
    ]
    partial = file.with_name(f".{file.name}.partial")
    try:
        with _created(partial, compressed=file.name.endswith(_COMPRESSED)) as tar:
            for store, entry in parts:
                progress.step(f"writing {entry.name}")
                tar.add(entry, arcname=f"{store}/{entry.name}")
            tar.addfile(tarfile.TarInfo(_END))
        partial.rename(file)
    except OSError as error:
        raise HeadwayError(f"{file} cannot be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
    return file.stat().st_size


def _created(file: Path, *, compressed: bool) -> tarfile.TarFile:
    """A new archive; its compression is fast, since whoever keeps it for long may compress it again."""
    if compressed:
        return tarfile.open(file, "w:gz", compresslevel=1, format=tarfile.PAX_FORMAT)
    return tarfile.open(file, "w", format=tarfile.PAX_FORMAT)


def import_image(file: Path, progress: BuildProgress | None = None) -> Imported:
    """Put an archive's entries into the cache, each completely or not at all.

    Args:
        file: an archive that `export_image` wrote, of this machine's own making or of one that is trusted.
        progress: is told how it goes; by default nobody is.

    Raises:
        WrongInputError: it is not such an archive.
        HeadwayError: the cache cannot be written to.
    """
    progress = progress or SilentProgress()
    new: list[str] = []
    known: list[str] = []
    try:
        if not tarfile.is_tarfile(file):
            raise WrongInputError("it is no tar archive, as `headway image export` writes it")
        with tarfile.open(file) as tar:
            for (store_name, name), members in itertools.groupby(_members(tar), _place):
                store = EntryDirectory(cache_directory() / store_name)
                progress.step(f"reading {name}")
                with store.locked(progress.note):
                    there = store.entry(name).is_dir()
                    (known if there else new).append(name)
                    if not there:
                        store.make(name, _Extraction(tar, members))
    except FileNotFoundError:
        raise WrongInputError("there is no such file", where=str(file)) from None
    except (*_DAMAGE, IsADirectoryError, WrongInputError) as error:
        raise WrongInputError(f"is no archive of an image: {error}", where=str(file)) from None
    except OSError as error:
        raise HeadwayError(f"{file} cannot be taken into the cache: {error}") from None
    return Imported(tuple(new), tuple(known))


def lacking(options: ImageOptions | None = None) -> list[str]:
    """What this Headway still needs of an image: entries that the cache does not have."""
    layout = Layout.of_package(options or ImageOptions.from_environment())
    return [part.name for part in layout.missing()]


@dataclass(frozen=True)
class _Extraction:
    """Fills an entry with its members, of which the first is its directory."""

    tar: tarfile.TarFile
    members: Iterable[tarfile.TarInfo]

    def __call__(self, directory: Path) -> None:
        unpack_tar(self.tar, directory, self.members, skipped=2)


def _members(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in tar:
        if member.name == _END:
            return
        if len(below(member.name).parts) < 2 or _place(member)[0] not in (_IMAGE, _EXTRAS):
            raise WrongInputError(f"it holds {quoted(member.name)}")
        yield member
    raise WrongInputError("it is cut off")


def _place(member: tarfile.TarInfo) -> tuple[str, str]:
    store, name, *_ = below(member.name).parts
    return store, name
