"""The forms in which images are kept: ``docker save``, OCI layouts, and the directories of skopeo's ``dir:``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from headway.containers.documents import (
    Descriptor,
    ImageConfiguration,
    ImageManifest,
    Index,
    Platform,
    Saved,
    SavedImages,
    document,
    read,
)
from headway.containers.files import Files
from headway.errors import WrongInputError

_SAVED, _LAYOUT, _INDEX, _OLDER = "manifest.json", "oci-layout", "index.json", "repositories"
_DIGEST = "sha256:"
_SHOWN = 19
_OTHER_PARTS = "+encrypted"
MARKS = (_SAVED, _LAYOUT, _INDEX, _OLDER)
"""Files of which a directory has one that is an image, and not a root tree."""


@dataclass(frozen=True)
class KeptImage:
    """An image in an archive or a directory, before its configuration is read.

    Attributes:
        names: what people call it, or a part of its digest.
        platform: what the index says that it runs on; None if it does not.
        manifest: reads the rest.
    """

    names: tuple[str, ...]
    platform: Platform | None
    manifest: Callable[[], KeptParts]


@dataclass(frozen=True)
class KeptParts:
    """An image's digest, which is that of its configuration, its configuration, and the files of its layers."""

    digest: str
    config: ImageConfiguration
    layers: tuple[str, ...]


@dataclass(frozen=True)
class Form:
    """How an archive or directory keeps images.

    Attributes:
        name: ``docker save``, ``OCI layout``, ``skopeo dir``.
        images: each once.
    """

    name: str
    images: tuple[KeptImage, ...]


def form_of(files: Files) -> Form:
    """How an archive or a directory keeps which images.

    Raises:
        WrongInputError: it holds none in a form that is read.
    """
    if _SAVED in files:
        content = document(files.content(_SAVED), _SAVED)
        if isinstance(content, list):
            return Form("docker save", tuple(_saved(files)))
        return Form("skopeo dir", tuple(_of_manifest(files, content)))
    if _LAYOUT in files or _INDEX in files:
        index = read(Index, files.content(_INDEX), _INDEX)
        return Form("OCI layout", _once(_listed(files, index, _blob)))
    if _OLDER in files:
        raise WrongInputError(
            f"is an image as `docker save` of before 1.10 wrote it (it has {_OLDER} and no {_SAVED}): load it "
            "and save it again"
        )
    raise WrongInputError(
        f"holds no image: it has neither {_SAVED}, as `docker save` writes it, nor {_INDEX}, as "
        "an OCI layout has it (a root tree has to be a directory)"
    )


def _saved(files: Files) -> Iterator[KeptImage]:
    """The images that ``docker save``, ``podman save`` or kaniko wrote."""
    data = b'{"images": %s}' % files.content(_SAVED)
    images = {image.config: image for image in read(SavedImages, data, _SAVED).images}
    for image in images.values():
        yield KeptImage(image.names or (image.config,), None, _SavedParts(files, image))


@dataclass(frozen=True)
class _SavedParts:
    files: Files
    image: Saved

    def __call__(self) -> KeptParts:
        data = self.files.content(self.image.config)
        digest = _DIGEST + hashlib.sha256(data).hexdigest()
        config = read(ImageConfiguration, data, self.image.config)
        return KeptParts(digest, config, self.image.layers)


def _of_manifest(files: Files, content: object) -> Iterator[KeptImage]:
    """The image of which ``manifest.json`` is the manifest itself, or a list of manifests."""
    keys = content.keys() if isinstance(content, dict) else ()
    if "manifests" in keys:
        index = read(Index, files.content(_SAVED), _SAVED)
        yield from _once(_listed(files, index, _beside))
    elif "fsLayers" in keys:
        raise WrongInputError(
            f"is an image with a manifest of schema 1 ({_SAVED}), which says no digests of its layers' content: "
            "copy it with `skopeo copy --format oci`"
        )
    else:
        manifest = read(ImageManifest, files.content(_SAVED), _SAVED)
        yield KeptImage((_short(manifest.config.digest),), None, _Parts(files, manifest, _beside))


