"""The ledger of a paper: its claims beside our runs, as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.analysis import Analysis, StudyResults
from headway.analysis.claims import Judged
from headway.analysis.finding import Judgement
from headway.analysis.ledger import judged, ledger_sentence, ours, would_decide
from headway.analysis.numbers import counted

_UNKNOWN = "not known"


def ledger(results: StudyResults, everything: Sequence[Sequence[Analysis]]) -> str:
    """The page: how many claims hold, each of them, and what is known of why others do not.

    Args:
        results: the study's results.
        everything: of each experiment, the analyses of its metrics.
    """
    found = [(analyses[0].experiment.name, judged(analyses)) for analyses in everything]
    every = [one for _, claims in found for one in claims]
    lines = [f"# {results.manifest.study.name}: its claims and our runs", ""]
    lines += [ledger_sentence(every) or "The study names no claims.", ""]
    lines += [*_origin(results), ""]
    for name, claims in found:
        if claims:
            lines += [*_experiment(name, claims), ""]
    broken = [one for one in every if one.judgement is Judgement.BROKEN]
    if broken:
        lines += ["## What does not hold, and why", "", *map(_reason, broken), ""]
    return "\n".join(lines).rstrip() + "\n"


def _origin(results: StudyResults) -> Iterator[str]:
    manifest = results.manifest
    runs = counted(len(results.runs), "run")
    yield f"Made by `{manifest.command}` with Headway {manifest.headway}, {runs}."
    quick = "--quick" in manifest.command
    if quick:
        yield "These are the runs of the short form (`--quick`): most claims need the whole."


def _experiment(name: str, claims: Sequence[Judged]) -> Iterator[str]:
    if name:
        yield f"## {name}"
        yield ""
    yield "| claim | place | our runs say | what they show |"
    yield "|---|---|---|---|"
    for one in claims:
        shown = "; ".join(filter(None, [ours(one), would_decide(one)]))
        cells = (one.claim.says, one.claim.place, f"**{one.judgement}**", shown)
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _reason(one: Judged) -> str:
    return f"- {one.claim.says} ({one.claim.place}): {one.claim.why or _UNKNOWN}."
