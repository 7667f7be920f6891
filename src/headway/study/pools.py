"""Pools of made sites that populations draw from, as instruments have them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache

from headway.modules import instrument_modules
from headway.study.device import Device


class SitePools(ABC):
    """Pools of an instrument; the sites of each are numbered from 1.

    Attributes:
        sizes: how many sites each pool has, by its name.
    """

    sizes: Mapping[str, int]

    @abstractmethod
    def site(self, pool: str, number: int) -> str:
        """The name of a site of a pool."""

    @abstractmethod
    def answered(self, site: str, device: Device) -> str:
        """What a site answers a device with: the name of a variant; the site itself if it has none, or is of no pool."""


@cache
def _by_name() -> Mapping[str, SitePools]:
    modules = instrument_modules("pools")
    return {name: module.SITE_POOLS for module in modules for name in module.SITE_POOLS.sizes}


def pool_sizes() -> dict[str, int]:
    """How many made sites there are in each pool."""
    return {name: pools.sizes[name] for name, pools in _by_name().items()}


def pool_site(pool: str, number: int) -> str:
    """The name of a site of a pool."""
    return _by_name()[pool].site(pool, number)


def answered(site: str, device: Device) -> str:
    """What a site answers a device with: sites of pools may have a variant for each."""
    for pools in dict.fromkeys(_by_name().values()):
        site = pools.answered(site, device)
    return site
