"""Populations of sites: what is drawn, what the made sites are like, and what is refused."""

from __future__ import annotations

import statistics

import pytest

from headway.errors import WrongInputError
from headway.instruments.corpus.catalogue import make_site
from headway.instruments.corpus.pools import POOLS, member
from headway.instruments.corpus.population import population_member
from headway.sites.finding import find_outline
from headway.sites.outline import Outline
from headway.sites.site import Site
from headway.study.device import Device
from headway.study.experiment import Study
from headway.study.load import study_from
from headway.study.pools import answered
from headway.study.population import Population
from headway.study.workload import Page

SAMPLE = 200


def study(population: object, **more: object) -> Study:
    return study_from(
        {
            "name": "sites",
            "population": population,
            "workload": {"kind": "page", "versions": "recorded"},
            "client": {"program": "chromium"},
            "server": {"program": "headway-server"},
            **more,
        }
    )


def test_a_population_is_the_axis_of_sites() -> None:
    (experiment,) = study({"strata": {"google": 3, "own": ["kepler"]}}).experiments
    sites = experiment.axes["workload.site"]
    assert len(sites) == 4
    assert sites[-1] == "kepler"
    assert all(member(site) for site in sites[:3])
    assert experiment.population is not None
    assert set(experiment.population.sites.values()) == {"google", "own"}


def test_a_seed_draws_and_a_larger_sample_has_the_smaller_one() -> None:
    few = set(Population(strata={"facebook": 5}).sites)
    assert few == set(Population(strata={"facebook": 5}).sites)
    assert few < set(Population(strata={"facebook": 50}).sites)
    assert few != set(Population(strata={"facebook": 5}, seed=2).sites)


def test_all_of_a_stratum_can_be_drawn() -> None:
    assert len(Population(strata={"other": POOLS["other"]}).sites) == 595
    assert sum(POOLS.values()) == 14_707


def test_made_strata_stand_for_their_made_sites() -> None:
    both = {"google": 2, "other": 1}
    assert Population(strata=both).stands_for == {"google": 2940, "other": 595}
    own = {"google": 2, "own": ("kepler",)}
    assert Population(strata=own).stands_for == {}
    assert Population(strata=own, weights={"own": 60}).stands_for == {"google": 2940, "own": 60}


def test_each_site_has_a_network_of_its_own() -> None:
    (experiment,) = study({"strata": {"google": 2}}, axes={"path.profile": ["4g-good"]}).experiments
    rtts = {str(experiment.setting(at, "h2", 1).path.rtt) for at in experiment.grid()}
    assert len(rtts) == 2


def sites_of(provider: str) -> list[Site]:
    return [
        found.site()
        for number in range(1, SAMPLE + 1, 4)
        if (found := population_member(f"perna-{provider}-{number:04}"))
    ]


def over_h3(site: Site) -> float:
    return sum(one.protocol == "h3" for one in site.exchanges) / len(site.exchanges)


def bytes_over_h3(site: Site) -> float:
    return sum(len(one.body) for one in site.exchanges if one.protocol == "h3") / site.size_bytes


def test_providers_are_as_published() -> None:
    """Figures 4 and 5: of Cloudflare's sites the median page has half of its objects over HTTP/3, and 24 % of its bytes."""
    cloudflare = sites_of("cloudflare")
    assert statistics.median(map(over_h3, cloudflare)) == pytest.approx(0.5, abs=0.1)
    assert statistics.median(map(bytes_over_h3, cloudflare)) == pytest.approx(0.24, abs=0.1)
    for provider in ("google", "facebook", "other"):
        assert statistics.median(map(over_h3, sites_of(provider))) > 0.9


@pytest.mark.parametrize(
    ("device", "kilobytes"), [(Device.DESKTOP, 680), (Device.IPAD, 630), (Device.IPHONE_6, 402)]
)
def test_devices_have_pages_of_their_own(device: Device, kilobytes: int) -> None:
    """Section 5.3, for as many sites of each provider."""
    names = (f"perna-{provider}-{number:04}" for provider in POOLS for number in range(1, 400))
    sizes = [find_outline(answered(name, device)).size_bytes for name in names]
    assert statistics.fmean(sizes) == pytest.approx(1000 * kilobytes, rel=0.05)


def test_a_page_loads_the_variant_of_its_device() -> None:
    page = Page(kind="page", site="perna-google-0007", device=Device.IPAD)
    assert page.replayed == "perna-google-0007@ipad"
    assert Page(kind="page", site="kepler", device=Device.IPAD).replayed == "kepler"
    assert find_outline(page.replayed).hosts == find_outline(page.site).hosts


@pytest.mark.parametrize("name", ["perna-cloudflare-0001", "perna-google-0003@iphone-6"])
def test_a_site_is_what_its_outline_says(name: str) -> None:
    assert Outline.of(make_site(name)) == find_outline(name)


@pytest.mark.parametrize(
    "name", ["perna-google-9999", "perna-google-0000", "perna-amazon-0001", "perna-google-0001@pc"]
)
def test_other_names_are_no_members(name: str) -> None:
    assert member(name) is None
    with pytest.raises(WrongInputError):
        find_outline(name)
