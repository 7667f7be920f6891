"""The corpus as a maker of sites."""

from __future__ import annotations

from pathlib import Path

from headway.instruments.corpus.pools import member
from headway.overriding import override
from headway.sites.maker import SiteMaker, Summary
from headway.sites.outline import Outline
from headway.sites.site import Site


class _Corpus(SiteMaker):
    """Each method loads what it needs: the corpus is large, and most commands ask for a name at most."""

    package = "headway.instruments.corpus"

    @override
    def names(self) -> tuple[str, ...]:
        from headway.instruments.corpus.catalogue import corpus_names

        return corpus_names()

    @override
    def makes(self, name: str) -> bool:
        from headway.instruments.corpus.catalogue import is_corpus_name

        return is_corpus_name(name)

    @override
    def make(self, name: str, downloads: Path) -> Site:
        from headway.instruments.corpus.catalogue import make_site

        return make_site(name, downloads=downloads)

    @override
    def summary(self, name: str) -> Summary:
        from headway.instruments.corpus.summary import summary

        return summary(name)

    @override
    def outline(self, name: str) -> Outline | None:
        """That of a site of the population: there are thousands, whose bodies nobody needs to plan."""
        if member(name) is None:
            return None
        from headway.instruments.corpus.population import population_member

        made = population_member(name)
        return made.outline if made else None


MAKER = _Corpus()
