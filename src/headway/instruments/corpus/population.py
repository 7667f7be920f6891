"""Made sites of four providers, after what Perna et al. 2022 tell of theirs.

Of the sites' connections, domains, sizes and shares over HTTP/3 the paper tells a few numbers (docs/corpus.md); what
they leave open is assumed, in `_STRATA`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlsplit

from headway.instruments.corpus.derivation import (
    HTML_BYTES,
    HTML_BYTES_PER_RESOURCE,
    LEAST_KIND_BYTES,
    counts_of,
    kinds_of,
    structure_of,
)
from headway.instruments.corpus.generator import generate
from headway.instruments.corpus.keystream import Keystream
from headway.instruments.corpus.model import Objects, PageModel
from headway.instruments.corpus.plan import PagePlan, older_hosts, plan_page
from headway.instruments.corpus.pools import POOLS, member
from headway.instruments.corpus.presets import model_of
from headway.sites.outline import Outline
from headway.sites.site import Site
from headway.study.device import Device

_FEWEST, _MOST = 6, 300
_FEWEST_SPARE_BYTES = 10_000
_DEVICE_PERCENT = {
    Device.DESKTOP: 100,
    Device.IPAD: 630 * 100 // 680,
    Device.IPHONE_6: 402 * 100 // 680,
}
"""Mean page sizes: 680, 630 and 402 kB (section 5.3)."""
_HEAVY_SIGMA = 1.5
_H1_PERCENT = 25
"""Of the hosts without HTTP/3, those without HTTP/2."""


@dataclass(frozen=True)
class _Drawn:
    """A lognormal quantity: its median, and the standard deviation of its natural logarithm."""

    median: int
    sigma: float

    def draw(self, stream: Keystream) -> int:
        return self.median * stream.lognormal(self.sigma) >> 32


@dataclass(frozen=True)
class _Stratum:
    """What the sites of a provider are like.

    Attributes:
        size: bytes of all objects, for a desktop.
        objects: how many there are.
        third_parties: hosts besides the page's.
        over_h3: bands of the share of objects over HTTP/3: percent of the sites, least and most percent of objects.
        spread: least and most percent of a page's objects over HTTP/3 that third parties have.
        heavy: percent of the sites where the largest images are on hosts without HTTP/3.
    """

    size: _Drawn
    objects: _Drawn
    third_parties: _Drawn
    over_h3: tuple[tuple[int, int, int], ...]
    spread: tuple[int, int]
    heavy: int


_STRATA = {
    "cloudflare": _Stratum(
        _Drawn(950_000, 0.7),
        _Drawn(60, 0.6),
        _Drawn(9, 0.6),
        ((14, 5, 20), (36, 20, 50), (42, 50, 89), (5, 90, 98), (3, 100, 100)),
        (10, 50),
        100,
    ),
    "google": _Stratum(
        _Drawn(420_000, 0.6),
        _Drawn(30, 0.6),
        _Drawn(4, 0.6),
        ((20, 30, 89), (41, 90, 98), (39, 100, 100)),
        (20, 70),
        10,
    ),
    "facebook": _Stratum(
        _Drawn(700_000, 0.4),
        _Drawn(45, 0.4),
        _Drawn(2, 0.4),
        ((3, 60, 89), (60, 92, 98), (37, 100, 100)),
        (60, 90),
        20,
    ),
    "other": _Stratum(
        _Drawn(260_000, 0.7),
        _Drawn(12, 0.6),
        _Drawn(1, 0.8),
        ((5, 50, 89), (15, 90, 98), (80, 100, 100)),
        (0, 20),
        20,
    ),
}


@dataclass(frozen=True)
class Member:
    """A made site of the population.

    Attributes:
        name: of the site.
        provider: its stratum.
        model: what it is made of.
        versions: the highest version of HTTP that each of its hosts speaks, the page's first.
    """

    name: str
    provider: str
    model: PageModel
    versions: dict[str, str]

    @property
    def description(self) -> str:
        return f"generated: {self.model.resources} objects, {self.model.total_bytes} bytes, like sites of {self.provider}"

    @property
    def outline(self) -> Outline:
        """What planning needs of it, without making its bodies."""
        hosts = tuple(self.versions)
        return Outline(
            page=f"https://{hosts[0]}/",
            hosts=hosts,
            size_bytes=self.model.total_bytes,
            resources=self.model.resources,
            versions=tuple(self.versions.values()),
        )

    def site(self) -> Site:
        """The site itself, each exchange as of its host's version."""
        made = generate(self.model, self.description)
        spoken = (
            replace(exchange, protocol=self.versions[exchange.host]) for exchange in made.exchanges
        )
        return replace(made, name=self.name, exchanges=tuple(spoken))


