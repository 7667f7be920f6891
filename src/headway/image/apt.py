"""A private apt: packages of any Debian suite, without touching the machine's own apt state."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headway.errors import HeadwayError
from headway.image.process import Runner, user_environment

_KEYRINGS = tuple(
    Path(f"/usr/share/keyrings/debian-archive-keyring.{suffix}") for suffix in ("gpg", "pgp")
)
_STATUS = re.compile(r"dlstatus:\d+:(?P<percent>[\d.]+):")
_PLANNED = re.compile(
    r"Inst (?P<name>\S+) (?:\[(?P<present>\S+)\] )?\((?P<version>\S+) .*\[(?P<architecture>\w+)\]\)"
)
_ADDRESS = re.compile(r"'\S+' \S+ (?P<size>\d+)")

# A version that satisfies whoever depends on the package.
_PRETENDED = """\
Package: {name}
Status: install ok installed
Version: 999999
Architecture: amd64
Multi-Arch: foreign
Maintainer: nobody
Description: not wanted

"""

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
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Dir::Etc::sourcelist "{state}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
"""


def debian_keyring() -> Path | None:
    """The keyring that Debian archives are checked with; None if it is not installed."""
    return next((keyring for keyring in _KEYRINGS if keyring.exists()), None)


@dataclass(frozen=True, order=True)
class PackageVersion:
    """One version of a package."""

    name: str
    version: str
    architecture: str

    @property
    def file_name(self) -> str:
        """The name that apt gives its file."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.architecture}.deb"


@dataclass(frozen=True)
class PrivateApt:
    """Apt for one suite, with its state in a directory of its own.

    An interrupted download is taken up again by the next apt in the same directory.

    Attributes:
        directory: the state.
        mirror: address of a Debian archive.
        suite: the suite.
        runner: runs apt.
        left_out: packages that are never chosen, though others depend on them.
        present: packages that are there, as stanzas of dpkg's status: they are not chosen again.
        updated: directories whose list of packages is of now.
    """

    directory: Path
    mirror: str
    suite: str
    runner: Runner
    left_out: tuple[str, ...] = ()
    present: str = ""
    updated: set[Path] = field(default_factory=set)

    @property
    def _configuration(self) -> Path:
        return self.directory / "apt.conf"

    @property
    def _archives(self) -> Path:
        return self.directory / "cache" / "archives"

    def update(self, advance: Callable[[float], None]) -> None:
        """Fetch the list of packages.

        Args:
            advance: is told what fraction has arrived.

        Raises:
            HeadwayError: the mirror cannot be reached, does not have the suite, or its signature
                is wrong.
        """
        for needed in (self.directory / "lists" / "partial", self._archives / "partial"):
            needed.mkdir(parents=True, exist_ok=True)
        # What apt believes to be there already, it leaves out.
        (self.directory / "status").write_text(
            "".join(_PRETENDED.format(name=name) for name in self.left_out) + self.present,
            encoding="utf-8",
        )
        (self.directory / "sources.list").write_text(
            f"deb [arch=amd64 target=Packages signed-by={debian_keyring()}]"
            f" {self.mirror} {self.suite} main\n",
            encoding="utf-8",
        )
        self._configuration.write_text(
            _CONFIGURATION.format(state=self.directory), encoding="utf-8"
        )
        if self.directory not in self.updated:
            self._run(["update"], f"reading the package list of {self.suite}", _fractions(advance))
            self.updated.add(self.directory)

    def names(self) -> frozenset[str]:
        """The names of all packages of the suite."""
        command = ["apt-cache", "-c", str(self._configuration), "pkgnames"]
        answer = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            env=user_environment(),
            encoding="utf-8",
        )
        return frozenset(answer.stdout.split())

    def newest(self, pattern: re.Pattern[str]) -> tuple[str, tuple[int, ...]] | None:
        """The package whose name matches and has the greatest numbers in its groups.

        Returns:
            Name and numbers, or None if there is none.
        """
        pairs = [
            (name, tuple(int(number) for number in match.groups()))
            for name in self.names()
            if (match := pattern.fullmatch(name))
        ]
        return max(pairs, key=lambda pair: pair[1], default=None)

    def closure(self, names: Sequence[str]) -> list[PackageVersion]:
        """Packages and everything they depend on, in alphabetical order.

        Raises:
            HeadwayError: a package does not exist in the suite, or needs another version of one that is
                there.
        """
        package_versions: list[PackageVersion] = []
        outdated: list[str] = []

        def collect(line: str) -> None:
            if match := _PLANNED.match(line):
                words = match.groupdict()
                present = words.pop("present")
                if present is None:
                    package_versions.append(PackageVersion(**words))
                # What is there looks otherwise than the mirror's even if it is the same.
                elif present != words["version"] and words["name"] not in self.left_out:
                    outdated.append(f"{words['name']} {words['version']} (there is {present})")

        self._run(["install", "--simulate", *names], f"resolving packages of {self.suite}", collect)
        if outdated:
            raise HeadwayError(
                f"{', '.join(names)} of {self.suite} needs {', '.join(outdated)}: {self.mirror} has"
                " moved on since the root tree was made; `headway image build --renew` makes that anew"
            )
        return sorted(package_versions)

    def download_bytes(self, packages: Sequence[PackageVersion]) -> int:
        """How much is left to download of packages."""
        sizes: list[int] = []

        def collect(line: str) -> None:
            if match := _ADDRESS.match(line):
                sizes.append(int(match["size"]))

        wanted = [f"{package.name}={package.version}" for package in packages]
        self._run(["download", "--print-uris", *wanted], "asking for sizes of packages", collect)
        return sum(sizes)

    def download(
        self, packages: Sequence[PackageVersion], advance: Callable[[float], None]
    ) -> list[Path]:
        """Download packages, without what they depend on.

        Args:
            packages: which.
            advance: is told what fraction has arrived.

        Returns:
            The ``.deb`` files.

        Raises:
            HeadwayError: a package cannot be fetched.
        """
        wanted = [f"{package.name}={package.version}" for package in packages]
        purpose = f"downloading packages of {self.suite}"
        self._run(["download", *wanted], purpose, _fractions(advance))
        return [self._archives / package.file_name for package in packages]

    def _run(self, words: Sequence[str], purpose: str, on_line: Callable[[str], None]) -> None:
        self.runner.run(
            ["apt-get", "-c", self._configuration, "-q", *words],
            purpose=purpose,
            environment=user_environment(),
            directory=self._archives,
            on_line=on_line,
        )


def _fractions(advance: Callable[[float], None]) -> Callable[[str], None]:
    """A reader of apt's status lines."""

    def read(line: str) -> None:
        if match := _STATUS.search(line):
            advance(float(match["percent"]) / 100)

    return read
