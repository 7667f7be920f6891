"""Sites without the Internet: made pages, the same bytes on every machine, and packages' pages."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from headway.errors import WrongInputError, nearest
from headway.instruments.corpus.generator import generate
from headway.instruments.corpus.kepler import NAME as KEPLER
from headway.instruments.corpus.kepler import kepler_site
from headway.instruments.corpus.model import Objects, PageModel
from headway.instruments.corpus.objects import ObjectsPage
from headway.instruments.corpus.packages import PACKAGES
from headway.instruments.corpus.population import population_examples, population_member
from headway.instruments.corpus.presets import liu_sites, sander_sites
from headway.sites.site import Site

__all__ = ["Objects", "PageModel", "corpus_names", "generate", "is_corpus_name", "make_site"]

_EXAMPLES = ("objects-1x10MB", "objects-20x100kB", "objects-200x10kB")
_PARAMETRISED = "objects-"


def corpus_names() -> tuple[str, ...]:
    """Names of all sites, of ``objects-COUNTxSIZE`` and of the population some examples only."""
    return (*_EXAMPLES, KEPLER, *sander_sites(), *liu_sites(), *population_examples(), *PACKAGES)


def is_corpus_name(name: str) -> bool:
    """Whether a site has that name, or would have if its count and size were possible."""
    made = population_member(name) is not None or name.startswith(_PARAMETRISED)
    return made or name in corpus_names()


def make_site(name: str, *, downloads: Path | None = None) -> Site:
    """The site of that name.

    Args:
        name: one of `corpus_names()`, or ``objects-COUNTxSIZE`` with any count and size.
        downloads: directory of packages' archives, which are fetched when they are not there; a
            temporary one if None.

    Raises:
        WrongInputError: there is no such site, its count or size cannot be, or the machine lacks
            the client that fetches its package.
        HeadwayError: its package cannot be fetched.
    """
    if page := ObjectsPage.parse(name):
        return page.site()
    if member := population_member(name):
        return member.site()
    if name in PACKAGES:
        with tempfile.TemporaryDirectory() as scratch:
            return PACKAGES[name].site(downloads or Path(scratch))
    if name == KEPLER:
        return kepler_site()
    if model := {**sander_sites(), **liu_sites()}.get(name):
        origin = "" if model.name == name else f", {model.name} on one host"
        size = f"{model.resources} objects, {model.total_bytes} bytes"
        return replace(generate(model, f"generated: {size}{origin}"), name=name)
    if name.startswith(_PARAMETRISED):
        raise WrongInputError(f"must be objects-COUNTxSIZE, such as {_EXAMPLES[1]!r}", where=name)
    raise WrongInputError(f"no site {name!r}{nearest(name, corpus_names())}")
