"""Pages of packages: documentation and templates that a registry has, by name, version and hash.

Nothing of them comes with Headway. The client that the machine has, pip or npm, fetches each from
where it is configured to.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headway.errors import HeadwayError, WrongInputError
from headway.instruments.corpus.localpage import local_page
from headway.sites.site import Site
from headway.tables import table

_TIMEOUT_S = 300


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
                fetched = self._fetch(Path(scratch))
                self._verify(fetched)
                fetched.replace(archive)
        return archive

    def _fetch(self, scratch: Path) -> Path:
        command = _CLIENTS[self.client](self, scratch)
        try:
            done = subprocess.run(
                command,
                cwd=scratch,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                encoding="utf-8",
            )
        except subprocess.TimeoutExpired as error:
            raise HeadwayError(f"{self._fetching} took over {_TIMEOUT_S} s") from error
        archives = [*scratch.glob("*.tar.gz"), *scratch.glob("*.tgz")]
        if done.returncode or len(archives) != 1:
            why = [line for line in done.stderr.splitlines() if line.strip()] or ["no archive"]
            raise HeadwayError(f"{self._fetching} failed: {why[-1].strip()}")
        return archives[0]

    def _verify(self, archive: Path) -> None:
        text = hashlib.sha256(archive.read_bytes()).hexdigest()
        if text != self.sha256:
            raise HeadwayError(f"{self._fetching} gave SHA-256 {text}, not {self.sha256}")

    @property
    def _fetching(self) -> str:
        return f"{self.name}: fetching {self.project} {self.version} with {self.client}"


def _pip_command(package: Package, scratch: Path) -> Sequence[str | Path]:
    if importlib.util.find_spec("pip") is None:
        raise WrongInputError(
            f"is fetched by pip, which {sys.executable} lacks;"
            f" `{sys.executable} -m ensurepip` installs it",
            where=package.name,
        )
    requirements = scratch / "requirements.txt"
    requirements.write_text(
        f"{package.project}=={package.version} --hash=sha256:{package.sha256}\n",
        encoding="utf-8",
    )
    return [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-input", "--no-deps", "--no-binary", package.project, "--require-hashes"),
        *("--requirement", requirements, "--dest", scratch),
    ]


def _npm_command(package: Package, scratch: Path) -> Sequence[str | Path]:
    npm = shutil.which("npm")
    if npm is None:
        raise WrongInputError(
            "is fetched by npm, which is not in PATH; install npm, or choose a site of pip's: "
            + ", ".join(name for name, other in PACKAGES.items() if other.client == "pip"),
            where=package.name,
        )
    return [
        *(npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", scratch),
        f"{package.project}@{package.version}",
    ]


_CLIENTS = {"pip": _pip_command, "npm": _npm_command}


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
