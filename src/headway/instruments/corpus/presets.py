"""Generated pages with a name: the sites of two studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from headway.instruments.corpus.model import Objects, PageModel
from headway.tables import table

_LIU_SITES = 18


@cache
def sander_sites() -> dict[str, PageModel]:
    """34 sites by name, ``sander-01`` with the fewest bytes, after Sander et al. 2022, Figure 4."""
    models = [model_of(row) for row in table("headway.instruments.corpus", "sites.csv")]
    return {model.name: model for model in models}


@cache
def liu_sites() -> dict[str, PageModel]:
    """18 of the 34, evenly from the smallest to the largest, each with all its objects on one host.

    Liu et al. 2024 chose their 18 sites as Sander et al. did, "with varying numbers of resources
    and sizes", and had them "hosted locally without external links" (section 3.1).
    """
    models = list(sander_sites().values())
    last = len(models) - 1
    chosen = (models[number * last // (_LIU_SITES - 1)] for number in range(_LIU_SITES))
    return {
        f"liu-{number:02}": replace(model, third_parties=0, third_party_objects=0)
        for number, model in enumerate(chosen, start=1)
    }


def model_of(row: Mapping[str, str | int]) -> PageModel:
    """The model of a row of the table of sites."""
    numbers = {column: int(value) for column, value in row.items() if column != "name"}
    kinds = {
        kind: Objects(numbers.pop(kind), numbers.pop(f"{kind}_bytes"))
        for kind in ("stylesheets", "scripts", "images", "fonts")
    }
    return PageModel(str(row["name"]), **kinds, **numbers)  # type: ignore[arg-type]
