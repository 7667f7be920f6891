"""Makers of sites: they have sites by name for whoever has no archive. Instruments have them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headway.errors import WrongInputError
from headway.modules import instrument_modules
from headway.sites.outline import Outline
from headway.sites.site import Site


@dataclass(frozen=True)
class Summary:
    """A site in a line.

    Attributes:
        name: of the site.
        description: what it is.
        objects: number of exchanges; None if only the site itself would tell, as below.
        hosts: number of hosts.
        size_bytes: of all bodies; of a page of equal images, of these.
    """

    name: str
    description: str
    objects: int | None = None
    hosts: int | None = None
    size_bytes: int | None = None


class SiteMaker(ABC):
    """Sites that are made, or fetched, when they are needed.

    Attributes:
        package: whose files decide on what is made; if one changes, sites are made again.
    """

    package: str

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of its sites, as lists show them; of endless kinds some examples."""

    @abstractmethod
    def makes(self, name: str) -> bool:
        """Whether a site of that name is its own, or would be if the name were possible."""

    @abstractmethod
    def make(self, name: str, downloads: Path) -> Site:
        """The site of that name.

        Args:
            name: one that it makes.
            downloads: directory of what is fetched for sites, which is fetched when it is not there.

        Raises:
            WrongInputError: the name is not possible, or the machine lacks what fetches the site.
            HeadwayError: it cannot be fetched.
        """

    @abstractmethod
    def summary(self, name: str) -> Summary:
        """The summary of a site that `names` has, without making it, or fetching anything."""

    def outline(self, name: str) -> Outline | None:
        """The outline of a site that need not be made for it; None of other sites."""
        return None


@cache
def site_makers() -> tuple[SiteMaker, ...]:
    """All makers that there are."""
    return tuple(module.MAKER for module in instrument_modules("sites"))


def made_names() -> tuple[str, ...]:
    """Names of the sites of all makers."""
    return tuple(name for maker in site_makers() for name in maker.names())


def maker_of(name: str) -> SiteMaker | None:
    """Whose site a name is; None if nobody makes it."""
    return next((maker for maker in site_makers() if maker.makes(name)), None)


def made_summary(name: str) -> Summary:
    """The summary of a site that `made_names` has.

    Raises:
        WrongInputError: nobody makes it.
    """
    maker = maker_of(name)
    if maker is None:
        raise WrongInputError("no site is made by that name", where=name)
    return maker.summary(name)
