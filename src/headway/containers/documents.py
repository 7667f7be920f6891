"""Documents in archives of container images: OCI's image specification, and ``docker save``."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headway.errors import WrongInputError
from headway.foreign.documents import json_value
from headway.foreign.shown import quoted


class ImageDocument(BaseModel):
    """Base of all; what is not read here is left aside."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class Platform(ImageDocument):
    """What an image runs on."""

    architecture: str = ""
    os: str = ""


class Descriptor(ImageDocument):
    """Where a document or layer is."""

    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    media: str = Field(default="", alias="mediaType")
    artifact: str = Field(default="", alias="artifactType")
    urls: tuple[str, ...] | None = None
    platform: Platform | None = None
    annotations: dict[str, str] | None = None

    @property
    def name(self) -> str:
        """What people call it, or its digest."""
        texts = self.annotations or {}
        names = (texts.get(key) for key in _NAMES)
        return next((name for name in names if name), self.digest)

    @property
    def is_no_image(self) -> bool:
        """Whether it only tells how an image was made, as BuildKit's attestations do."""
        return "vnd.docker.reference.type" in (self.annotations or {})


_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


class Index(ImageDocument):
    """``index.json`` of an OCI layout, or a list of an image's builds for several platforms."""

    manifests: tuple[Descriptor, ...]


class ImageManifest(ImageDocument):
    """An OCI image's parts."""

    config: Descriptor
    layers: tuple[Descriptor, ...]


class Saved(ImageDocument):
    """An entry of ``manifest.json`` as ``docker save`` writes it."""

    config: str = Field(alias="Config")
    names: tuple[str, ...] | None = Field(default=None, alias="RepoTags")
    layers: tuple[str, ...] = Field(alias="Layers")


class SavedImages(ImageDocument):
    """All of them."""

    images: tuple[Saved, ...]


class ImageStart(ImageDocument):
    """How an image's program is started."""

    entrypoint: tuple[str, ...] | None = Field(default=None, alias="Entrypoint")
    command: tuple[str, ...] | None = Field(default=None, alias="Cmd")
    environment: tuple[str, ...] | None = Field(default=None, alias="Env")
    directory: str | None = Field(default=None, alias="WorkingDir")
    user: str | None = Field(default=None, alias="User")
    ports: dict[str, Any] | None = Field(default=None, alias="ExposedPorts")


class Contents(ImageDocument):
    """An image's layers, as tar archives that are not compressed."""

    digests: tuple[str, ...] = Field(alias="diff_ids")


class ImageConfiguration(ImageDocument):
    """An image's configuration."""

    created: str | None = None
    architecture: str = ""
    os: str = ""
    config: ImageStart | None = None
    rootfs: Contents


_DocumentT = TypeVar("_DocumentT", bound=ImageDocument)


def document(data: bytes, name: str) -> Any:
    """The value of a JSON document.

    Raises:
        WrongInputError: it is none.
    """
    try:
        return json_value(data)
    except ValueError as error:
        raise WrongInputError(f"its {name} is damaged: it is no JSON document: {error}") from None


def read(kind: type[_DocumentT], data: bytes, name: str) -> _DocumentT:
    """Read a document.

    Raises:
        WrongInputError: it is not one.
    """
    document(data, name)
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "all of it"
        if key.endswith("digest") and first["type"] == "string_pattern_mismatch":
            wanted = f"{quoted(str(first['input']))} is no digest of SHA-256"
            raise WrongInputError(f"its {name} is not read: {key}: {wanted}") from None
        raise WrongInputError(
            f"its {name} has another form than an image's: {key}: {first['msg']}"
        ) from None
