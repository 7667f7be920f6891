"""The strata of an experiment's sites."""

from __future__ import annotations

from collections.abc import Mapping

from headway.analysis.analysis import Analysis
from headway.study.population import SITES_AXIS


def strata(analysis: Analysis) -> Mapping[str, str]:
    """The stratum of each cell's site; nothing if the experiment has no population."""
    population = analysis.experiment.population
    if population is None:
        return {}
    sites = population.sites
    at = analysis.experiment.coordinates
    places = ((cell.name, str(at.get(cell.name, {}).get(SITES_AXIS))) for cell in analysis.cells)
    return {name: sites[site] for name, site in places if site in sites}
