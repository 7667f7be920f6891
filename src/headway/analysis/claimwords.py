"""All claims of a study beside our runs, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from headway.analysis.analysis import Analysis
from headway.analysis.claim_estimate import Finding, Judgement
from headway.analysis.claims import Judged, judge
from headway.analysis.estimate_text import measured
from headway.analysis.numbers import listed, significant
from headway.errors import counted
from headway.planning.region import MOST_NEEDED
from headway.study.claim import Claim, Gap, Value
from headway.study.published import RELATIVE_UNIT
from headway.study.rule import Rule

ONE_PATH = "one exact path: n = 1"
"""What a claim rests on whose repetitions are all the same."""
_MOST_FINDINGS = 3
"""If a claim rests on more, those are told that decide."""


def judged(analyses: Sequence[Analysis]) -> tuple[Judged, ...]:
    """The claims of an experiment, judged; the analyses are of its metrics."""
    by_metric = {analysis.metric.column: analysis for analysis in analyses}
    return tuple(
        judge(by_metric[claim.metric] if claim.metric else analyses[0], claim)
        for claim in analyses[0].experiment.claims
        if claim.metric is None or claim.metric in by_metric
    )


def ledger_sentence(judgements: Iterable[Judged]) -> str:
    """How many hold; empty without claims."""
    claims = [*judgements]
    counts = Counter(claim.judgement for claim in claims)
    if not counts:
        return ""
    text = ", ".join(
        f"{judgement}: {counts[judgement]}" for judgement in Judgement if counts[judgement]
    )
    holding = (Judgement.HOLDS, Judgement.OTHER_REASON)
    exact = sum(claim.on_one_path for claim in claims if claim.judgement in holding)
    rests = (
        f" {exact} of those that hold {'rests' if exact == 1 else 'rest'} on exact paths: n = 1."
        if exact
        else ""
    )
    return f"{counted(counts.total(), 'claim')} judged by our runs ({text}).{rests}"


def ours(judged_claim: Judged) -> str:
    """What our runs have to show for a claim or against it, in words."""
    if not judged_claim.findings:
        return "no run of these cells is there"
    deciding = judged_claim.deciding
    shown = "; ".join(map(in_words, deciding[:_MOST_FINDINGS]))
    left = len(deciding) - _MOST_FINDINGS
    text = f"{shown}; and {left} more" if left > 0 else shown
    if len(judged_claim.findings) > 1:
        agreeing = sum(
            finding.judgement is judged_claim.judgement for finding in judged_claim.findings
        )
        text = f"{agreeing} of {len(judged_claim.findings)}: {text}" if agreeing else text
    return "; ".join(
        filter(None, [text, unjudged_cause(judged_claim), over_neighbours(judged_claim)])
    )


def unjudged_cause(judged_claim: Judged) -> str:
    """What becomes of a cause that these runs do not take away; empty of one that they do, or of none."""
    cause = judged_claim.claim.because
    if cause is None or not cause.note:
        return ""
    return f"its cause, {cause.what}, is not judged here: {cause.note}"


def over_neighbours(judged_claim: Judged) -> str:
    """What becomes of a claim at the neighbours over which it is meant; empty of one that is meant over none."""
    if not judged_claim.claim.nearby:
        return ""
    near = judged_claim.neighbours
    if near is None:
        return f"its neighbours ({listed(judged_claim.claim.nearby)}) were not tried: `headway nearby` does"
    tried = len(near.holds) + len(near.changes) + len(near.undecided)
    return "; ".join(
        [
            f"holds at {len(near.holds)} of {counted(tried, 'neighbour')}",
            *([f"does not {listed(near.changes)}"] if near.changes else []),
            *([f"undecided {listed(near.undecided)}"] if near.undecided else []),
            *([f"{near.untried} not tried"] if near.untried else []),
        ]
    )


def in_words(finding: Finding) -> str:
    """An estimate with its interval, where it has to lie, and what it rests on."""
    if finding.value is None:
        return f"{finding.what}: not measured"
    unit = finding.said_unit
    value, ends = measured(finding.value, finding.interval)
    about = f"{ends}{unit}" if ends else "no interval"
    rests_on = ONE_PATH if finding.on_one_path else counted(finding.n, finding.of)
    return f"{finding.what}: {value}{unit} ({about}, {rests_on})"


def off(judged_claim: Judged) -> str:
    """How far our runs are from a claim that does not hold: the estimate that is furthest off."""
    broken = [finding for finding in judged_claim.findings if finding.judgement is Judgement.BROKEN]
    if not broken:
        return over_neighbours(judged_claim)
    worst = max(broken, key=lambda finding: finding.region.distance(finding.value or 0.0))
    factor = _factor(judged_claim.claim.rule, worst)
    text = f", {significant(factor)} times the published" if factor else ""
    return f"{in_words(worst)}{text}; it would have to be {_wanted(worst)}"


def _factor(rule: Rule, finding: Finding) -> float | None:
    """Ours over a published value, where there is one and both have a sign."""
    if not isinstance(rule, Gap | Value) or rule.value is None or finding.value is None:
        return None
    ours, theirs = finding.value, rule.value
    if isinstance(rule, Gap) and rule.unit == RELATIVE_UNIT:
        ours, theirs = 100 + ours, 100 + theirs
    return ours / theirs if ours * theirs > 0 else None


def _wanted(finding: Finding) -> str:
    low, high = finding.region.low, finding.region.high
    unit = finding.said_unit
    if math.isinf(low) or math.isinf(high):
        return (
            f"above {significant(low)}{unit}"
            if math.isinf(high)
            else f"below {significant(high)}{unit}"
        )
    return f"from {significant(low)} to {significant(high)}{unit}"


def would_decide(judged_claim: Judged) -> str:
    """What an undecided claim needs; empty of others."""
    if judged_claim.judgement is not Judgement.UNDECIDED:
        return ""
    if not any(finding.judgement is Judgement.UNDECIDED for finding in judged_claim.findings):
        return ""  # its neighbours are what is open
    if judged_claim.needed is None:
        return f"no number of {judged_claim.wanted} up to {MOST_NEEDED:,} would decide"
    return f"about {judged_claim.needed} {judged_claim.wanted} would decide"


def rule_in_words(claim: Claim) -> str:
    """A claim's rule as it stands in the study, its kind and its keys; and its cause."""
    text = _keys_in_words(claim.rule)
    cause = claim.because
    if claim.nearby:
        text = f"{text}; nearby, over {listed(claim.nearby)}"
    if cause is None:
        return text
    if cause.note:
        return f"{text}; because {cause.what}, which is not judged here"
    bare = ", ".join(f"{other} for {first}" for first, other in cause.without.items())
    return f"{text}; because {cause.what}: with {bare} at most {cause.leaves:g} % of it"


def _keys_in_words(rule: Rule) -> str:
    keys = rule.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    kind = keys.pop("kind")
    text = ", ".join(
        f"{name} {' > '.join(value) if isinstance(value, list) else value}"
        for name, value in keys.items()
    )
    return f"{kind}: {text}"
