"""A private apt: packages of any Debian suite, without touching the machine's own apt state."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError
from headway.lab.image.process import Runner, user_environment

_KEYRINGS = tuple(
    Path(f"/usr/share/keyrings/debian-archive-keyring.{suffix}") for suffix in ("gpg", "pgp")
)
_PERCENT = re.compile(r"dlstatus:\d+:([\d.]+):")

# The machine's proxies, certificates and credentials stay in force; its hooks, pinning, foreign
# architectures and archives do not. A frozen mirror's Release files outlive their validity.
_CONFIGURATION = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
#clear DPkg::Pre-Install-Pkgs;
#clear DPkg::Post-Invoke;
APT::Architecture "amd64";
APT::Architectures {{ "amd64"; }};
APT::Default-Release "";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
APT::Status-Fd "1";
APT::Update::Error-Mode "any";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
Dir::State "{state}";
Dir::State::status "{state}/status";
Dir::Cache "{state}/cache";
Dir::Cache::archives "archives/";
Dir::Etc::sourcelist "{state}/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferences "-";
Dir::Etc::preferencesparts "-";
"""


def debian_keyring() -> Path | None:
    """The keyring that Debian archives are checked with; None if it is not installed."""
    return next((keyring for keyring in _KEYRINGS if keyring.exists()), None)


@dataclass(frozen=True)
class PrivateApt:
    """Apt for one suite, with its state in a directory of its own.

    An interrupted download is taken up again by the next apt in the same directory.

    Attributes:
        directory: the state.
        mirror: address of a Debian archive.
        suite: the suite.
        runner: runs apt.
    """

    directory: Path
    mirror: str
    suite: str
    runner: Runner

    @property
    def _configuration(self) -> Path:
        return self.directory / "apt.conf"

    def update(self, advance: Callable[[float], None]) -> None:
        """Fetch the list of packages.

        Args:
            advance: is told what fraction has arrived.

        Raises:
            HeadwayError: the mirror cannot be reached, does not have the suite, or its signature
                is wrong.
        """
        for inner in ("lists/partial", "cache/archives/partial"):
            (self.directory / inner).mkdir(parents=True, exist_ok=True)
        (self.directory / "status").touch()
        (self.directory / "sources.list").write_text(
            f"deb [arch=amd64 target=Packages signed-by={debian_keyring()}]"
            f" {self.mirror} {self.suite} main\n"
        )
        self._configuration.write_text(_CONFIGURATION.format(state=self.directory))
        self._run(["update"], f"reading the package list of {self.suite}", advance)

    def newest(self, pattern: re.Pattern[str]) -> tuple[str, tuple[int, ...]] | None:
        """The package whose name matches and has the greatest numbers in its groups.

        Returns:
            Name and numbers, or None if there is none.
        """
        command = ["apt-cache", "-c", str(self._configuration), "pkgnames"]
        names = subprocess.run(
            command, check=True, capture_output=True, text=True, env=user_environment()
        ).stdout.split()
        found = [
            (name, tuple(int(number) for number in match.groups()))
            for name in names
            if (match := pattern.fullmatch(name))
        ]
        return max(found, key=lambda pair: pair[1], default=None)

    def download(
        self, packages: Sequence[str], advance: Callable[[float], None], *, closure: bool = True
    ) -> list[Path]:
        """Download packages.

        Args:
            packages: their names.
            advance: is told what fraction has arrived.
            closure: whether also to download everything they depend on.

        Returns:
            The ``.deb`` files.

        Raises:
            HeadwayError: a package does not exist in the suite or cannot be fetched.
        """
        archives = self.directory / "cache" / "archives"
        # Other versions may be left from an interrupted build of another day.
        before = {file: file.stat().st_mtime_ns for file in archives.glob("*.deb")}
        wanted: list[str] = []
        plan = ["install", "--yes", "--download-only", "--print-uris", "-qq"]
        if closure:
            self._run([*plan, *packages], f"resolving packages of {self.suite}", lambda _: None,
                      on_line=lambda line: wanted.extend(_file_names(line)))
            self._run(["install", "--yes", "--download-only", *packages],
                      f"downloading packages of {self.suite}", advance)
        del before
        return sorted(archives / name for name in wanted)

    def clean(self) -> None:
        """Forget what was downloaded."""
        for file in (self.directory / "cache" / "archives").glob("*.deb"):
            file.unlink()
