"""Root trees: made of an image's layers, or copied; everything in them belongs to the user who makes them."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import os
import shutil
import tarfile
from collections.abc import Collection
from pathlib import Path
from typing import IO

from headway.containers.files import DAMAGE, Files, files_of
from headway.containers.image import ContainerImage, Layer
from headway.containers.paths import removed, resolved
from headway.errors import HeadwayError, WrongInputError
from headway.foreign.bounds import BLOCK_BYTES, LAYERS, Budget
from headway.foreign.names import MOST_PATH_BYTES, below, plain
from headway.foreign.shown import quoted

_HIDES, _HIDES_ALL, _OF_AUFS = ".wh.", ".wh..wh..opq", ".wh..wh."
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_GZIP, _XZ, _BZIP2 = b"\x1f\x8b", b"\xfd7zXZ", b"BZh"
_Readable = IO[bytes] | io.RawIOBase
_Opened = IO[bytes] | gzip.GzipFile | lzma.LZMAFile | bz2.BZ2File
_CHUNK = 1 << 20
_OF_THE_LAYER = frozenset(
    (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.EINVAL)
)
"""What the system says of names and places that cannot be; all else is said of the machine."""


def unpack(image: ContainerImage, root: Path) -> None:
    """Make the root tree of an image.

    Owners, devices and privileges are left aside: a lab's programs are root, and it has its own devices.

    Args:
        image: the image.
        root: an empty directory.

    Raises:
        WrongInputError: a layer is damaged, reaches out of the tree, or holds too much.
    """
    budget = LAYERS.budget(_size_bytes(image.source))
    with files_of(image.source) as files:
        for number, layer in enumerate(image.layers, start=1):
            try:
                _apply(files, layer, root, budget)
            except HeadwayError as error:
                raise WrongInputError(f"its layer {number}: {error}") from None
            except (*DAMAGE, OSError) as error:
                if _is_of_the_machine(error):
                    raise
                raise WrongInputError(f"its layer {number} is damaged: {error}") from None


def _size_bytes(source: Path) -> int:
    """How long an image is, in a file or a directory."""
    files = source.rglob("*") if source.is_dir() else (source,)
    return sum(file.stat().st_size for file in files if file.is_file())


def _is_of_the_machine(error: Exception) -> bool:
    """Whether a tree cannot be written, such as for want of space, whatever a layer holds."""
    named = isinstance(error, OSError) and error.filename is not None
    return named and getattr(error, "errno", None) not in _OF_THE_LAYER


def copy_tree(source: Path, root: Path) -> None:
    """Make a root tree like another one, with its links as they are.

    Raises:
        WrongInputError: a file cannot be read.
    """
    for parent, directories, names in os.walk(source):
        place = root / Path(parent).relative_to(source)
        for name in (*directories, *names):
            path = Path(parent, name)
            if path.is_symlink():
                (place / name).symlink_to(path.readlink())
            elif path.is_dir():
                (place / name).mkdir()
            elif path.is_file():
                _copy(path, place / name)


def tree_digest(source: Path, *, besides: Collection[str] = ()) -> str:
    """Equal for trees that are copied to equal ones, but for directories of certain names.

    Raises:
        WrongInputError: a file cannot be read.
    """
    state = hashlib.sha256()
    for parent, directories, names in os.walk(source):
        directories[:] = sorted(name for name in directories if name not in besides)
        for path in (Path(parent, name) for name in sorted((*directories, *names))):
            text = f"{path.relative_to(source)}\0{_kind(path)}\0"
            state.update(text.encode(errors="surrogateescape"))
    return f"sha256:{state.hexdigest()}"


def _kind(path: Path) -> str:
    """What of a file or directory makes a tree another one."""
    if path.is_symlink():
        return f"link {path.readlink()}"
    if not path.is_file():
        return "directory" if path.is_dir() else "other"
    try:
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise WrongInputError(f"{path}: cannot be read: {error.strerror}") from None
    return f"{_mode(path.stat().st_mode):o} {digest}"


def _copy(path: Path, place: Path) -> None:
    try:
        shutil.copyfile(path, place)
    except PermissionError:
        raise WrongInputError(f"{path}: cannot be read") from None
    words = path.stat()
    _complete(place, words.st_mode, words.st_mtime)


def _mode(mode: int) -> int:
    return 0o755 if mode & 0o111 else 0o644


def _complete(place: Path, mode: int, mtime: float) -> None:
    """Give a file its time, by which Python knows what it compiled, and a mode that everyone can read."""
    place.chmod(_mode(mode))
    os.utime(place, (mtime, mtime))


class _Digested(io.RawIOBase):
    """A file that is read once, from its beginning to its end and within a budget, and its digest."""

    def __init__(self, file: _Opened, budget: Budget) -> None:
        self._file = file
        self._budget = budget
        self._state = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._budget.take(len(data))
        self._state.update(data)
        return data

    def digest(self) -> str:
        """Of all of it."""
        while self.read(_CHUNK):
            pass
        return f"sha256:{self._state.hexdigest()}"


def add_archive(
    content: _Readable, root: Path, *, merges: bool = False, budget: Budget | None = None
) -> None:
    """Add what a tar archive holds to a tree, or take from that what the archive says.

    Args:
        content: the archive, not compressed; it is read once.
        root: the tree.
        merges: a directory of the archive does not take the place of a link to one, as in Debian's packages.
        budget: what the tree may still take up; None of an archive that is trusted.

    Raises:
        TarError: it is no archive.
        WrongInputError: it reaches out of the tree, or is too much for the budget.
    """
    changes = _Changes(root, merges)
    with tarfile.open(fileobj=content, mode="r|") as tar:
        while (member := tar.next()) is not None:
            tar.members.clear()  # type: ignore[attr-defined]  # all of them would be in memory
            if budget is not None:
                budget.take(max(BLOCK_BYTES, member.size if member.issparse() else 0))
            changes.add(member, tar)


def _apply(files: Files, layer: Layer, root: Path, budget: Budget) -> None:
    with files.open(layer.file) as packed:
        content = _Digested(_uncompressed(packed), budget)
        add_archive(content, root, budget=budget)
        if content.digest() != layer.digest:
            raise WrongInputError(
                "it has another digest than the configuration says: it is damaged"
            )


def _uncompressed(packed: IO[bytes]) -> _Opened:
    begins = packed.read(len(_XZ))
    packed.seek(0)
    if begins.startswith(_ZSTANDARD):
        raise WrongInputError("it is compressed with zstd: save it uncompressed, or with gzip")
    if begins.startswith(_GZIP):
        return gzip.GzipFile(fileobj=packed)
    if begins.startswith(_BZIP2):
        return bz2.BZ2File(packed)
    return lzma.LZMAFile(packed) if begins == _XZ else packed


class _Changes:
    """What a layer does to the tree of those below it; see OCI's specification of layers.

    Nothing is written through a link that leads elsewhere than inside the tree: directories are looked up
    as a program with this root would, and what is written takes the place of what was there.
    """

    def __init__(self, root: Path, merges: bool) -> None:
        self._root = root
        self._merges = merges
        self._made: set[Path] = set()

    def add(self, member: tarfile.TarInfo, tar: tarfile.TarFile) -> None:
        """Make one change."""
        path = below(member.name)
        if not path.name:
            return
        directory = resolved(self._root, path.parent)
        directory.mkdir(parents=True, exist_ok=True)
        if path.name == _HIDES_ALL:
            self._hide_all(directory)
        elif path.name.startswith(_HIDES) and not path.name.startswith(_OF_AUFS):
            removed(directory / plain(path.name.removeprefix(_HIDES), member.name))
        elif not path.name.startswith(_HIDES):
            self._make(member, directory / path.name, tar)

    def _hide_all(self, directory: Path) -> None:
        """Remove what lower layers have below a directory, and not what this one has."""
        for entry in list(directory.iterdir()):
            if entry not in self._made:
                removed(entry)
            elif entry.is_dir() and not entry.is_symlink():
                self._hide_all(entry)

    def _make(self, member: tarfile.TarInfo, place: Path, tar: tarfile.TarFile) -> None:
        self._made |= {place, *place.parents}
        if member.isdir() and self._is_directory(place):
            return
        target = self._linked(member) if member.islnk() else None
        if target == place:
            return
        removed(place)
        if member.isdir():
            place.mkdir()
        elif member.issym():
            place.symlink_to(_link_target(member))
        elif target is not None:
            place.hardlink_to(target) if not target.is_symlink() else place.symlink_to(
                target.readlink()
            )
        elif (content := tar.extractfile(member)) is not None:
            with place.open("xb") as file:
                shutil.copyfileobj(content, file, _CHUNK)
            _complete(place, member.mode, member.mtime)

    def _is_directory(self, place: Path) -> bool:
        if place.is_symlink():
            inside = place.relative_to(self._root)
            return self._merges and resolved(self._root, str(inside)).is_dir()
        return place.is_dir()

    def _linked(self, member: tarfile.TarInfo) -> Path:
        """The file that a hard link is another name of."""
        target = resolved(self._root, member.linkname, last=False)
        if not target.is_symlink() and not target.is_file():
            raise WrongInputError(
                f"{quoted(member.name)} is a link to {quoted(member.linkname)}, which is not there"
            )
        return target


def _link_target(member: tarfile.TarInfo) -> str:
    """Where a symbolic link leads, which may be anywhere: nothing is written through it."""
    target = member.linkname
    if not target or "\0" in target or len(os.fsencode(target)) > MOST_PATH_BYTES:
        raise WrongInputError(
            f"{quoted(member.name)} is a link to {quoted(target)}, which no link can lead to"
        )
    return target
