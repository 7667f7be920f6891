"""Advice in sentences: which contender is best where, what choosing by site would gain, and what explains it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.analysis.analysis import Analysis
from headway.analysis.estimate_text import Estimated, signed
from headway.analysis.numbers import MINUS, listed, p_value, percent, signed_percent
from headway.instruments.oversites.guide import Best, guide
from headway.instruments.oversites.mediation import explained
from headway.instruments.oversites.oracle_gaps import FLATTERED, ORACLE, SiteGap, gaps
from headway.instruments.oversites.regression import Fit, Term
from headway.instruments.oversites.siteclasses import ALL

_ALPHA = 0.05


def advice(analysis: Analysis) -> tuple[str, ...]:
    """Of an experiment over sites; nothing of others."""
    best, site_gaps, fit = guide(analysis), gaps(analysis), explained(analysis)
    return (
        *_best_sentences(analysis, best),
        *(_gap_sentence(analysis, gap) for gap in site_gaps),
        *([_fit_sentence(analysis, fit)] if fit else []),
    )


def _best_sentences(analysis: Analysis, best_values: Sequence[Best]) -> Iterator[str]:
    for network in dict.fromkeys(best.network for best in best_values):
        here = [best for best in best_values if best.network == network]
        whole = next((best for best in here if best.sites.trait == ALL), None)
        if whole is None:
            continue
        classes = [best for best in here if best is not whole and best.decided]
        parts = [_over_all(analysis, whole)]
        parts += [
            f"at those {best.sites.title} {best.contender} is, {_by(best)}" for best in classes
        ]
        yield f"{_at(network)}{'; '.join(parts)}."


def _over_all(analysis: Analysis, best: Best) -> str:
    over = f"over {best.count} sites"
    if not best.decided:
        text = f"{over} no contender is shown to differ from {analysis.baseline} by {analysis.metric.label}"
        return f"{text} (the best was {best.contender}, {_by(best)})"
    others = [name for name in best.leaders if name != best.contender]
    also = f", and {listed(others)} not clearly worse" if others else ""
    return f"{over} {best.contender} is best, {_by(best)}{also}"


def _by(best: Best) -> str:
    size, sure = _estimate(best.difference)
    return f"{size} against {best.against} at a typical site{sure}"


def _gap_sentence(analysis: Analysis, gap: SiteGap) -> str:
    oracle = gap.oracle
    gained = "".join(_estimate(oracle))
    whose = f"{analysis.baseline}'s {analysis.metric.label}"
    if not gap.shown:
        return (
            f"{_at(gap.network)}choosing the best for each of {gap.sites} sites changes {whose} by {gained}: "
            "no gain beyond chance."
        )
    others = [
        f"{name} {MINUS if gain.closed < 0 else ''}{percent(gain.closed)}"
        for name, gain in gap.ways.items()
        if name not in (ORACLE, FLATTERED) and gain.closed is not None
    ]
    return (
        f"{_at(gap.network)}choosing the best for each of {gap.sites} sites changes {whose} by {gained}; "
        f"of that gain, {listed(others)}."
    )


def _fit_sentence(analysis: Analysis, fit: Fit) -> str:
    """What goes with the differences, and what does not."""
    seen = [term for term in fit.terms if term.p < _ALPHA]
    unseen = [term.name for term in fit.terms if term.p >= _ALPHA]
    whole = (
        f"Networks and contenders held equal, differences of the {analysis.metric.label} from "
        f"{analysis.baseline}'s at {fit.groups} sites ({fit.rows} medians, {percent(fit.r_squared)} of the variance explained)"
    )
    if not seen:
        return f"{whole} show no sign of going with {listed(unseen, 'or')}."
    text = f"{whole} go with {listed([_term(term) for term in seen])}"
    return f"{text}; no sign of {listed(unseen, 'or')}." if unseen else f"{text}."


def _term(term: Term) -> str:
    return (
        f"{term.name} (a standard deviation more: {signed_percent(term.effect)} %, {p_value(term.p)}, "
        f"{percent(term.share)} of the variance)"
    )


def _at(network: str) -> str:
    return f"At {network}, " if network else ""


def _estimate(estimated: Estimated) -> tuple[str, str]:
    """A difference, and its interval in brackets."""
    if estimated.relative is None:
        return "?", ""
    written = signed(estimated)
    return written.size, f" ({written.interval})" if written.interval else ""
