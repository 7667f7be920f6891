"""An experiment's answer in a few sentences."""

from __future__ import annotations

from collections import defaultdict

from headway.analysis.alone import alone_sentences
from headway.analysis.analysis import Analysis
from headway.analysis.contest import Pairing
from headway.analysis.failures import failure_sentences
from headway.analysis.faultsentences import fault_sentences
from headway.analysis.firstflights import first_flight_sentences
from headway.analysis.headline import headline, telling
from headway.analysis.loads import load_sentences
from headway.analysis.numbers import listed
from headway.analysis.overall_effect import wholes
from headway.analysis.partition import dividing
from headway.analysis.sentences import sentences


def answer(analysis: Analysis) -> tuple[str, ...]:
    """What the experiment says, most important first.

    First a sentence for every comparison, those first that are farthest apart; of a single cell its own sentences.
    Then who failed, whose set-ups are unequal, what the differences depend on, and what could not be compared.
    """
    texts = headlines(analysis) if len(analysis.cells) > 1 else sentences(analysis)
    if len(analysis.contenders) == 1:
        texts = alone_sentences(analysis)
    return (
        *map(analysis.metric.said, (*fault_sentences(analysis), *texts)),
        *remarks(analysis),
    )


def headlines(analysis: Analysis) -> tuple[str, ...]:
    """A sentence for every comparison, those first that are farthest apart."""
    texts = (headline(analysis, pairing) for pairing in by_telling(analysis))
    return tuple(map(analysis.metric.said, filter(None, texts)))


def by_telling(analysis: Analysis) -> list[Pairing]:
    """The comparisons, those first that are farthest apart."""
    return sorted(analysis.pairings, key=lambda pairing: -telling(analysis, pairing))


def remarks(analysis: Analysis) -> tuple[str, ...]:
    """What is to be said beside the comparisons themselves."""
    every = (
        *failure_sentences(analysis),
        *first_flight_sentences(analysis),
        *interaction_sentences(analysis),
        *load_sentences(analysis),
        *_not_compared(analysis),
    )
    return tuple(map(analysis.metric.said, every))


def interaction_sentences(analysis: Analysis) -> tuple[str, ...]:
    """What the differences depend on; then of which nothing is seen, neither by a test nor by the cells' verdicts."""
    texts, unseen = [], defaultdict[str, list[str]](list)
    for whole in wholes(analysis):
        by_cells = dividing(analysis, whole.pairing)
        between = f"between {whole.pairing.contender} and {whole.pairing.against}"
        shown = [
            interaction.factor for interaction in whole.interactions if interaction.established
        ]
        none = [interaction.factor for interaction in whole.interactions if not interaction.seen]
        others = listed([name for name in none if name not in by_cells], "or")
        if shown:
            rest = f"; no sign that it depends on {others}" if others else ""
            first, *more = shown
            most = f"most on {first}" if len(whole.interactions) > 1 else f"on {first}"
            also = f", then on {listed(more)}" if more else ""
            texts.append(f"The difference {between} depends {most}{also}{rest}.")
        elif others and any(
            interaction.test and interaction.test.can_decide for interaction in whole.interactions
        ):
            unseen[others].append(between)
    nothing = [
        f"No sign that the difference {listed(pairs, 'or that')} depends on {others}."
        for others, pairs in unseen.items()
    ]
    return (*texts, *nothing)


def _not_compared(analysis: Analysis) -> tuple[str, ...]:
    """What was to be compared and could not be, as a sentence; none if there is no such thing."""
    if len(analysis.contenders) == 1:
        return ()
    if not analysis.pairings:
        return ("Nothing that was to be compared was run.",)
    met = {comparison.pairing for _, comparison in analysis.comparisons}
    never = [str(pairing) for pairing in analysis.pairings if pairing not in met]
    return (f"Never run under the same conditions: {', '.join(never)}.",) if never else ()
