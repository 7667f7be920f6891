"""Claims judged by our runs: each holds, does not hold, or is undecided.

Every rule comes down to estimates with intervals, and to a region in which each has to lie: inside it
the claim holds, outside it does not, and an interval that reaches over its edge leaves it open. Intervals
are of 95 % each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headway.analysis.analysis import Analysis
from headway.analysis.claim_estimate import Finding, Judgement
from headway.analysis.rules import causes_by_cell, findings_by_cell
from headway.records.claimedneighbours import ClaimedNeighbours
from headway.study.claim import Claim

RULES = "2026-11-29"
"""Day of the last change by which these rules may judge the same runs otherwise; docs/claims.md says what changed."""


@dataclass(frozen=True)
class Judged:
    """A claim beside our runs.

    Attributes:
        claim: the claim.
        findings: what it rests on, what is left without its cause included.
        judgement: what they say together.
        neighbours: what becomes of it at the neighbours over which it is meant; None if it is meant over none, or
            none was tried.
    """

    claim: Claim
    findings: tuple[Finding, ...]
    judgement: Judgement
    neighbours: ClaimedNeighbours | None = None

    @property
    def runs(self) -> int:
        """The fewest runs, or cells, that a finding rests on."""
        return min((finding.n for finding in self.findings), default=0)

    @property
    def deciding(self) -> tuple[Finding, ...]:
        """What it comes down to: the findings that agree with the judgement; all, if none does."""
        if self.judgement is Judgement.OTHER_REASON:
            return self.findings
        agreeing = tuple(
            finding for finding in self.findings if finding.judgement is self.judgement
        )
        return agreeing or self.findings

    @property
    def on_one_path(self) -> bool:
        """Whether all that decides it is of exact paths, whose repetitions are one run over and over."""
        return bool(self.findings) and all(finding.on_one_path for finding in self.deciding)

    @property
    def needed(self) -> int | None:
        """About how many repetitions, or cells, would decide; None if it is decided, or no number named would."""
        if self.judgement is not Judgement.UNDECIDED:
            return None
        wanted = [
            finding.needed for finding in self.findings if finding.judgement is Judgement.UNDECIDED
        ]
        known = [needed for needed in wanted if needed is not None]
        return max(known) if known and len(known) == len(wanted) else None

    @property
    def wanted(self) -> str:
        """What it would take more of: a plural."""
        of = next((finding.of for finding in self.findings), "run")
        return "repetitions" if of == "run" else f"{of}s"


def judge(analysis: Analysis, claim: Claim) -> Judged:
    """Judge a claim by the runs of its experiment; the analysis is of the claim's metric.

    First what it says; then, if that holds, whether it is for the reason that it names; and whether it holds at the
    neighbours over which it is meant.
    """
    own, causes = findings_by_cell(analysis, claim), causes_by_cell(analysis, claim)
    findings = tuple(finding for cell in (*own, *causes) for finding in cell)
    judgement = _together([_all_of(cell) for cell in own], claim.share)
    if judgement is Judgement.HOLDS and causes:
        cause = _together([_all_of(cell) for cell in causes], claim.share)
        judgement = Judgement.OTHER_REASON if cause is Judgement.BROKEN else cause
    neighbours = analysis.claimed_neighbours.get(claim.says) if claim.nearby else None
    if claim.nearby and judgement in (Judgement.HOLDS, Judgement.OTHER_REASON):
        nearby = _over(neighbours)
        judgement = judgement if nearby is Judgement.HOLDS else nearby
    return Judged(claim, findings, judgement, neighbours)


def _over(neighbours: ClaimedNeighbours | None) -> Judgement:
    """What neighbours say together."""
    if neighbours is None:
        return Judgement.UNDECIDED
    if neighbours.changes:
        return Judgement.BROKEN
    return Judgement.UNDECIDED if neighbours.undecided or neighbours.untried else Judgement.HOLDS


def _all_of(findings: Iterable[Finding]) -> Judgement:
    """What has to hold in every part."""
    judgements = {finding.judgement for finding in findings}
    for judgement in (Judgement.BROKEN, Judgement.NOT_MEASURED, Judgement.UNDECIDED):
        if judgement in judgements:
            return judgement
    return Judgement.HOLDS if judgements else Judgement.NOT_MEASURED


def _together(cells: Sequence[Judgement], share: float) -> Judgement:
    """What has to hold in a share of the cells that were measured."""
    known = [judgement for judgement in cells if judgement is not Judgement.NOT_MEASURED]
    if not known:
        return Judgement.NOT_MEASURED
    enough = len(known) * share / 100
    holding, broken = (known.count(literal) for literal in (Judgement.HOLDS, Judgement.BROKEN))
    if holding >= enough:
        return Judgement.HOLDS
    return Judgement.BROKEN if len(known) - broken < enough else Judgement.UNDECIDED
