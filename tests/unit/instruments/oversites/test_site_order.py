"""What sizes say that sharing does, beside what it did: sites, rank correlations, the figure, classes, what explains."""

from __future__ import annotations

import math
from typing import Any

import pytest

from headway.instruments.oversites.figures.site_order import KIND
from headway.instruments.oversites.mediation import explained
from headway.instruments.oversites.siteclasses import SHARING, site_classes
from headway.instruments.oversites.siteorder import ordered_sites, rank_agreement
from headway.report.figures.kind import Subject
from headway.report.sheet import Dots, Text
from headway.report.styles import study_styles
from tests.unit.instruments.oversites.test_guide import (
    MIXED,
    PARALLEL,
    SEQUENTIAL,
    SITES,
    nothing,
    study,
)

KNOBS = {SEQUENTIAL: "chrome", PARALLEL: "round-robin", MIXED: "firefox"}


def _ratio(site: int) -> float:
    """From 0.6 to 1.6, in another order than sizes."""
    return 0.6 + (site * 7 % SITES) / (SITES - 1)


def _columns(in_order: str = "chrome") -> dict[str, Any]:
    knobs = KNOBS | {SEQUENTIAL: in_order}
    return {
        "knobs": lambda name, site, loss: f"server priorities={knobs[name]}",
        "ordered_bytes": lambda name, site, loss: 1e5 * site,
        "shared_bytes": lambda name, site, loss: 1e5 * site * _ratio(site),
    }


EFFECTS = {
    SEQUENTIAL: nothing,
    PARALLEL: lambda site, loss: math.log(_ratio(site)),
    MIXED: lambda site, loss: -math.log(_ratio(site)) / 2,
}


def test_what_was_measured_stands_beside_what_sizes_say() -> None:
    analysis = study(EFFECTS, noise=0.001, **_columns())
    found = ordered_sites(analysis)
    assert list(found) == ["loss 0 %", "loss 2 %"]
    sites = found["loss 2 %"]
    assert len(sites) == SITES
    for number, one in enumerate(sites, 1):
        assert one.told == pytest.approx(_ratio(number))
        assert one.measured[PARALLEL] == pytest.approx(one.told, rel=0.01)
        assert one.measured[MIXED] == pytest.approx(one.told**-0.5, rel=0.01)
    assert rank_agreement(sites, PARALLEL)[0] == pytest.approx(1)
    assert rank_agreement(sites, MIXED)[0] == pytest.approx(-1)


def test_the_figure_has_a_panel_for_each_network() -> None:
    analysis = study(EFFECTS, noise=0.001, **_columns())
    picture = KIND.draw(Subject(analysis, study_styles([analysis])))
    assert picture is not None
    texts = [shape.text for shape in picture.wide.shapes if isinstance(shape, Text)]
    assert {"loss 0 %", "loss 2 %", "told by sizes", PARALLEL, MIXED} <= set(texts)
    # A figure without lines tells contenders apart by the shape of their dots as well as by colour.
    made = {(dots.colour, dots.marker) for dots in picture.wide.shapes if isinstance(dots, Dots)}
    assert len(made) == 2 == len({marker for _, marker in made})
    assert f"loss 2 %, rank correlation over {SITES} sites: {PARALLEL} 1.0" in picture.said
    assert picture.data().height == 2 * 2 * SITES


def test_only_orders_stand_beside_what_orders_do() -> None:
    """Without a baseline that sends one after the other, or without loads that tell what is seen, nothing is told."""
    assert not ordered_sites(study(EFFECTS, **_columns("round-robin")))
    told = {"knobs": _columns()["knobs"]}
    analysis = study(EFFECTS, **told)
    assert not ordered_sites(analysis)
    assert KIND.draw(Subject(analysis, study_styles([analysis]))) is None


def test_it_is_a_trait_of_sites_and_may_explain_them() -> None:
    analysis = study({SEQUENTIAL: nothing, PARALLEL: EFFECTS[PARALLEL]}, **_columns())
    titles = [one.title for one in site_classes(analysis) if one.trait == SHARING]
    assert titles == [
        "where sharing puts up to 1.10 times as much before what is seen",
        "where sharing puts over 1.10 times as much before what is seen",
    ]
    fit = explained(analysis)
    assert fit is not None
    (term,) = (one for one in fit.terms if one.name == SHARING)
    assert term.p < 1e-6
    assert term.share > 0.9
