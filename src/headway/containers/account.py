"""An account of a container image in a file or directory, whether labs can run it or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.containers.documents import ImageStart, Platform
from headway.containers.files import Files, files_of
from headway.containers.forms import KeptImage, form_of
from headway.containers.image import fits_labs, read_image
from headway.errors import WrongInputError
from headway.foreign.shown import printable

_COMPRESSIONS = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ", "xz"),
    (b"BZh", "bzip2"),
)
_LONGEST = 200


@dataclass(frozen=True)
class LayerAccount:
    """A layer as it is kept.

    Attributes:
        digest: of what it holds uncompressed.
        size_bytes: of its file.
        compression: ``gzip``, ``zstd``, ``xz``, ``bzip2``, or ``none``.
    """

    digest: str
    size_bytes: int
    compression: str


@dataclass(frozen=True)
class ImageAccount:
    """Facts about an image.

    Attributes:
        form: how it is kept: ``docker save``, ``OCI layout``, ``skopeo dir``.
        names: of all images there.
        platforms: that they run on, as ``linux amd64``.
        digest: of the image's configuration.
        created: when it was made, as it says; empty if it does not.
        argv: entry point and command.
        directory: where its program begins.
        user: whom it runs as; empty for root.
        ports: that it says it listens at, as ``443/udp``.
        environment: number of variables.
        layers: the lowest first.
        lacks: why labs cannot run it; empty if they can.
    """

    form: str
    names: tuple[str, ...]
    platforms: tuple[str, ...]
    digest: str
    created: str
    argv: tuple[str, ...]
    directory: str
    user: str
    ports: tuple[str, ...]
    environment: int
    layers: tuple[LayerAccount, ...]
    lacks: str

    @property
    def size_bytes(self) -> int:
        """Of all layers as they are kept."""
        return sum(layer.size_bytes for layer in self.layers)


def read_image_account(source: Path) -> ImageAccount:
    """What an archive or a directory holds; of several images, the first that labs could run, or else the first.

    Raises:
        WrongInputError: it holds none, or is damaged.
    """
    with files_of(source) as files:
        form = form_of(files)
        if not form.images:
            raise WrongInputError("holds no image")
        parts = _chosen(form.images).manifest()
        layers = tuple(
            _layer(files, name, digest)
            for name, digest in zip(parts.layers, parts.config.rootfs.digests, strict=False)
        )
    config = parts.config
    start = config.config or ImageStart()
    own = Platform(architecture=config.architecture, os=config.os)
    platforms = [image.platform for image in form.images if image.platform] or [own]
    return ImageAccount(
        form=form.name,
        names=tuple(_shown(name) for image in form.images for name in image.names),
        platforms=tuple(
            dict.fromkeys(
                _shown(f"{platform.os} {platform.architecture}") for platform in platforms
            )
        ),
        digest=parts.digest,
        created=_shown(config.created or ""),
        argv=tuple(_shown(word) for word in (*(start.entrypoint or ()), *(start.command or ()))),
        directory=_shown(start.directory or "/"),
        user=_shown(start.user or ""),
        ports=tuple(_shown(port) for port in start.ports or ()),
        environment=len(start.environment or ()),
        layers=layers,
        lacks=_lacks(source),
    )


def _chosen(images: tuple[KeptImage, ...]) -> KeptImage:
    fitting = (image for image in images if image.platform is None or fits_labs(image.platform))
    return next(fitting, images[0])


def _lacks(source: Path) -> str:
    try:
        read_image(source)
    except WrongInputError as error:
        return error.message
    return ""


def _layer(files: Files, name: str, digest: str) -> LayerAccount:
    with files.open(name) as opened:
        begins = opened.read(6)
    compression = next((text for mark, text in _COMPRESSIONS if begins.startswith(mark)), "none")
    return LayerAccount(_shown(digest), files.size_bytes(name), compression)


def _shown(text: str) -> str:
    return printable(text)[:_LONGEST].strip()
