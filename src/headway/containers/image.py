"""A container image in a file or directory: which one it is, its layers, and how its program is started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.containers.documents import ImageStart, Platform
from headway.containers.files import files_of
from headway.containers.forms import MARKS, Form, KeptImage, form_of
from headway.errors import WrongInputError

_ARCHITECTURE = "amd64"


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


def is_container(source: Path) -> bool:
    """Whether a directory holds an image, and is not a root tree itself."""
    return any((source / name).is_file() for name in MARKS)


def read_image(source: Path) -> ContainerImage:
    """Read which image an archive or directory holds.

    Args:
        source: a tar archive or a directory, as ``docker save`` writes it or an OCI layout.

    Raises:
        WrongInputError: it holds none, several, one for another architecture, or a part is missing.
    """
    with files_of(source) as files:
        parts = only_image(form_of(files)).manifest()
        for name in parts.layers:
            files.open(name).close()
    config = parts.config
    _check_platform([Platform(architecture=config.architecture, os=config.os)])
    if len(config.rootfs.digests) != len(parts.layers):
        raise WrongInputError(
            f"has {len(parts.layers)} layers, and its configuration speaks of {len(config.rootfs.digests)}"
        )
    layers = tuple(map(Layer, parts.layers, config.rootfs.digests))
    return _described(source, parts.digest, layers, config.config or ImageStart())


def only_image(form: Form) -> KeptImage:
    """The image that is for labs, as far as an index tells.

    Raises:
        WrongInputError: there is none, or there are several.
    """
    fitting = [
        image for image in form.images if image.platform is None or fits_labs(image.platform)
    ]
    if form.images and not fitting:
        _check_platform([image.platform for image in form.images if image.platform])
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise WrongInputError("holds no image")
    shown = ", ".join(", ".join(kept_image.names) for kept_image in fitting)
    raise WrongInputError(
        f"holds {len(fitting)} images ({shown}), and a program has one: save it alone"
    )


def fits_labs(platform: Platform) -> bool:
    """Whether labs could run an image for a platform, as far as it is said."""
    return platform.architecture in ("", _ARCHITECTURE) and platform.os in ("", "linux")


def _check_platform(platforms: list[Platform]) -> None:
    if any(map(fits_labs, platforms)):
        return
    names = dict.fromkeys(
        " ".join(part for part in (platform.os, platform.architecture) if part)
        for platform in platforms
    )
    raise WrongInputError(
        f"is for {' and '.join(names)}, and labs are linux {_ARCHITECTURE}: build it with "
        f"--platform linux/{_ARCHITECTURE}"
    )


def _described(
    source: Path, digest: str, layers: tuple[Layer, ...], image_start: ImageStart
) -> ContainerImage:
    variables = (text.partition("=") for text in image_start.environment or ())
    return ContainerImage(
        source=source,
        digest=digest,
        layers=layers,
        argv=(*(image_start.entrypoint or ()), *(image_start.command or ())),
        environment={name: value for name, _, value in variables},
        directory=image_start.directory or "/",
    )
