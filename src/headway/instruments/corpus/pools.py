"""The pools of made sites that populations draw from, one for each provider: their sizes, and the names of their sites."""

from __future__ import annotations

import re

from headway.overriding import override
from headway.study.device import Device
from headway.study.pools import SitePools

POOLS = {"cloudflare": 9412, "google": 2940, "facebook": 1760, "other": 595}
"""Made sites by provider, as many as Perna et al. 2022 loaded. The paper gives their sum, 14 707, and the last number;
the others fit the shares of objects over HTTP/3 of its Figures 4 and 5 (docs/corpus.md)."""
_MADE = re.compile(r"perna-([a-z]+)-([0-9]{4})(?:@([a-z0-9-]+))?")


def member(site: str) -> tuple[str, int, Device] | None:
    """Provider, number and device of a made site of the population; None if it is none."""
    match = _MADE.fullmatch(site)
    if match is None or match[1] not in POOLS or not 1 <= int(match[2]) <= POOLS[match[1]]:
        return None
    if match[3] is not None and match[3] not in [device.value for device in Device]:
        return None
    return match[1], int(match[2]), Device(match[3] or Device.DESKTOP)


class _Providers(SitePools):
    sizes = POOLS

    @override
    def site(self, pool: str, number: int) -> str:
        return f"perna-{pool}-{number:04}"

    @override
    def answered(self, site: str, device: Device) -> str:
        if device is Device.DESKTOP or member(site) is None or "@" in site:
            return site
        return f"{site}@{device}"


SITE_POOLS = _Providers()
