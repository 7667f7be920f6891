"""Claims as tests, for CI."""

from __future__ import annotations

from collections.abc import Sequence

from headway.analysis import Analysis, StudyResults
from headway.analysis.claimwords import judged, ours, would_decide
from headway.analysis.finding import Judgement
from headway.report.junit import Case, junit


def claims_as_tests(results: StudyResults, everything: Sequence[Sequence[Analysis]]) -> str:
    """JUnit's XML with a test for each claim, which passes if it holds."""
    study = results.manifest.study.name
    return junit(f"headway claims {study}", study, claim_cases(everything))


def claim_cases(everything: Sequence[Sequence[Analysis]]) -> list[Case]:
    """A verdict for each claim."""
    return [
        Case(
            name=": ".join(filter(None, (analyses[0].experiment.name, one.claim.says))),
            passes=one.judgement is Judgement.HOLDS,
            said=f"{one.judgement}: {ours(one)}",
            detail=would_decide(one),
            is_open=one.judgement is Judgement.UNDECIDED,
        )
        for analyses in everything
        for one in judged(analyses)
    ]
