"""The ledger of a paper: its claims and values beside our runs, as a page of Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl

from headway.analysis import Analysis, StudyResults
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claims import RULES, Judged
from headway.analysis.claimwords import judged, ledger_sentence, off, ours, would_decide
from headway.analysis.faultcosts import sweeps
from headway.analysis.faultsentences import position
from headway.analysis.published import agreement_sentence
from headway.analysis.shares import shares
from headway.analysis.sharewords import share_sentences
from headway.analysis.stopping import stopping_sentence
from headway.columns import Status
from headway.errors import counted
from headway.records.manifest import Manifest
from headway.report.provenance import named_layers, seeds_text
from headway.report.reproducing import reproducing
from headway.report.tables.faults import sweeps_table
from headway.report.tables.published import UNKNOWN, published_by_cell
from headway.report.tables.shares import first_shares
from headway.report.tables.table import Table, markdown

_PARTICULARS = r"https?://[^\s;]+( and \d+ more)?|\d+"
"""What reasons may differ in and be the same: addresses, and numbers."""
_IN_WORDS = {Status.FAILED.value: "failed", Status.TIMEOUT.value: "were given up"}


def ledger(
    results: StudyResults, everything: Sequence[Sequence[Analysis]], files: Sequence[str] = ()
) -> str:
    """The page: how many claims hold, each of them, and what is known of why others do not.

    Args:
        results: the study's results.
        everything: of each experiment, the analyses of its metrics.
        files: lines that show and name the files beside the page.
    """
    pairs = [(analyses[0].experiment.name, judged(analyses)) for analyses in everything]
    every = [claim for _, claims in pairs for claim in claims]
    amiss = (Judgement.BROKEN, Judgement.OTHER_REASON)
    broken = [judged_claim for judged_claim in every if judged_claim.judgement in amiss]
    values = agreement_sentence([analysis for analyses in everything for analysis in analyses])
    swept = [analyses[0] for analyses in everything if sweeps(analyses[0])]
    shared = [] if every else [analyses[0] for analyses in everything if shares(analyses[0])]
    heading = _heading(claims=bool(every), faults=bool(swept), shared=bool(shared))
    none = "" if swept or shared else _no_claims(results)
    blocks: list[Sequence[str]] = [
        [f"# {results.manifest.study.name}: {heading}"],
        [results.manifest.study.question],
        [ledger_sentence(every) or none, *filter(None, [values])],
        [*_origin(results, asks=bool(every))],
        files,
    ]
    for name, claims in pairs:
        blocks += [[f"## {name}" if name and claims else ""], markdown(_claims(claims))]
    for analysis in swept:
        blocks += _faults(analysis)
    for analysis in shared:
        blocks += _shares(analysis)
    if broken:
        blocks += [["## What does not hold, and why"], [*map(_reason, broken)]]
    if values:
        blocks += [["## Published values beside ours"], *_values(everything)]
    if failed := _failed(results):
        blocks += [["## Runs that did not finish"], markdown(failed)]
    return _joined(blocks)


def _no_claims(results: StudyResults) -> str:
    if "--only" in results.manifest.command:
        return "None of these experiments has claims."
    return "The study names no claims."


def _heading(*, claims: bool, faults: bool, shared: bool) -> str:
    if claims:
        return "its claims and our runs"
    if shared:
        return "who gets how much"
    return "what single faults cost" if faults else "what was measured"


def _origin(results: StudyResults, *, asks: bool) -> Iterator[str]:
    """Which run it is of; whether more of it would be asked for claims."""
    manifest = results.manifest
    if manifest.warning:
        yield f"**{manifest.warning}**"
    ended = Counter(results.runs["status"].to_list())
    lost = "; ".join(
        f"{ended[text]} {word_place}" for text, word_place in _IN_WORDS.items() if ended[text]
    )
    yield (
        f"From `{reproducing(manifest.command)}`, begun {manifest.created[:10] or 'at a time that is not known'}, with "
        f"Headway {manifest.headway or 'of an unknown version'} and lab image {_image(manifest)}: "
        f"{_number(results)}, seeds {seeds_text(results.runs)}; {lost or 'none failed'}."
    )
    if asks:
        yield f"Verdicts are those of the rules of {RULES}."
    if "--quick" in manifest.command:
        need = (
            ": it measures fewer claims than the whole, and those with wider intervals"
            if asks
            else ""
        )
        yield f"This is the short form (`--quick`) with few repetitions and cells{need}."


def _number(results: StudyResults) -> str:
    """How many runs there are, of those that were planned."""
    if results.part:
        return results.number
    done, planned = len(results.runs), results.manifest.runs
    at_most = "at most " if results.manifest.may_end_sooner else ""
    return f"{done} of {at_most}{planned} runs" if done < planned else counted(done, "run")


def _image(manifest: Manifest) -> str:
    layers = named_layers(manifest)
    return f"{manifest.image or 'unknown'}{f' (layers: {layers})' if layers else ''}"


def _faults(analysis: Analysis) -> Iterator[Sequence[str]]:
    """What each contender's sweep says, and the packets whose loss a run does not survive."""
    name = analysis.experiment.name
    yield [f"## {name}: a fault of one packet at a time" if name else ""]
    yield markdown(sweeps_table(analysis))
    fatal = [
        f"- {', '.join(filter(None, [sweep.contender, sweep.title]))}: {position(fault_cost.fault)} "
        f"({fault_cost.carried or 'no packet'}): {fault_cost.reason}."
        for sweep in sweeps(analysis)
        for fault_cost in sweep.fatal
    ]
    yield ["Fatal:", "", *fatal] if fatal else []


