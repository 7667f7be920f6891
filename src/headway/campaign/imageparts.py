"""Moving what labs boot to another machine: its parts, whether they are there, and their contents."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from headway.cache import EntryDirectory, cache_directory, digest
from headway.foreign.names import plain
from headway.foreign.tars import unpack_tar
from headway.image import Image, InstalledExtra
from headway.image.infos import INFO_FILE
from headway.image.outsidefiles import STORE, outside_files
from headway.image.outsideroot import ROOTS, outside_root
from headway.study.user_programs import OutsideProgram

_TELLING = ("key", "version", "packages")
"""What an entry's description says of its content; the rest is when and where it came from."""


@dataclass(frozen=True)
class ImagePart:
    """An entry of a cache that labs need.

    Attributes:
        store: the cache's directory that holds it.
        name: the entry's name where it was built.
        identity: equal for equal contents.
    """

    store: str
    name: str
    identity: str

    def __post_init__(self) -> None:
        for name in (self.store, self.name, self.received_name):
            plain(name)

    def place(self) -> Path | None:
        """Where this machine's cache has it: as it was built here, or received; None if not."""
        store = self._store()
        for name in (self.name, self.received_name):
            entry = store.entry(name)
            if entry.is_dir() and _identity(entry) == self.identity:
                return entry
        return None

    @property
    def received_name(self) -> str:
        """The entry's name where it was received."""
        return f"{self.name}-{self.identity}"

    def _store(self) -> EntryDirectory:
        return EntryDirectory(cache_directory() / self.store)

    def unpack(self, archive: Path) -> None:
        """Put it into this machine's cache, completely or not at all."""

        def fill(directory: Path) -> None:
            with tarfile.open(archive) as tar:
                unpack_tar(tar, directory)

        store = self._store()
        with store.locked():
            if self.place() is None:
                store.make(self.received_name, fill)


@dataclass(frozen=True)
class ImageParts:
    """What labs boot, in parts.

    Attributes:
        key: of the image.
        kernel: the kernel.
        root: the root tree.
        native: Headway's own programs.
        extras: optional programs, by name.
        outside: what programs from outside consist of.
    """

    key: str
    kernel: ImagePart
    root: ImagePart
    native: ImagePart
    extras: dict[str, ImagePart]
    outside: tuple[ImagePart, ...] = ()

    @classmethod
    def of(
        cls,
        image: Image,
        extras: dict[str, InstalledExtra],
        outside: Iterable[OutsideProgram] = (),
    ) -> ImageParts:
        """The parts of this machine's image and extras, and of programs from outside."""
        programs = tuple(outside)
        kept = [(STORE, outside_files(program).parent) for program in programs if program.files]
        kept += [
            (ROOTS, outside_root(program).parent) for program in programs if program.has_own_root
        ]
        return cls(
            key=image.key,
            kernel=_part("image", image.kernel.parent),
            root=_part(image.root.parent.parent.name, image.root.parent),
            native=_part("image", image.native.parent),
            extras={name: _part("extras", extra.directory) for name, extra in extras.items()},
            outside=tuple(_part(store, entry) for store, entry in dict.fromkeys(kept)),
        )

    @property
    def all(self) -> tuple[ImagePart, ...]:
        return (self.kernel, self.root, self.native, *self.extras.values(), *self.outside)

    def missing(self) -> tuple[ImagePart, ...]:
        """Those that this machine's cache does not have."""
        return tuple(part for part in self.all if part.place() is None)

    def image(self) -> Image:
        """The image in this machine's cache, which has all parts."""
        kernel, root, native = (_present(part) for part in (self.kernel, self.root, self.native))
        image = Image.of(kernel, root, native, self.key)
        assert image is not None, "its parts are present, so they are described"
        return image

    def extra_directories(self) -> dict[str, Path]:
        """Directories of the extras in this machine's cache, which has all parts."""
        return {name: _present(part) for name, part in self.extras.items()}


def pack(entry: Path, chunk_bytes: int, send: Callable[[bytes], None]) -> None:
    """Hand out an entry's contents as a tar archive, in chunks."""
    chunks = _Chunks(chunk_bytes, send)
    with tarfile.open(fileobj=chunks, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        tar.add(entry, arcname=".")
    chunks.finish()


class _Chunks(io.RawIOBase):
    """A file whose contents are sent on, so many bytes at a time."""

    def __init__(self, size: int, send: Callable[[bytes], None]) -> None:
        self._size = size
        self._send = send
        self._held = bytearray()

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Add to the file."""
        self._held += data
        while len(self._held) >= self._size:
            self._send(bytes(self._held[: self._size]))
            del self._held[: self._size]
        return len(data)

    def finish(self) -> None:
        """Send what is left."""
        if self._held:
            self._send(bytes(self._held))
            self._held.clear()


def _part(store: str, entry: Path) -> ImagePart:
    return ImagePart(store, entry.name, _identity(entry))


def _identity(entry: Path) -> str:
    """A key of an entry's content: of what its description tells, or of its files."""
    try:
        info = json.loads((entry / INFO_FILE).read_bytes())
    except FileNotFoundError:
        return digest(*(part for file in sorted(entry.iterdir()) for part in _content(file)))
    except ValueError:
        return ""
    telling = {key: info.get(key) for key in _TELLING}
    return digest(json.dumps(telling, sort_keys=True))


def _content(file: Path) -> tuple[str, bytes]:
    return file.name, file.read_bytes()


def _present(part: ImagePart) -> Path:
    place = part.place()
    assert place is not None, f"{part.name} is not in the cache"
    return place
