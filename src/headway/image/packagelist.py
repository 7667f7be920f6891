"""The list of the root tree's packages, as ``packages.txt`` writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from headway.errors import WrongInputError

_LINE = re.compile(
    r"(?P<left_out>-?)(?P<name>[a-z0-9][a-z0-9.+-]+)"
    r"(?:\s+@(?P<suite>[a-z-]+)(?P<beside>\s+beside)?)?"
)
_HEADING = re.compile(r"\[(?P<name>[a-z0-9][a-z0-9.-]*)(?::(?P<words>[^\]]*))?\]")


@dataclass(frozen=True)
class ListSection:
    """What stands below a heading of a list, with as many lines above it as it had in its file.

    Attributes:
        words: those after the heading's name.
        text: what follows, up to the next heading.
    """

    words: tuple[str, ...]
    text: str


def sections(text: str) -> dict[str, ListSection]:
    """The sections of a list by their names; what comes before the first heading has none (``""``)."""
    list_sections = {"": ListSection((), "")}
    name = ""
    for number, line in enumerate(text.splitlines()):
        if heading := _HEADING.fullmatch(line.split("#", 1)[0].strip()):
            name = heading["name"]
            list_sections[name] = ListSection(
                tuple((heading["words"] or "").split()), "\n" * (number + 1)
            )
        else:
            list_sections[name] = replace(
                list_sections[name], text=f"{list_sections[name].text}{line}\n"
            )
    return list_sections


@dataclass(frozen=True, order=True)
class ForeignPackage:
    """A package of a suite that is stated, whatever the image's suite is."""

    suite: str
    name: str


@dataclass(frozen=True)
class PackageList:
    """What a root tree is made from.

    Attributes:
        asked: packages of the image's suite, sorted.
        foreign: packages of other suites, sorted.
        left_out: packages that are not installed, though others depend on them.
        beside: packages of other suites that are unpacked into a directory of their own, without
            what they depend on, so that the image's suite may have another version of them.
    """

    asked: tuple[str, ...]
    foreign: tuple[ForeignPackage, ...] = ()
    left_out: tuple[str, ...] = ()
    beside: tuple[ForeignPackage, ...] = ()

    @classmethod
    def parse(cls, text: str) -> PackageList:
        """A list with one package per line and comments after ``#``.

        A line is a name, or a name and ``@`` with its suite (and ``beside``, if it is to stand
        beside another version), or ``-`` with a name to leave out.

        Raises:
            WrongInputError: a line is none of these.
        """
        asked, foreign, left_out, beside = set(), set(), set(), set()
        for number, line in enumerate(text.splitlines(), start=1):
            entry = line.split("#", 1)[0].strip()
            if not entry:
                continue
            match = _LINE.fullmatch(entry)
            if match is None or (match["left_out"] and match["suite"]):
                raise WrongInputError(
                    f"must be NAME, NAME @SUITE, NAME @SUITE beside or -NAME, not {entry!r}",
                    where=f"line {number} of the package list",
                )
            if match["left_out"]:
                left_out.add(match["name"])
            elif match["beside"]:
                beside.add(ForeignPackage(match["suite"], match["name"]))
            elif match["suite"]:
                foreign.add(ForeignPackage(match["suite"], match["name"]))
            else:
                asked.add(match["name"])
        return cls(
            tuple(sorted(asked)),
            tuple(sorted(foreign)),
            tuple(sorted(left_out)),
            tuple(sorted(beside)),
        )

    def without(self, left_out: tuple[str, ...]) -> PackageList:
        """The same, for a tree that lacks some packages, too."""
        return replace(self, left_out=tuple(sorted({*self.left_out, *left_out})))

    @property
    def programs(self) -> frozenset[str]:
        """All packages, as versions are told of them: ``nginx@trixie`` for one that stands beside another."""
        return frozenset(
            {
                *self.names,
                *(
                    f"{foreign_package.name}@{foreign_package.suite}"
                    for foreign_package in self.beside
                ),
            }
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All packages that are asked for, of whatever suite, sorted."""
        return tuple(sorted({*self.asked, *(package.name for package in self.foreign)}))

    @property
    def foreign_suites(self) -> tuple[str, ...]:
        """The suites that are stated, sorted."""
        return tuple(sorted({package.suite for package in (*self.foreign, *self.beside)}))

    def lines(self) -> tuple[str, ...]:
        """The list without its comments, in an order that depends on nothing."""
        return (
            *self.asked,
            *(f"{package.name} @{package.suite}" for package in self.foreign),
            *(f"-{name}" for name in self.left_out),
            *(f"{package.name} @{package.suite} beside" for package in self.beside),
        )
