"""The summary of a site of the corpus, known without making it or fetching anything."""

from __future__ import annotations

from headway.instruments.corpus.kepler import NAME as KEPLER
from headway.instruments.corpus.kepler import STRUCTURE, kepler_objects
from headway.instruments.corpus.model import PageModel
from headway.instruments.corpus.objects import ObjectsPage
from headway.instruments.corpus.packages import PACKAGES
from headway.instruments.corpus.population import population_member
from headway.instruments.corpus.presets import liu_sites, sander_sites
from headway.sites.maker import Summary


def summary(name: str) -> Summary:
    """The summary of a site that `corpus_names` names."""
    if page := ObjectsPage.parse(name):
        what = f"images of {page.size}"
        return Summary(name, what, page.count + 1, 1, page.count * page.size)
    if member := population_member(name):
        text, model = f"like sites of {member.provider}", member.model
        return Summary(name, text, model.resources, len(member.versions), model.total_bytes)
    if package := PACKAGES.get(name):
        source = f"{package.project} {package.version} ({package.licence})"
        return Summary(name, f"of the package {source}")
    if name == KEPLER:
        sizes = [kepler_object.bytes for kepler_object in kepler_objects()]
        return Summary(name, STRUCTURE, len(sizes), 1, sum(sizes))
    model = {**sander_sites(), **liu_sites()}[name]
    return Summary(
        name, _origin(name, model), model.resources, 1 + model.third_parties, model.total_bytes
    )


def _origin(name: str, model: PageModel) -> str:
    return "generated" if model.name == name else f"{model.name} on one host"
