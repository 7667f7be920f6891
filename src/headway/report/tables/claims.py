"""Claims beside our runs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claims import Judged
from headway.analysis.claimwords import judged, ours, rule_in_words, would_decide
from headway.report.section import Section
from headway.report.tables.kind import KeptFile, TableKind
from headway.report.tables.published import UNKNOWN
from headway.report.tables.table import NONE, Table

FILE = "claims.csv"


def claims_table(analyses: Sequence[Analysis]) -> Table:
    """Every claim of an experiment and what our runs say of it; no rows if there are none."""
    return Table(
        headings=("claim", "place", "our runs say", "what they show", "what is known of why"),
        rows=tuple((_row(judged_claim),) for judged_claim in judged(analyses)),
        labels=5,
    )


def _row(judged_claim: Judged) -> tuple[str, ...]:
    shown = "; ".join(filter(None, [ours(judged_claim), would_decide(judged_claim)]))
    # A reason is one for what does not hold.
    amiss = judged_claim.judgement in (Judgement.BROKEN, Judgement.OTHER_REASON)
    why = (judged_claim.claim.why or UNKNOWN) if amiss else NONE
    return (
        judged_claim.claim.says,
        judged_claim.claim.place,
        judged_claim.judgement.value,
        shown,
        why,
    )


def claims_frame(everything: Sequence[Sequence[Analysis]]) -> pl.DataFrame:
    """The claims of all experiments with every estimate that they rest on, a row for each."""
    rows = [
        {
            "experiment": analyses[0].experiment.name,
            "claim": judged_claim.claim.says,
            "place": judged_claim.claim.place,
            "rule": rule_in_words(judged_claim.claim),
            "over": judged_claim.claim.over,
            "time": str(judged_claim.claim.span or ""),
            "judgement": judged_claim.judgement.value,
            "needed": judged_claim.needed,
            "what": finding.what,
            "finding": finding.judgement.value,
            "value": finding.value,
            "low": finding.interval.low if finding.interval else None,
            "high": finding.interval.high if finding.interval else None,
            "unit": finding.unit,
            "from": finding.region.low,
            "to": finding.region.high,
            "n": finding.n,
            "of": f"{finding.of}s",
            "one_path": finding.on_one_path,
        }
        for analyses in everything
        for judged_claim in judged(analyses)
        for finding in judged_claim.findings
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


KIND = TableKind(
    place=10,
    section=Section.CLAIMS,
    caption="Claims, judged by our runs",
    remark=(
        "A claim holds if the interval of every estimate that it rests on (95 % each) lies where the claim has it, and "
        "does not hold if one lies elsewhere; what reaches over the edge is undecided. One that holds, for another reason, names a cause "
        "without which more is left than it allows. Where all repetitions measured the same within 0.3 %, they met one exact path, so "
        "that n is 1. claims.csv has every estimate."
    ),
    table=lambda matter: claims_table(matter.metrics),
    file=FILE,
    frame=lambda matter: claims_frame(matter.experiments),
    looks="sentences",
    kept=KeptFile("claims", "every estimate that a claim rests on"),
)
