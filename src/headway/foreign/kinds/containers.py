"""Kinds of archives and directories, by the names of what they hold."""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from headway.foreign.kinds.model import FileKind, Identity

_RECORD = "`headway record {file} --out SITE.warc.gz`"
_IMAGE = 'name it for a program in programs.toml: `image = "{file}"`'
WACZ = FileKind(
    "wacz",
    "a WACZ {} file",
    _RECORD,
    reads="1.0 and 1.1: its WARC files together, main page and digests",
)
HAR_ARCHIVE = FileKind(
    "har-zip",
    "a HAR file with its bodies in a ZIP file",
    _RECORD,
    reads="one HAR file and the files of its bodies, as Playwright writes it",
)
WARC_ARCHIVE = FileKind(
    "warc-zip", "a ZIP file with WARC files", _RECORD, reads="its WARC files together"
)
IMAGE_ARCHIVE = FileKind(
    "image",
    "a container image ({})",
    _IMAGE,
    reads="of `docker save`, `podman save`, skopeo, kaniko and others; layers as they are, or compressed with gzip, xz or bzip2; one image for Linux on amd64",
)
IMAGE_DIRECTORY = FileKind(
    "image-directory",
    "a directory with a container image ({})",
    _IMAGE,
    reads="an OCI layout, an unpacked archive of `docker save`, or skopeo's dir:; as an archive",
)
MAHIMAHI_SITE = FileKind(
    "mahimahi-site",
    "a recording of Mahimahi (mm-webrecord)",
    _RECORD,
    reads="of mm-webrecord: the exchanges, without their order",
)
RESULTS = FileKind(
    "results", "results of Headway", "`headway report {file}`", reads="of this and earlier versions"
)
RESULTS_ARCHIVE = FileKind(
    "export",
    "exported results of Headway",
    "unpack it; its README.md says how to run it again",
)
TREE = FileKind("tree", "a root tree", _IMAGE)
ZIP = FileKind("zip", "a ZIP file", "unpack it first: `unzip {file}`", is_vague=True)
FIDDLER = FileKind("fiddler", "a session of Fiddler", "export it as HTTPArchive (.har)")
OFFICE = FileKind("office", "a document of an office program")
PYTHON_PACKAGE = FileKind("wheel", "a Python package")
CHROMIUM_PROGRAM = FileKind("apk", "a program of Android or Java")
TAR = FileKind("tar", "a tar archive", "unpack it first: `tar -xf {file}`", is_vague=True)
DIRECTORY = FileKind("directory", "a directory", "name the file in it that is meant", is_vague=True)
EMPTY_DIRECTORY = FileKind("empty-directory", "an empty directory", is_defect=True)
DAMAGED_ZIP = FileKind("damaged-zip", "a ZIP file that is damaged or cut off", is_defect=True)
_SAVED, _LAYOUT, _INDEX = "manifest.json", "oci-layout", "index.json"
_MOST_NAMES = 4096
_MOST_DIRECTORY = 2048
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True)
class _Holding:
    """What an archive of a kind holds.

    Attributes:
        name: pattern of a name in it, in full.
        kind: of it.
        version: of its form.
    """

    name: re.Pattern[str]
    kind: FileKind
    version: str = ""


def _holding(name: str, kind: FileKind, version: str = "") -> _Holding:
    return _Holding(re.compile(name), kind, version)


_IN_ZIP = (
    _holding(r"archive/.*\.warc(\.gz)?", WACZ),
    _holding(r"(.*/)?datapackage\.json", WACZ),
    _holding(r".*\.har", HAR_ARCHIVE),
    _holding(r".*\.warc(\.gz)?", WARC_ARCHIVE),
    _holding(r"raw/\d+_[cms]\..*", FIDDLER),
    _holding(r"\[Content_Types\]\.xml|mimetype", OFFICE),
    _holding(r".*\.dist-info/.*", PYTHON_PACKAGE),
    _holding(r"AndroidManifest\.xml|META-INF/.*", CHROMIUM_PROGRAM),
)
_IN_TAR = (
    _holding(r"manifest\.json", IMAGE_ARCHIVE, "docker save"),
    _holding(r"oci-layout|index\.json|blobs/sha256/.*", IMAGE_ARCHIVE, "OCI"),
    _holding(r"repositories|[0-9a-f]{64}/(json|layer\.tar|VERSION)", IMAGE_ARCHIVE, "docker save"),
    _holding(r"([^/]+/)?(runs\.parquet|study\.toml|again/.*)", RESULTS_ARCHIVE),
)
_IN_DIRECTORY = (
    _holding(r"oci-layout", IMAGE_DIRECTORY, "OCI"),
    _holding(r"runs\.parquet|runs", RESULTS),
    _holding(r"save\.\w+", MAHIMAHI_SITE),
)


def _of_names(names: Iterable[str], holdings: tuple[_Holding, ...]) -> Identity | None:
    """The first of the kinds that one of the names belongs to."""
    known = [name.removeprefix("./") for name in names]
    for holding in holdings:
        if any(holding.name.fullmatch(name) for name in known):
            return Identity(holding.kind, holding.version)
    return None


def zip_kind(file: IO[bytes]) -> Identity:
    """What a ZIP file is."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _of_names(archive.namelist()[:_MOST_NAMES], _IN_ZIP) or Identity(ZIP)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError):
        return Identity(DAMAGED_ZIP)


def tar_kind(file: IO[bytes]) -> Identity | None:
    """What a tar archive is; None if it is none.

    Args:
        file: of it, or the beginning of it.
    """
    names: list[str] = []
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            names.extend(member.name for member in islice(archive, _MOST_NAMES))
    except (tarfile.TarError, ValueError, OverflowError, IndexError, RecursionError, EOFError):
        pass  # cut, as a beginning is: what was read tells
    return (_of_names(names, _IN_TAR) or Identity(TAR)) if names else None


def directory_kind(directory: Path) -> Identity:
    """What a directory is, by the names in it."""
    names = sorted(islice(_names(directory), _MOST_DIRECTORY))
    if not names:
        return Identity(EMPTY_DIRECTORY)
    if identity := _of_names(names, _IN_DIRECTORY):
        return identity
    if _SAVED in names:
        is_skopeo = "version" in names or any(re.fullmatch(r"[0-9a-f]{64}", name) for name in names)
        return Identity(IMAGE_DIRECTORY, "skopeo's dir" if is_skopeo else "docker save")
    if {"etc", "usr"} <= set(names) or {"bin", "etc"} <= set(names):
        return Identity(TREE)
    return Identity(DIRECTORY)


def _names(directory: Path) -> Iterator[str]:
    with os.scandir(directory) as entries:
        for entry in entries:
            yield entry.name
