"""Costs of scripts on the main thread by their size, over the Web: the HTTP Archive's Web Almanac.

Web Almanac 2019, chapter JavaScript (H. Djirdeh), figures 1.2 and 1.3: percentiles of the bytes of scripts that a page
loads, and of the time that V8 takes for them on the main thread, over the pages of July 2019's crawl. The archive has
published no such figures of later years, nor of style sheets and documents, which cost nothing here.

The two distributions are put together by their percentiles: a page with the median's bytes takes the median's time.
Between percentiles, the logarithms are interpolated; beyond them, time goes with bytes. Each script has its share of the
page's time, by its bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from headway.sites.cost import ThreadCost
from headway.sites.site import Exchange, Site

_DESKTOP = ((76, 141), (186, 352), (391, 849), (721, 1850), (1131, 3543))
_MOBILE = ((65, 377), (164, 988), (359, 2437), (668, 5518), (1060, 10735))
"""Kilobytes (of 1024 bytes), and milliseconds, at the 10th, 25th, 50th, 75th and 90th percentile."""
_KILOBYTE = 1024


def almanac_costs(site: Site, *, mobile: bool) -> Mapping[str, ThreadCost]:
    """Costs of a site's scripts, by URL.

    Args:
        site: the site.
        mobile: whether on the archive's mobile device, a Moto G4 that is emulated.
    """
    scripts = [
        exchange for exchange in site.exchanges if exchange.status == 200 and _is_script(exchange)
    ]
    size_bytes = sum(len(script.body) for script in scripts)
    if not size_bytes:
        return {}
    every_ms = page_ms(size_bytes, mobile=mobile)
    shares = ((script.url, len(script.body) / size_bytes) for script in scripts)
    return {url: ThreadCost(evaluations_ms=(every_ms * share,)) for url, share in shares}


def page_ms(size_bytes: float, *, mobile: bool) -> float:
    """What a page takes whose scripts have so many bytes, compressed."""
    table, kilobytes = _MOBILE if mobile else _DESKTOP, size_bytes / _KILOBYTE
    if kilobytes <= table[0][0]:
        return table[0][1] * kilobytes / table[0][0]
    if kilobytes >= table[-1][0]:
        return table[-1][1] * kilobytes / table[-1][0]
    return _between(table, kilobytes)


def _between(table: Sequence[tuple[float, float]], kilobytes: float) -> float:
    low, high = next(pair for pair in pairwise(table) if kilobytes <= pair[1][0])
    part = math.log(kilobytes / low[0]) / math.log(high[0] / low[0])
    return math.exp(math.log(low[1]) + part * math.log(high[1] / low[1]))


def _is_script(exchange: Exchange) -> bool:
    kind = (exchange.header("content-type") or "").partition(";")[0].lower()
    return "javascript" in kind or "ecmascript" in kind