def _once(images: Iterator[KeptImage]) -> tuple[KeptImage, ...]:
    """Images that have several tags once, with all of these."""
    kept_images: dict[Callable[[], KeptParts], KeptImage] = {}
    for image in images:
        before = kept_images.get(image.manifest)
        names = (*(before.names if before else ()), *image.names)
        kept_images[image.manifest] = KeptImage(
            tuple(dict.fromkeys(names)), image.platform, image.manifest
        )
    return tuple(kept_images.values())


def _listed(
    files: Files, index: Index, place: Callable[[str], tuple[str, ...]]
) -> Iterator[KeptImage]:
    """Images of an index, and of the indices in it."""
    for manifest in index.manifests:
        if manifest.is_no_image:
            continue
        if manifest.artifact:
            raise WrongInputError(f"holds {manifest.artifact}, which is no image")
        name = _there(files, place(manifest.digest))
        if name is None:
            # Of a list, only those may be kept that somebody asked for.
            if manifest.platform is not None:
                yield KeptImage((manifest.name,), manifest.platform, _Missing(manifest))
                continue
            raise _lacks(place(manifest.digest)[0])
        content = document(files.content(name, manifest.digest), name)
        if isinstance(content, dict) and "manifests" in content:
            yield from _listed(
                files, read(Index, files.content(name, manifest.digest), name), place
            )
        else:
            yield KeptImage((manifest.name,), manifest.platform, _Referred(files, manifest, place))


@dataclass(frozen=True)
class _Missing:
    image: Descriptor

    def __call__(self) -> KeptParts:
        raise _lacks(_blob(self.image.digest)[0])


@dataclass(frozen=True)
class _Referred:
    """What a manifest that an index names says."""

    files: Files
    image: Descriptor
    place: Callable[[str], tuple[str, ...]]

    def __call__(self) -> KeptParts:
        name = _there(self.files, self.place(self.image.digest)) or self.place(self.image.digest)[0]
        manifest = read(ImageManifest, self.files.content(name, self.image.digest), name)
        return _Parts(self.files, manifest, self.place)()

    def __hash__(self) -> int:
        return hash(self.image.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Referred) and other.image.digest == self.image.digest


@dataclass(frozen=True)
class _Parts:
    """What a manifest says."""

    files: Files
    manifest: ImageManifest
    place: Callable[[str], tuple[str, ...]]

    def __call__(self) -> KeptParts:
        config = self.manifest.config
        if config.media and "image" not in config.media and "docker" not in config.media:
            raise WrongInputError(f"holds {config.media}, which is no image")
        name = _there(self.files, self.place(config.digest)) or self.place(config.digest)[0]
        read_config = read(ImageConfiguration, self.files.content(name, config.digest), name)
        return KeptParts(
            config.digest, read_config, tuple(self._layer(layer) for layer in self.manifest.layers)
        )

    def _layer(self, layer: Descriptor) -> str:
        if _OTHER_PARTS in layer.media:
            raise WrongInputError("has an encrypted layer; save it decrypted")
        name = _there(self.files, self.place(layer.digest))
        if name is None and layer.urls:
            raise WrongInputError(
                "has a layer that lies elsewhere (urls), as some of Windows do: save it with all layers"
            )
        if name is None:
            raise _lacks(self.place(layer.digest)[0])
        return name


def _there(files: Files, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in files), None)


def _lacks(name: str) -> WrongInputError:
    return WrongInputError(f"lacks {name}, which it says that it consists of: it is cut off")


def _blob(digest: str) -> tuple[str, ...]:
    """Where an OCI layout has a document or layer."""
    return (f"blobs/{digest.replace(':', '/')}",)


def _beside(digest: str) -> tuple[str, ...]:
    """Where skopeo's directories have a document or layer; those of version 1.0 had other names for layers."""
    name = digest.partition(":")[2]
    return (name, f"{name}.manifest.json", f"{name}.tar")


def _short(digest: str) -> str:
    return digest[:_SHOWN] if digest.startswith(_DIGEST) else digest
