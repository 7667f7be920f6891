"""A container image in a file or directory: which one it is, its layers, and how its program is started."""

from __future__ import annotations

import hashlib
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from headway.containers.documents import (
    Descriptor,
    ImageConfiguration,
    ImageManifest,
    ImageStart,
    Index,
    Saved,
    SavedImages,
    read,
)
from headway.containers.paths import resolved
from headway.errors import WrongInputError
from headway.foreign.bounds import BLOCK_BYTES, DOCUMENT_BYTES, LAYERS, Budget
from headway.foreign.names import below

_ARCHITECTURE = "amd64"
_SAVED, _LAYOUT, _INDEX = "manifest.json", "oci-layout", "index.json"
_DIGEST = "sha256:"
DAMAGE = (
    *(tarfile.TarError, EOFError, KeyError, zlib.error, lzma.LZMAError),
    # What tarfile ends with at numbers that are none, and at headers of headers.
    *(ValueError, OverflowError, IndexError, RecursionError),
)
"""What reading a tar archive of others may end with."""
_SHOWN = 19


class Files:
    """The files of an archive or a directory, by their names."""

    def __init__(self, find: Callable[[str], IO[bytes] | None]) -> None:
        self._find = find

    def __contains__(self, name: str) -> bool:
        found = self._find(str(below(name)))
        if found is not None:
            found.close()
        return found is not None

    def open(self, name: str) -> IO[bytes]:
        """Open one.

        Raises:
            WrongInputError: it is not there.
        """
        found = self._find(str(below(name)))
        if found is None:
            raise WrongInputError(f"lacks {name}, which it says that it consists of: it is cut off")
        return found

    def content(self, name: str, digest: str = "") -> bytes:
        """Read one, whose digest has to be right if it is known."""
        with self.open(name) as opened:
            data = opened.read(DOCUMENT_BYTES + 1)
        if len(data) > DOCUMENT_BYTES:
            raise WrongInputError(f"its {name} has more than {DOCUMENT_BYTES >> 20} MiB")
        if digest and _DIGEST + hashlib.sha256(data).hexdigest() != digest:
            raise WrongInputError(
                f"its {name} is damaged: it has another digest than its name says"
            )
        return data


@dataclass(frozen=True)
class Layer:
    """Changes of a tree: a file's name, and the digest of what it holds uncompressed."""

    file: str
    digest: str


@dataclass(frozen=True)
class ContainerImage:
    """What an image consists of.

    Attributes:
        source: the archive or directory.
        digest: of its configuration, which has the digests of its layers: what Docker calls the image's ID.
        layers: the lowest first.
        argv: how its program is started, if it says so.
        environment: of its program.
        directory: where its program begins.
    """

    source: Path
    digest: str
    layers: tuple[Layer, ...]
    argv: tuple[str, ...]
    environment: dict[str, str]
    directory: str


@contextmanager
def files_of(source: Path) -> Iterator[Files]:
    """The files of an archive or a directory.

    Raises:
        WrongInputError: it is neither, or damaged.
    """
    if source.is_dir():

        def find(name: str) -> IO[bytes] | None:
            file = resolved(source, name)
            return file.open("rb") if file.is_file() else None

        yield Files(find)
        return
    try:
        if not source.is_file() or not tarfile.is_tarfile(source):
            raise WrongInputError("is neither a directory nor a tar archive")
        with tarfile.open(source) as tar:
            members = _members(tar, LAYERS.budget(source.stat().st_size))
            yield Files(lambda name: tar.extractfile(members[name]) if name in members else None)
    except DAMAGE as error:
        raise WrongInputError(f"is cut off or damaged: {error}") from None


def _members(tar: tarfile.TarFile, budget: Budget) -> dict[str, tarfile.TarInfo]:
    members = {}
    for one in tar:
        budget.take(max(BLOCK_BYTES, one.size))
        if not one.isdir():
            members[str(below(one.name))] = one
    return members


def is_container(source: Path) -> bool:
    """Whether a directory holds an image, and is not a root tree itself."""
    return any((source / name).is_file() for name in (_LAYOUT, _SAVED))


