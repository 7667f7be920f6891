"""The machine's own Debian mirror, from its apt configuration."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError, WrongInputError
from headway.image.process import user_environment

_DEBIAN_SUITE = re.compile(
    r"(buster|bullseye|bookworm|trixie|forky|duke|sid|(old){0,2}stable|testing|unstable)"
    r"(-updates|-backports)?"
)
_ONE_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<uri>\S+)\s+(?P<rest>.+)")


@dataclass(frozen=True)
class AptSource:
    """One archive that apt is configured with.

    Attributes:
        uri: its address, without a slash at the end.
        suites: its suites.
        components: its components, as main.
        signed_by: the keyring it names, or "".
    """

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str = ""

    @property
    def is_debian(self) -> bool:
        """Whether this can be a Debian archive: not its security archive, not a third party's.

        Third parties use Debian's suite names too, so the address or the keyring must tell.
        """
        names = not {"debian", "debian.list"}.isdisjoint(self.uri.split("/"))
        trusts = "debian-archive-keyring" in self.signed_by
        return (
            (names or trusts)
            and "main" in self.components
            and any(_DEBIAN_SUITE.fullmatch(suite) for suite in self.suites)
        )


def parse_one_line(text: str) -> Iterator[AptSource]:
    """The ``deb`` lines of a sources.list."""
    for line in text.splitlines():
        if match := _ONE_LINE.fullmatch(line.split("#", 1)[0].strip()):
            options = dict(
                word.partition("=")[::2] for word in (match["options"] or "").lower().split()
            )
            suite, *components = match["rest"].split()
            yield AptSource(
                match["uri"].rstrip("/"),
                (suite,),
                tuple(components),
                options.get("signed-by", ""),
            )


def parse_deb822(text: str) -> Iterator[AptSource]:
    """The enabled stanzas with binary packages of a ``*.sources`` file."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n(?:[ \t]*\n)+", "\n".join(lines)):
        fields = {
            name.lower(): " ".join(value.split())
            for name, value in re.findall(r"^([\w-]+):(.*(?:\n[ \t].*)*)", stanza, re.MULTILINE)
        }
        wanted = "deb" in fields.get("types", "").split()
        if wanted and fields.get("enabled", "yes").lower() not in ("no", "false", "0"):
            for uri in fields.get("uris", "").split():
                yield AptSource(
                    uri.rstrip("/"),
                    tuple(fields.get("suites", "").split()),
                    tuple(fields.get("components", "").split()),
                    fields.get("signed-by", ""),
                )


def configured_sources(main: Path, parts: Path) -> Iterator[AptSource]:
    """Every archive that apt is configured with.

    Args:
        main: the sources.list file; it need not exist.
        parts: the directory of further ``*.list`` and ``*.sources`` files.
    """
    parsers = {".list": parse_one_line, ".sources": parse_deb822}
    for file in [main, *sorted(parts.glob("*"))]:
        if file.is_file() and file.suffix in parsers:
            yield from parsers[file.suffix](file.read_text(errors="replace", encoding="utf-8"))


def debian_mirror() -> str:
    """The address of the Debian archive that this machine's apt uses.

    Raises:
        HeadwayError: this machine has no apt.
        WrongInputError: its apt uses no Debian archive, as on Ubuntu.
    """
    query = [
        "apt-config",
        "shell",
        "MAIN",
        "Dir::Etc::sourcelist/f",
        "PARTS",
        "Dir::Etc::sourceparts/d",
    ]
    try:
        answer = subprocess.run(
            query,
            check=True,
            capture_output=True,
            text=True,
            env=user_environment(),
            encoding="utf-8",
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise HeadwayError(
            "an image is built from Debian packages, by apt, and this machine has no apt"
        ) from error
    places = dict(re.findall(r"^(\w+)='([^']*)'", answer, re.MULTILINE))
    main = Path(places.get("MAIN", "/etc/apt/sources.list"))
    parts = Path(places.get("PARTS", "/etc/apt/sources.list.d"))
    for source in configured_sources(main, parts):
        if source.is_debian:
            return source.uri
    raise WrongInputError(
        "this machine's apt uses no Debian archive; set it to the address of one",
        where="HEADWAY_MIRROR",
    )
