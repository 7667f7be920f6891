"""Container images, as `docker save` writes them and as OCI layouts, made without a container engine."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A member of a layer: a file, unless it is said what else."""

    name: str
    content: bytes = b""
    mode: int = 0o644
    kind: bytes = tarfile.REGTYPE
    to: str = ""


def directory(name: str) -> Entry:
    return Entry(name, kind=tarfile.DIRTYPE, mode=0o700)


def link(name: str, to: str) -> Entry:
    return Entry(name, kind=tarfile.SYMTYPE, to=to)


def hard_link(name: str, to: str) -> Entry:
    return Entry(name, kind=tarfile.LNKTYPE, to=to)


def tar_of(entries: Iterable[Entry]) -> bytes:
    """A tar archive."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for one in entries:
            member = tarfile.TarInfo(one.name)
            member.type, member.mode, member.linkname = one.kind, one.mode, one.to
            member.size, member.mtime = len(one.content), 1_700_000_000
            tar.addfile(member, io.BytesIO(one.content))
    return file.getvalue()


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass(frozen=True)
class Made:
    """An image: its layers, and what its configuration says."""

    layers: tuple[tuple[Entry, ...], ...]
    start: dict[str, Any] = field(default_factory=dict)
    architecture: str = "amd64"
    compressed: bool = False

    @cached_property
    def tars(self) -> list[bytes]:
        return [tar_of(layer) for layer in self.layers]

    @cached_property
    def blobs(self) -> list[bytes]:
        """Layers as they are kept."""
        if not self.compressed:
            return self.tars
        return [gzip.compress(tar, compresslevel=1, mtime=0) for tar in self.tars]

    @property
    def config(self) -> bytes:
        told = {
            "architecture": self.architecture,
            "os": "linux",
            "config": self.start,
            "rootfs": {"type": "layers", "diff_ids": [sha256(one) for one in self.tars]},
        }
        return json.dumps(told).encode()

    def saved(self) -> dict[str, bytes]:
        """Files of `docker save`, by name."""
        names = [f"{number}/layer.tar" for number, _ in enumerate(self.layers)]
        entry = {"Config": "config.json", "RepoTags": ["own:latest"], "Layers": names}
        files = dict(zip(names, self.blobs, strict=True))
        return {"manifest.json": json.dumps([entry]).encode(), "config.json": self.config, **files}

    def laid_out(self, *, platform: dict[str, str] | None = None) -> dict[str, bytes]:
        """Files of an OCI layout, by name."""
        manifest = json.dumps(
            {
                "schemaVersion": 2,
                "config": {"digest": sha256(self.config)},
                "layers": [{"digest": sha256(one)} for one in self.blobs],
            }
        ).encode()
        index = {"manifests": [{"digest": sha256(manifest), "platform": platform}]}
        blobs = {blob(one): one for one in (manifest, self.config, *self.blobs)}
        return {
            "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
            "index.json": json.dumps(index).encode(),
            **blobs,
        }


def blob(data: bytes) -> str:
    """Name of a document or layer in an OCI layout."""
    return f"blobs/{sha256(data).replace(':', '/')}"


def write_archive(file: Path, files: dict[str, bytes]) -> Path:
    """Write an image's files as one."""
    file.write_bytes(tar_of(Entry(f"./{name}", content) for name, content in files.items()))
    return file


def write_directory(place: Path, files: dict[str, bytes]) -> Path:
    """Write an image's files into a directory."""
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place
