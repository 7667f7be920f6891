"""Tables of advice: the best by class of sites, what choosing gains, and what explains it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis
from headway.instruments.oversites.advice import advice
from headway.instruments.oversites.guide import Best, guide
from headway.instruments.oversites.mediation import explained
from headway.instruments.oversites.oracle_gaps import gaps
from headway.report.section import Section
from headway.report.tables.kind import TableKind
from headway.statistics.interval import Interval

FILE, GAINS_FILE, TERMS_FILE = "guide.csv", "gains.csv", "explained.csv"


def guide_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """The best contender, a row per experiment, network and class of sites."""
    rows = [_row(analysis, best) for analysis in analyses for best in guide(analysis)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _row(analysis: Analysis, best: Best) -> dict[str, object]:
    return {
        "experiment": analysis.experiment.name,
        "metric": analysis.metric.column,
        "network": best.network,
        "classed_by": best.sites.trait,
        "class": best.sites.title,
        "sites": best.count,
        "best": best.contender,
        "not_clearly_worse": "; ".join(name for name in best.leaders if name != best.contender),
        "against": best.against,
        "relative_difference": best.difference.relative,
        **_interval(best.difference.interval),
        "p": best.test.p if best.test else None,
        "p_adjusted": best.test.adjusted if best.test else None,
        "decided": best.decided,
        "site_names": "; ".join(best.sites.sites),
    }


def gains_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """What ways of choosing gain over the baseline, a row per experiment, network and way."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "metric": analysis.metric.column,
            "network": gap.network,
            "sites": gap.sites,
            "against": gap.baseline,
            "way": way,
            "relative_difference": gain.relative,
            **_interval(gain.interval),
            "of_the_gain_for_each_site": gain.closed,
            **_interval(gain.closed_interval, "of_the_gain"),
        }
        for analysis in analyses
        for gap in gaps(analysis)
        for way, gain in gap.ways.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def terms_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """What goes with the differences from the baseline, a row per experiment and term."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "metric": analysis.metric.column,
            "term": term.name,
            "effect_of_a_standard_deviation": term.effect,
            "standard_error": term.error,
            "p_adjusted": term.p,
            "share_of_variance": term.share,
            "r_squared": fit.r_squared,
            "rows": fit.rows,
            "sites": fit.groups,
            "left_out": "; ".join(fit.left_out),
        }
        for analysis in analyses
        if (fit := explained(analysis))
        for term in fit.terms
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _interval(interval: Interval | None, name: str = "relative") -> dict[str, float | None]:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


BEST = TableKind(
    place=10,
    section=Section.ADVICE,
    caption="The best by class of sites",
    remark=(
        "A site is one observation here, so these statements generalise to similar sites. Classes are halves of the "
        "sites by the medians of their loads. Rules are judged at sites that had no part in them, and the choice for "
        "each site by repetitions that had no part in it. guide.csv, gains.csv and explained.csv have every number."
    ),
    said=lambda matter: advice(matter.first),
    file=FILE,
    frame=lambda matter: guide_frame(matter.firsts),
)
GAINS = TableKind(
    place=20,
    section=Section.ADVICE,
    caption="What ways of choosing gain",
    file=GAINS_FILE,
    frame=lambda matter: gains_frame(matter.firsts),
)
TERMS = TableKind(
    place=30,
    section=Section.ADVICE,
    caption="What goes with the differences",
    file=TERMS_FILE,
    frame=lambda matter: terms_frame(matter.firsts),
)
