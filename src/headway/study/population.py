"""Populations: groups of sites, of which a study loads a sample."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError, field_validator, model_validator

from headway.errors import WrongInputError, counted, nearest
from headway.study.base_model import Part
from headway.study.pools import pool_site, pool_sizes
from headway.study.source import Source

SITES_AXIS = "workload.site"
KEY = "population"


class Population(Part):
    """A sample of sites, each in a stratum."""

    strata: dict[str, int | tuple[str, ...]] = Field(
        min_length=1,
        description=f"by name, how many of its made sites are drawn ({', '.join(pool_sizes())}), or the sites themselves: "
        "names, or files of archives",
    )
    seed: int = Field(default=1, ge=0, description="of the draw")
    weights: dict[str, float] = Field(
        default={},
        description="by stratum, how many sites it stands for; made strata stand for all their made sites",
        exclude_if=lambda weights: not weights,
    )

    @field_validator("strata")
    @classmethod
    def _has_sites(
        cls, strata: dict[str, int | tuple[str, ...]]
    ) -> dict[str, int | tuple[str, ...]]:
        sizes = pool_sizes()
        for name, wanted in strata.items():
            if isinstance(wanted, tuple):
                if not wanted:
                    raise ValueError(f"the stratum {name} is empty: name a site, or leave it out")
            elif wanted < 1:
                raise ValueError(f"the stratum {name} is empty: it has {wanted} sites")
            elif name not in sizes:
                hint = nearest(name, [*sizes], then=f"there are some of {', '.join(sizes)}")
                raise ValueError(f"no sites are made for {name!r}{hint}; or list its sites")
            elif wanted > sizes[name]:
                reason = counted(sizes[name], "made site")
                raise ValueError(f"the stratum {name} has {reason}, not {wanted}")
        listed = [site for sites in strata.values() if isinstance(sites, tuple) for site in sites]
        if twice := next((site for site in listed if listed.count(site) > 1), None):
            raise ValueError(f"{twice} is listed twice; a site has one stratum")
        return strata

    @model_validator(mode="after")
    def _weighs_strata(self) -> Population:
        for name, weight in self.weights.items():
            if name not in self.strata:
                hint = nearest(name, [*self.strata], then=f"strata are {', '.join(self.strata)}")
                raise ValueError(f"weights: {name!r} is no stratum{hint}")
            if not (0 < weight < math.inf):
                raise ValueError(f"weights: {name} stands for {weight:g} sites; write more than 0")
        if self.weights and not self.stands_for:
            missing = next(
                name for name in self.strata if name not in {**self._made, **self.weights}
            )
            raise ValueError(f"weights: say how many sites {missing} stands for, too")
        return self

    @property
    def stands_for(self) -> dict[str, float]:
        """How many sites each stratum stands for; nothing if that is not known of one."""
        known = {**self._made, **self.weights}
        return {name: known[name] for name in self.strata} if len(known) == len(self.strata) else {}

    @property
    def _made(self) -> dict[str, float]:
        """How many sites there are of the strata that are drawn."""
        sizes = pool_sizes()
        return {name: sizes[name] for name, of in self.strata.items() if isinstance(of, int)}

    @property
    def sites(self) -> dict[str, str]:
        """The stratum of every site of the sample."""
        return {site: name for name in self.strata for site in self._drawn(name)}

    def _drawn(self, name: str) -> tuple[str, ...]:
        """The sites of a stratum; a larger sample of the same seed has those of a smaller one."""
        wanted = self.strata[name]
        if isinstance(wanted, tuple):
            return wanted
        draw = random.Random(drawn_by(f"population/{name}", self.seed))
        numbers = sorted(range(1, pool_sizes()[name] + 1), key=lambda _: draw.random())[:wanted]
        return tuple(pool_site(name, number) for number in sorted(numbers))


def with_population(raw: Mapping[str, Any], source: Source, experiment: str) -> dict[str, Any]:
    """An experiment's tables in which its population stands as the axis of sites.

    Raises:
        WrongInputError: the study has that axis, too.
    """
    try:
        population = Population.model_validate(raw[KEY]) if raw.get(KEY) else None
    except ValidationError:
        return dict(raw)  # which is told of the key, with its place in the file
    if population is None:
        return dict(raw)
    if SITES_AXIS in raw["axes"]:
        where = source.where(f"axes.{SITES_AXIS}", experiment=experiment)
        reason = "the population is the axis of sites; leave out one of the two"
        raise WrongInputError(reason, where=where)
    return {**raw, "axes": {**raw["axes"], SITES_AXIS: list(population.sites)}}


def drawn_by(what: str, seed: int) -> int:
    """The seed of a draw for something, from a seed that others have, too."""
    return int.from_bytes(hashlib.sha256(f"{what}/{seed}".encode()).digest()[:8])
