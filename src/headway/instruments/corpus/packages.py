"""Pages of packages: documentation and templates that a registry has, by name, version and hash.

Nothing of them comes with Headway.
"""

from __future__ import annotations

import base64
import io
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headway.errors import WrongInputError
from headway.image.pinned import fetch_by_npm, fetch_by_pip
from headway.image.process import Runner
from headway.instruments.corpus.localpage import local_page
from headway.sites.site import Site
from headway.tables import table

_LOG = "packages.log"


@dataclass(frozen=True)
class Package:
    """A page of a package.

    Attributes:
        name: of the site; starts with the registry.
        client: what fetches it: of ``pip`` the source distribution, which has the documentation.
        project: its name at the registry.
        version: its version.
        sha256: of the archive.
        page: path of the page in it, below its one directory.
        licence: SPDX identifier.
    """

    name: str
    client: Literal["pip", "npm"]
    project: str
    version: str
    sha256: str
    page: str
    licence: str = "MIT"

    def site(self, directory: Path) -> Site:
        """The page; its archive is fetched unless it is in the directory.

        Raises:
            WrongInputError: the machine lacks the client.
            HeadwayError: the archive cannot be fetched, or is another than it was.
        """
        files = _files(self._archive(directory).read_bytes())
        description = f"{self.page} of {self.project} {self.version} ({self.licence})"
        return local_page(self.name, files, self.page, description)

    def _archive(self, directory: Path) -> Path:
        archive = directory / f"{self.name}-{self.version}-{self.sha256[:16]}.tar.gz"
        if not archive.exists():
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=directory) as scratch:
                _CLIENTS[self.client](self, Path(scratch)).replace(archive)
        return archive

    @property
    def fetching(self) -> str:
        """What fails if it cannot be fetched."""
        return f"{self.name}: fetching {self.project} {self.version} with {self.client}"


def _by_pip(package: Package, scratch: Path) -> Path:
    fetch_by_pip(
        ["download", "--no-binary", package.project, "--dest", str(scratch)],
        [f"{package.project}=={package.version} --hash=sha256:{package.sha256}"],
        package.fetching,
        Runner(scratch.parent / _LOG),
    )
    return next(scratch.glob("*.tar.gz"))


def _by_npm(package: Package, scratch: Path) -> Path:
    if shutil.which("npm") is None:
        raise WrongInputError(
            "is fetched by npm, which is not in PATH; install npm, or choose a site of pip's: "
            + ", ".join(name for name, other in PACKAGES.items() if other.client == "pip"),
            where=package.name,
        )
    integrity = f"sha256-{base64.b64encode(bytes.fromhex(package.sha256)).decode()}"
    return fetch_by_npm(
        f"{package.project}@{package.version}",
        integrity,
        scratch,
        package.fetching,
        Runner(scratch.parent / _LOG),
    )


_CLIENTS = {"pip": _by_pip, "npm": _by_npm}


def _files(archive: bytes) -> dict[str, bytes]:
    """Contents of the regular files of an archive by their path below its one directory."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as content:
        for member in content:
            _, slash, path = member.name.partition("/")
            data = content.extractfile(member) if member.isfile() and slash else None
            if data is not None:
                files[path] = data.read()
    return files


PACKAGES = {
    row["name"]: Package(**row)  # type: ignore[arg-type]
    for row in table("headway.instruments.corpus", "packages.csv")
}
"""All pages of packages, by the name of their site."""
