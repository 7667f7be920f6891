"""Sites as observations: shares, medians, classes, correlations, the sentence, the figures and the claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from headway.analysis.analysis import Analysis, analyse
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claims import judge
from headway.instruments.populations.deltas import main_deltas, over_sites_of, weighted_deltas
from headway.instruments.populations.sentences import population_sentences
from headway.instruments.populations.tables import KIND, TRAITS
from headway.instruments.populations.traits import (
    can_grow_trees,
    class_names,
    decision_tree,
    page_traits,
)
from headway.report.figures import Section, Subject, pictures
from headway.report.figures.kind import NARROW
from headway.report.styles import study_styles
from headway.report.tables.kind import Matter
from headway.study.claim import Claim
from tests.unit import made_results as made
from tests.unit.drawn import within

SITES = [f"site-{number:02}" for number in range(20)]
NEAR, FAR = "0 %", "5 %"


def page(contender: str, site: str, loss: str, onload_s: float, number: int) -> dict[str, Any]:
    place = f"{'near' if loss == NEAR else 'far'}-{site}"
    return made.run(
        contender,
        1,
        onload_s,
        cell=place,
        workload=f"page {site}",
        size_bytes=None,
        client="chromium",
        onload_s=onload_s,
        loss_pct=float(loss.split()[0]),
        objects=40,
        h3_objects=40 - number if contender == "h3" else 0,
        connections=3 + number,
        domains=2 + number,
        largest_share=1 - number / 40,
        page_bytes=10**5 * (1 + number % 7),
    )


def population(deltas: Sequence[float]) -> Analysis:
    """Sites at which h3 is natively as fast as h2, and at 5 % loss so much sooner or later."""
    rows = []
    for number, (site, delta) in enumerate(zip(SITES, deltas, strict=True)):
        for loss, apart in ((NEAR, 0.001 * (-1) ** number), (FAR, delta)):
            rows += [
                page("h2", site, loss, 1.0, number),
                page("h3", site, loss, 1.0 + apart, number),
            ]
    grid = [
        {"name": f"{place}-{site}", "at": {"path.loss": loss, "workload.site": site}}
        for place, loss in (("near", NEAR), ("far", FAR))
        for site in SITES
    ]
    told = {
        "name": "",
        "baseline": "h2",
        "metrics": ["onload_s"],
        "axes": {"path.loss": [NEAR, FAR], "workload.site": SITES},
        "population": {"strata": {"one": SITES[:10], "other": SITES[10:]}},
        "grid": grid,
    }
    return analyse(made.results(rows, made.experiments(told)))


@pytest.fixture(scope="module")
def gains() -> Analysis:
    """Sites with few connections gain most; the last three lose."""
    return population([-0.36 + 0.02 * number for number in range(17)] + [0.15, 0.2, 0.25])


def test_each_site_counts_once(gains: Analysis) -> None:
    near, far = main_deltas(gains)
    assert (near.network, far.network) == ("loss 0 %", "loss 5 %")
    assert far.ahead.value == pytest.approx(0.85)
    assert near.ahead.value == pytest.approx(0.5)
    assert far.median.value == pytest.approx(-0.17)
    assert far.median.interval is not None
    assert far.median.interval.low < -0.17 < far.median.interval.high
    assert [part.value for part in far.classes] == pytest.approx([0.65, 0.2, 0.15])
    assert far.of(("other",)).ahead.value == pytest.approx(0.7)


def test_strata_of_few_sites_are_resampled_together() -> None:
    """One site of each stratum would be drawn every time, as if nothing varied."""
    values = (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)
    alone = over_sites_of([str(value) for value in values], values, lambda rows: float(rows.mean()))
    together = over_sites_of(["one"] * 7, values, lambda rows: float(rows.mean()))
    assert alone == together
    assert alone.interval is not None and alone.interval.low < -0.05


def test_the_answer_is_a_sentence(gains: Analysis) -> None:
    told, *_ = population_sentences(gains)
    assert told.startswith(
        "h3 against h2 over 20 sites, by onLoad: faster at most sites in loss 5 %"
    )
    assert "85 %" in told and "no majority is shown in loss 0 %" in told


def over_sites(
    h2: Sequence[float], h3: Sequence[float], metric: str = "onload_s", **more: Any
) -> Analysis:
    """Sites of two strata, a visit each over h2 and h3; of what is infinite, one that timed out."""
    rows = [
        made.run(
            contender,
            1,
            1.0,
            cell=site,
            workload=f"page {site}",
            size_bytes=None,
            client="chromium",
            **({metric: value} if math.isfinite(value) else {"status": "timeout"}),
        )
        for contender, values in (("h2", h2), ("h3", h3))
        for site, value in zip(SITES, values, strict=False)
    ]
    sites = SITES[: len(h2)]
    told = {
        "name": "",
        "baseline": "h2",
        "metrics": [metric],
        "axes": {"workload.site": sites},
        "population": {
            "strata": more.get("strata", {"one": sites[:10], "other": sites[10:]}),
            "weights": more.get("weights", {}),
        },
        "grid": [{"name": site, "at": {"workload.site": site}} for site in sites],
    }
    return analyse(made.results(rows, made.experiments(told)))


def test_equal_sites_are_no_losses() -> None:
    """Of twenty sites three gain and the others are alike: nobody is ahead at most."""
    alike = over_sites([1.0] * 20, [0.5] * 3 + [1.0] * 17)
    (told,) = main_deltas(alike)
    assert (told.ahead.value, told.behind.value, told.majority) == (0.15, 0, 0)
    assert "slower at most sites" not in population_sentences(alike)[0]
    lost = over_sites([1.0] * 20, [1.5] * 18 + [1.0] * 2)
    assert main_deltas(lost)[0].majority == -1
    assert (
        "slower at most sites in the only network (slower at 90 % of them"
        in (population_sentences(lost)[0])
    )


def test_more_may_be_better() -> None:
    """Of a goodput, sites below 0 are those at which the contender is slower."""
    slow = over_sites([10.0] * 20, [5.0] * 18 + [12.0] * 2, "goodput_mbit")
    (told,) = main_deltas(slow)
    assert (told.ahead.value, told.behind.value, told.majority) == (0.1, 0.9, -1)
    assert (
        "slower at most sites in the only network (slower at 90 %"
        in (population_sentences(slow)[0])
    )
    assert class_names(slow.metric) == ("slower", "similar", "faster")
    drawn = pictures(Subject(slow, study_styles([slow])), Section.POPULATION)
    (curves,) = [one for one in drawn if one.name.endswith("-population")]
    assert "faster at 10 % of 20 sites" in curves.said


def test_visits_that_time_out_are_the_worst() -> None:
    """Left out, the contender that times out would look the better; where both do, nobody is ahead."""
    never = math.inf
    late = over_sites([1.0] * 19 + [never], [0.9] * 9 + [never] * 11)
    (told,) = main_deltas(late)
    assert (told.ahead.value, told.behind.value) == pytest.approx((9 / 19, 10 / 19))
    assert told.values[-1] == 1 and told.missing == ("other",)
    assert told.of(("one",)).missing == ()
    assert population_sentences(late)[1] == "Without a difference: 1 of 20 sites."
    matter = Matter(made.results(made.runs({"h2": [1.0]})), ((late,),))
    table = KIND.shown(matter)
    assert table is not None
    assert [row[2] for row in table.table.rows[0]] == ["19 of 20", "10", "9 of 10"]


def test_strata_without_weights_are_told() -> None:
    told = "This is of the sample, whose strata are not weighted."
    values = [1.0] * 8, [0.5] * 8
    assert population_sentences(over_sites(*values, strata={"one": SITES[:8]}))[1:] == ()
    two = over_sites(*values, strata={"one": SITES[:6], "other": SITES[6:8]})
    assert population_sentences(two)[1:] == (told,)


def test_strata_count_as_the_sites_they_stand_for() -> None:
    """Nine of ten sites are like those of the stratum that was drawn as often as the other."""
    values = [1.0] * 20, [0.5] * 10 + [1.5] * 9 + [0.9]
    plain = main_deltas(over_sites(*values))[0]
    assert plain.weighted == plain and plain.ahead.value == pytest.approx(0.55)
    analysis = over_sites(*values, weights={"one": 900, "other": 100})
    sample, weighted = main_deltas(analysis)[0], weighted_deltas(analysis)[0]
    assert sample.ahead == plain.ahead
    assert weighted.ahead.value == pytest.approx(0.91)
    assert sample.median.value != weighted.median.value == pytest.approx(-0.5)
    assert weighted.ahead.interval is not None
    # As wide as of 12.2 sites, since the second stratum's say little of the whole; of 11 of 12 it is 0.615 to 0.998.
    assert (weighted.ahead.interval.low, weighted.ahead.interval.high) == pytest.approx(
        (0.610, 0.997), abs=0.001
    )
    told = population_sentences(analysis)
    assert "faster at most sites" in told[0] and "faster at 91 % of them" in told[0]
    assert told[1] == (
        "Strata are weighted by how many sites they stand for: one 90 % and other 10 %."
    )
    table = KIND.shown(Matter(made.results(made.runs({"h2": [1.0]})), ((analysis,),)))
    assert table is not None
    assert [row[1] for row in table.table.rows[0]] == ["all", "all, weighted", "one", "other"]


def test_a_claim_is_about_the_sites_that_the_sample_stands_for() -> None:
    analysis = over_sites([1.0] * 20, [0.5] * 10 + [1.5] * 10, weights={"one": 900, "other": 100})
    rule = {"kind": "sites", **PAIR, "below": 0, "low": 60}
    claim = Claim.model_validate({"says": "so", "place": "here", "rule": rule})
    (finding,) = judge(analysis, claim).findings
    assert finding.value == pytest.approx(90) and "below 0, weighted" in finding.what


def test_without_a_population_nothing_is_said() -> None:
    analysis = analyse(made.results(made.runs({"h2": [1.0] * 3, "h3": [0.5] * 3})))
    assert main_deltas(analysis) == ()
    assert population_sentences(analysis) == ()
    assert KIND.shown(Matter(made.results(made.runs({"h2": [1.0]})), ((analysis,),))) is None


def test_traits_are_scaled_and_correlated(gains: Analysis) -> None:
    far = main_deltas(gains)[1]
    traits = page_traits(gains, far)
    assert traits is not None
    assert traits.scaled.std(axis=0) == pytest.approx(1)
    both, with_delta = traits.pearson_of(0, 1), traits.spearman(0)
    assert both is not None and both.value == pytest.approx(1)
    assert with_delta is not None and with_delta.value == pytest.approx(1)


@pytest.mark.skipif(
    not can_grow_trees(), reason="scikit-learn is missing; `make populations` installs it"
)
def test_a_tree_is_judged_by_other_sites() -> None:
    """What connections decide it finds; of what nothing decides it does no better than guessing."""
    told = population([-0.3] * 10 + [0.3] * 10)
    tree = decision_tree(told, main_deltas(told)[1])
    assert tree is not None and tree.quality > 0.9 and tree.tells
    assert "class: faster" in tree.rules
    mixed = population([0.3 * (-1) ** (number // 2) for number in range(20)])
    tree = decision_tree(mixed, main_deltas(mixed)[1])
    assert tree is not None and tree.quality < 0.75 and not tree.tells


@pytest.mark.skipif(
    not can_grow_trees(), reason="scikit-learn is missing; `make populations` installs it"
)
def test_a_tree_that_says_nothing_says_so() -> None:
    """Of few sites, or of traits that decide nothing."""

    def qualities(deltas: Sequence[float]) -> list[str]:
        matter = Matter(made.results(made.runs({"h2": [1.0]})), ((population(deltas),),))
        shown = TRAITS.shown(matter)
        assert shown is not None
        return [group[0][-1] for group in shown.table.rows]

    mixed = qualities([0.3 * (-1) ** (number // 2) for number in range(20)])
    few = "no tree: classes of 0 / 20 / 0 sites, and two with 5 are needed"
    assert mixed[0] == few
    assert mixed[1].startswith("says nothing: ")
    assert qualities([-0.3] * 17 + [0.3] * 3)[1].startswith("no tree: classes of 17 / 0 / 3 sites")
    assert "says nothing" not in qualities([-0.3] * 10 + [0.3] * 10)[1]


def test_the_figures_stay_on_their_sheets(gains: Analysis) -> None:
    drawn = pictures(Subject(gains, study_styles([gains])), Section.POPULATION)
    assert {one.name for one in drawn} == {
        "onload_s-population",
        "onload_s-sites",
        "onload_s-classes",
    }
    for picture in drawn:
        assert within(picture.wide) and within(picture.drawing(NARROW))
        assert picture.said and picture.data().height


def test_the_tables_have_networks_and_strata(gains: Analysis) -> None:
    matter = Matter(made.results(made.runs({"h2": [1.0]})), ((gains,),))
    table = KIND.shown(matter)
    assert table is not None
    assert [row[1] for row in table.table.rows[1]] == ["all", "one", "other"]
    traits = TRAITS.shown(matter)
    assert traits is not None and "Pearson" in traits.remark


PAIR = {"contender": "h3", "against": "h2"}
AT_FAR = {"path.loss": FAR}


@pytest.mark.parametrize(
    ("rule", "more", "said"),
    [
        ({"kind": "sites", **PAIR, "below": 0, "low": 60}, {}, Judgement.HOLDS),
        ({"kind": "sites", **PAIR, "below": 0, "high": 60}, {}, Judgement.BROKEN),
        ({"kind": "sites", **PAIR, "below": 0, "value": 85}, {}, Judgement.UNDECIDED),
        ({"kind": "sites", **PAIR, "above": 0.1, "high": 60}, {}, Judgement.HOLDS),
        ({"kind": "sites", **PAIR, "below": 0, "low": 60}, {"strata": ["one"]}, Judgement.HOLDS),
        ({"kind": "delta", **PAIR, "high": 0}, {}, Judgement.HOLDS),
        ({"kind": "delta", **PAIR, "low": 0}, {}, Judgement.BROKEN),
        (
            {
                "kind": "columns",
                "contender": "h3",
                "columns": ["connections", "domains"],
                "low": 0.8,
            },
            {},
            Judgement.HOLDS,
        ),
        (
            {"kind": "value", "contender": "h2", "value": 1.0, "statistic": "median"},
            {"over": "workload.site"},
            Judgement.HOLDS,
        ),
    ],
)
def test_claims_count_sites(
    gains: Analysis, rule: dict[str, Any], more: dict[str, Any], said: Judgement
) -> None:
    claim = Claim.model_validate(
        {"says": "so", "place": "here", "rule": rule, "where": AT_FAR, **more}
    )
    found = judge(gains, claim)
    assert found.judgement is said
    assert found.findings[0].of == "site"
    assert found.findings[0].n == (10 if "strata" in more else 20)