def population_examples() -> tuple[str, ...]:
    """A site of each provider."""
    return tuple(f"perna-{provider}-0001" for provider in POOLS)


@lru_cache(maxsize=1024)
def population_member(name: str) -> Member | None:
    """The site of that name; None if it is none of the population."""
    triple = member(name)
    if triple is None:
        return None
    provider, number, device = triple
    stratum, stream = _STRATA[provider], Keystream(f"population/{provider}/{number}")
    resources = min(_MOST, max(_FEWEST, stratum.objects.draw(stream)))
    percent = _over_h3(stratum, stream)
    older = min(resources - 1, (resources * (100 - percent) + 50) // 100)
    model = _model(f"perna-{provider}-{number:04}", stratum, resources, older, stream)
    versions = _versions(plan_page(model), stream)
    if older and stream.below(100) < stratum.heavy:
        model = replace(model, heavy_older=True, size_sigma=_HEAVY_SIGMA)
    return Member(name, provider, _for_device(model, device), versions)


def _over_h3(stratum: _Stratum, stream: Keystream) -> int:
    """Percent of a page's objects that come over HTTP/3."""
    drawn = stream.below(100)
    for share, least, most in stratum.over_h3:
        if drawn < share:
            return stream.between(least, most)
        drawn -= share
    raise AssertionError("bands add up to 100 %")


def _model(
    name: str, stratum: _Stratum, resources: int, older: int, stream: Keystream
) -> PageModel:
    """A page with so many objects, of which so many come from hosts with an older version than HTTP/3."""
    html = HTML_BYTES + HTML_BYTES_PER_RESOURCE * resources
    drawn = stratum.size.draw(stream)
    counts = counts_of(drawn, resources, stream)
    floor = sum(count * LEAST_KIND_BYTES[kind] for kind, count in counts.items())
    rest = max(drawn - html, floor + _FEWEST_SPARE_BYTES)
    kinds, structure = kinds_of(counts, rest, stream), structure_of(counts, resources, stream)
    structure |= _chains(counts["scripts"] - structure["blocking_scripts"], stream)
    newer = (resources - 1 - older) * stream.between(*stratum.spread) // 100
    outside = _outside(stratum.third_parties.draw(stream), older, newer)
    numbers = {"seed": 1, "html_bytes": html, **kinds, **structure, **outside}
    return model_of({"name": name, **numbers})


def _chains(scripts: int, stream: Keystream) -> dict[str, int]:
    """Scripts that scripts insert, of those that do not block."""
    inserted = min(scripts - 1, scripts * stream.between(30, 70) // 100) if scripts else 0
    return {"inserted_scripts": inserted, "script_depth": 1 + min(inserted, stream.between(2, 6))}


def _outside(parties: int, older: int, newer: int) -> dict[str, int]:
    """Third parties and their objects: older and newer ones in proportion to their objects, but one each at least."""
    together = older + newer
    parties = min(max(parties, (older > 0) + (newer > 0)), together)
    of_older = parties * older // together if together else 0
    of_older = min(max(of_older, older > 0, parties - newer), older, parties - (newer > 0))
    return {
        "third_parties": parties,
        "third_party_objects": together,
        "older_parties": of_older,
        "older_objects": older,
    }


def _versions(plan: PagePlan, stream: Keystream) -> dict[str, str]:
    """The versions of the hosts, in the order of their objects."""
    page, older = f"{plan.model.name}.test", older_hosts(plan.model)
    sheets, scripts = (
        [resource.url for resource in kind] for kind in (plan.stylesheets, plan.scripts)
    )
    urls = (*sheets, *scripts, *plan.fonts, *plan.images)
    hosts = dict.fromkeys([page, *(str(urlsplit(url).hostname) for url in urls)])
    return {host: _older(stream) if host in older else "h3" for host in hosts}


def _older(stream: Keystream) -> str:
    return "http/1.1" if stream.below(100) < _H1_PERCENT else "h2"


def _for_device(model: PageModel, device: Device) -> PageModel:
    """What the page has for a device: as many objects, of fewer bytes."""
    wanted = model.total_bytes * _DEVICE_PERCENT[device] // 100 - model.html_bytes
    rest = model.total_bytes - model.html_bytes
    kinds = {kind: getattr(model, kind) for kind in LEAST_KIND_BYTES}
    fewer = {
        kind: Objects(
            value.count,
            max(value.count * LEAST_KIND_BYTES[kind], value.total_bytes * wanted // rest),
        )
        for kind, value in kinds.items()
        if value.count
    }
    return model if device is Device.DESKTOP else replace(model, **fewer)  # type: ignore[arg-type]
