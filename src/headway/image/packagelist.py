"""The list of the root tree's packages, as ``packages.txt`` writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headway.errors import WrongInputError

_LINE = re.compile(
    r"(?P<left_out>-?)(?P<name>[a-z0-9][a-z0-9.+-]+)"
    r"(?:\s+@(?P<suite>[a-z-]+)(?P<beside>\s+beside)?)?"
)


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