def _shares(analysis: Analysis) -> Iterator[Sequence[str]]:
    """Who takes from whom in an experiment, the part that the first flow has everywhere, and after how many runs."""
    name = analysis.experiment.name
    yield [f"## {name}" if name else ""]
    yield [analysis.experiment.question]
    yield [f"- {sentence}" for sentence in share_sentences(analysis)]
    yield markdown(first_shares(analysis))
    yield [stopping_sentence(analysis)]


def _claims(claims: Sequence[Judged]) -> Table:
    rows = [
        (
            claim.claim.says,
            claim.claim.place,
            f"**{claim.judgement}**",
            "; ".join(filter(None, [ours(claim), would_decide(claim)])),
        )
        for claim in claims
    ]
    headings = ("claim", "place", "our runs say", "what they show")
    return Table(headings, tuple((row,) for row in rows), labels=4)


def _failed(results: StudyResults) -> Table | None:
    """What kept runs from their end, by contender; None if nothing did.

    Reasons that differ in addresses and numbers alone are one.
    """
    left = results.runs.filter(pl.col("status") != Status.OK.value)
    if left.is_empty():
        return None
    kind = pl.col("error").str.replace_all(_PARTICULARS, "").alias("kind")
    alike = left.group_by("experiment", "contender", kind).agg(pl.len(), pl.col("error").min())
    rows = tuple(
        ((experiment, contender, str(number), error),)
        for experiment, contender, _, number, error in alike.sort(pl.all()).iter_rows()
    )
    return Table(("experiment", "contender", "runs", "why, by one of them"), rows, labels=4)


def _reason(judged_claim: Judged) -> str:
    text = judged_claim.claim.why.rstrip(".") or UNKNOWN
    place = f" ({judged_claim.claim.place})" if judged_claim.claim.place else ""
    return f"- {judged_claim.claim.says}{place}: ours is {off(judged_claim)}. Why: {text}."


def _values(everything: Sequence[Sequence[Analysis]]) -> Iterator[Sequence[str]]:
    for analyses in everything:
        table = published_by_cell(analyses, most=0)
        if table.rows:
            name = analyses[0].experiment.name
            yield [f"### {name}" if name else ""]
            yield markdown(table)


def _joined(blocks: Sequence[Sequence[str]]) -> str:
    """Blocks of lines as a document, an empty line between them; empty ones are left out."""
    return "\n".join(_lines(blocks)).rstrip() + "\n"


def _lines(blocks: Sequence[Sequence[str]]) -> Iterator[str]:
    for block in blocks:
        if any(block):
            yield from block
            yield ""