def read_image(source: Path) -> ContainerImage:
    """Read which image an archive or directory holds.

    Args:
        source: a tar archive or a directory, as ``docker save`` writes it or an OCI layout.

    Raises:
        WrongInputError: it holds none, several, one for another architecture, or a part is missing.
    """
    with files_of(source) as files:
        if _SAVED in files:
            digest, found, names = _saved(files)
        elif _LAYOUT in files or _INDEX in files:
            digest, found, names = _laid_out(files)
        else:
            raise WrongInputError(
                f"holds no image: it has neither {_SAVED}, as `docker save` writes it, nor {_INDEX}, as "
                "an OCI layout has it (a root tree has to be a directory)"
            )
        for name in names:
            files.open(name).close()
    _check_platform(found.architecture, found.os)
    if len(found.rootfs.digests) != len(names):
        raise WrongInputError(
            f"has {len(names)} layers, and its configuration speaks of {len(found.rootfs.digests)}"
        )
    layers = tuple(map(Layer, names, found.rootfs.digests))
    return _described(source, digest, layers, found.config or ImageStart())


def _described(
    source: Path, digest: str, layers: tuple[Layer, ...], told: ImageStart
) -> ContainerImage:
    variables = (one.partition("=") for one in told.environment or ())
    return ContainerImage(
        source=source,
        digest=digest,
        layers=layers,
        argv=(*(told.entrypoint or ()), *(told.command or ())),
        environment={name: value for name, _, value in variables},
        directory=told.directory or "/",
    )


def _saved(files: Files) -> tuple[str, ImageConfiguration, tuple[str, ...]]:
    """The image that ``docker save`` or ``podman save`` wrote: digest, configuration, files of layers."""
    data = b'{"images": %s}' % files.content(_SAVED)
    images = {image.config: image for image in read(SavedImages, data, _SAVED).images}
    if len(images) != 1:
        raise _several([_name_of(image) for image in images.values()])
    (saved,) = images.values()
    data = files.content(saved.config)
    digest = _DIGEST + hashlib.sha256(data).hexdigest()
    return digest, read(ImageConfiguration, data, saved.config), saved.layers


def _name_of(saved: Saved) -> str:
    return ", ".join(saved.names or ()) or saved.config


def _laid_out(files: Files) -> tuple[str, ImageConfiguration, tuple[str, ...]]:
    """The image of an OCI layout: digest, configuration, files of layers."""
    index = read(Index, files.content(_INDEX), _INDEX)
    fitting = {one.digest: one for one in _fitting(files, index)}
    if len(fitting) != 1:
        raise _several([one.name for one in fitting.values()])
    (chosen,) = fitting
    name = _blob(chosen)
    manifest = read(ImageManifest, files.content(name, chosen), name)
    name = _blob(manifest.config.digest)
    config = read(ImageConfiguration, files.content(name, manifest.config.digest), name)
    return manifest.config.digest, config, tuple(_blob(layer.digest) for layer in manifest.layers)


def _fitting(files: Files, index: Index) -> list[Descriptor]:
    """Those images of an index, and of the indices in it, that are for labs, as far as the indices tell.

    Raises:
        WrongInputError: there are images, and none is.
    """
    images = [manifest for manifest in index.manifests if not manifest.is_no_image]
    others = [
        image for image in images if image.platform and image.platform.architecture != _ARCHITECTURE
    ]
    fitting = []
    for one in images:
        name = _blob(one.digest)
        if one in others:
            continue
        data = files.content(name, one.digest)
        if b'"manifests"' in data:
            fitting += _fitting(files, read(Index, data, name))
        else:
            fitting.append(one)
    if others and not fitting:
        told = (one.platform.architecture for one in others if one.platform)
        _check_platform(" and ".join(dict.fromkeys(told)), "")
    return fitting


def _check_platform(architecture: str, system: str) -> None:
    if architecture not in ("", _ARCHITECTURE) or system not in ("", "linux"):
        what = " ".join(one for one in (system, architecture) if one)
        raise WrongInputError(
            f"is for {what}, and labs are linux {_ARCHITECTURE}: build it with "
            f"--platform linux/{_ARCHITECTURE}"
        )


def _several(names: list[str]) -> WrongInputError:
    if not names:
        return WrongInputError("holds no image")
    shown = ", ".join(name[:_SHOWN] if name.startswith(_DIGEST) else name for name in names)
    return WrongInputError(
        f"holds {len(names)} images ({shown}), and a program has one: save it alone"
    )


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"
