"""The selection of each package's version and suite for a root tree or a layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headway.image.apt import PackageVersion, PrivateApt
from headway.image.packagelist import PackageList
from headway.image.progress import BuildProgress


@dataclass(frozen=True)
class Chosen:
    """Packages that one apt is to download.

    Attributes:
        apt: where packages come from.
        packages: which.
        beside: whether they are unpacked into a directory of their own.
    """

    apt: PrivateApt
    packages: tuple[PackageVersion, ...]
    beside: bool = False


def select(
    own: PrivateApt, others: Sequence[PrivateApt], wanted: PackageList, progress: BuildProgress
) -> list[Chosen]:
    """Everything that a root tree or a layer is unpacked from.

    A package of another suite is taken from there; what it depends on, from the image's own suite
    if that has a package of the name. The name of a library's package changes with its binary
    interface, so equal names fit, even where the other suite's package asks for its own version.

    Args:
        own: the image's suite; it may know packages that are there already.
        others: the other suites that the list states.
        wanted: the list.
        progress: is told how it goes.

    Raises:
        HeadwayError: no network, or a suite lacks a package that is asked of it.
    """
    of_own = bool(wanted.asked or wanted.foreign)
    of_own |= own.suite in wanted.foreign_suites
    for apt in (*((own,) if of_own else ()), *others):
        progress.step(f"reading the package list of {apt.suite}")
        apt.update(progress.advance)
    progress.step("choosing packages")
    offered = own.names() if wanted.foreign else frozenset()
    asked = list(wanted.asked)
    chosen = []
    for apt in others:
        names = [package.name for package in wanted.foreign if package.suite == apt.suite]
        if not names:
            continue
        closure = apt.closure(names)
        missing = [
            package for package in closure if package.name in names or package.name not in offered
        ]
        asked += [package.name for package in closure if package not in missing]
        chosen.append(Chosen(apt, tuple(missing)))
    for apt in (own, *others):
        if names := [package.name for package in wanted.beside if package.suite == apt.suite]:
            alone = tuple(package for package in apt.closure(names) if package.name in names)
            chosen.append(Chosen(apt, alone, beside=True))
    asked += [package.name for package in wanted.foreign if package.suite == own.suite]
    return [*([Chosen(own, tuple(own.closure(asked)))] if asked else []), *chosen]
