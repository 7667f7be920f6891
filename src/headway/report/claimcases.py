"""Claims as tests, for CI."""

from __future__ import annotations

from collections.abc import Sequence

from headway.analysis import Analysis, StudyResults
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claimwords import judged, ours, would_decide
from headway.report.junit import Case, junit


def claims_as_tests(results: StudyResults, everything: Sequence[Sequence[Analysis]]) -> str:
    """JUnit's XML with a test for each claim, which passes if it holds."""
    study = results.manifest.study.name
    return junit(f"headway claims {study}", study, claim_cases(everything))


def claim_cases(everything: Sequence[Sequence[Analysis]]) -> list[Case]:
    """A verdict for each claim."""
    return [
        Case(
            name=": ".join(filter(None, (analyses[0].experiment.name, judged_claim.claim.says))),
            passes=judged_claim.judgement is Judgement.HOLDS,
            said=f"{judged_claim.judgement}: {ours(judged_claim)}",
            detail=would_decide(judged_claim),
            is_open=judged_claim.judgement is Judgement.UNDECIDED,
        )
        for analyses in everything
        for judged_claim in judged(analyses)
    ]
