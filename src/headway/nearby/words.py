"""Fates of sentences nearby, in words."""

from __future__ import annotations

from collections.abc import Sequence

from headway.analysis.numbers import listed, signed_percent, significant
from headway.errors import counted
from headway.nearby.document import (
    KeptDifference,
    NearbyAnswer,
    TriedNeighbour,
    TriedSentence,
    TurningPoint,
)
from headway.nearby.fate import SentenceFate

_MOST_NAMED = 4
"""More neighbours of a kind are counted."""
_MUCH_MORE, _LEAST_SCATTER = 5.0, 0.01
"""Pairs that scatter so many times as much are told of; less than 1 % counts as that."""
_CHANGES = tuple(fate for fate in SentenceFate if fate.is_change)
_SEEMS = "seems to change"
_VERBS = {
    SentenceFate.TURNS: "turns around",
    SentenceFate.GONE: "is gone",
    SentenceFate.DIFFERS: "shows a difference",
    SentenceFate.FAILS: "cannot be compared",
    SentenceFate.UNDECIDED: "undecided",
}


def outcome(sentence: TriedSentence) -> str:
    """``holds at 11 of 14 neighbours; turns around with BBR; is gone with losses in bursts of 5 packets``."""
    tried = sentence.counted
    if not tried:
        return "no neighbour was tried"
    holding = sentence.with_fate(SentenceFate.HOLDS)
    parts = [f"holds at {len(holding)} of {counted(len(tried), 'neighbour')}"]
    parts += [*changed(sentence), *not_known(sentence), exactly(sentence)]
    if again := shown_again(sentence):
        parts.insert(0, again)
    return "; ".join(filter(None, parts))


def changed(sentence: TriedSentence) -> list[str]:
    """Where a sentence does not hold: ``turns around with BBR``."""
    return _at(sentence, _CHANGES)


def not_known(sentence: TriedSentence) -> list[str]:
    """Where it is not known whether a sentence holds: ``undecided with BBR``."""
    parts = _at(sentence, (SentenceFate.FAILS, SentenceFate.UNDECIDED))
    if seeming := [neighbour for neighbour in sentence.counted if neighbour.is_unconfirmed]:
        parts.append(f"{_SEEMS} {_named(seeming)}")
    return [*filter(None, [*parts, _scattered(sentence)])]


def _at(sentence: TriedSentence, fates: Sequence[SentenceFate]) -> list[str]:
    parts = []
    for fate in fates:
        if neighbours := [
            neighbour for neighbour in sentence.with_fate(fate) if not neighbour.is_unconfirmed
        ]:
            parts.append(f"{_VERBS[fate]} {_named(neighbours)}")
    return parts


def exactly(sentence: TriedSentence) -> str:
    """At how many neighbours paths are exact; empty if at none."""
    exact = sum(near.difference.exact for near in sentence.counted)
    if not exact:
        return ""
    return f"n = 1 at {'each' if exact == len(sentence.counted) else f'{exact} of them'}, on exact paths"


def _scattered(sentence: TriedSentence) -> str:
    """Where pairs of runs scatter so much more than in the study that this is what is to be said; empty if nowhere."""
    own = sentence.difference.scatter
    if not own:
        return ""
    times = {
        neighbour.label: neighbour.difference.scatter / max(own, _LEAST_SCATTER)
        for neighbour in sentence.with_fate(SentenceFate.UNDECIDED)
        if neighbour.difference.scatter
    }
    label = max(times, key=lambda name: times[name], default="")
    if not label or times[label] < _MUCH_MORE:
        return ""
    return f"pairs scatter {significant(times[label], 2)} times as much {label}"


def shown_again(sentence: TriedSentence) -> str:
    """Whether the cell itself shows it again; empty if it does."""
    again = sentence.again
    if again is None or again.fate is SentenceFate.HOLDS:
        return ""
    if again.fate is SentenceFate.UNDECIDED:
        return "not shown again with other seeds"
    return f"{_VERBS[again.fate]} at the same place with other seeds"


def _named(neighbours: Sequence[TriedNeighbour]) -> str:
    if len(neighbours) > _MOST_NAMED:
        shown = [neighbour.label for neighbour in neighbours[: _MOST_NAMED - 1]]
        return listed([*shown, f"at {len(neighbours) - len(shown)} more"])
    return listed([neighbour.label for neighbour in neighbours])


def turning_words(turning: TurningPoint) -> str:
    """``RTT: still holds at an RTT of 60 ms, and turns around at an RTT of 71 ms``."""
    about = "" if turning.decided else " (by estimates; intervals do not decide)"
    change = f"{_VERBS[turning.fate]} {turning.near}"
    return f"{turning.axis}: still holds {turning.holds}, and {change}{about}"


def difference_words(difference: KeptDifference) -> str:
    """``−12 % (−15 to −9 %)``, or as factors."""
    if difference.relative is None:
        return "no finite difference"
    value = _size(difference.relative)
    if difference.exact:
        return f"{value} (every run; counts as one)"
    if difference.low is None or difference.high is None:
        return f"{value} ({counted(difference.pairs, 'pair')})"
    return f"{value} ({_size(difference.low)} to {_size(difference.high)})"


def _size(relative: float) -> str:
    return f"×{significant(1 + relative, 2)}" if relative >= 1 else f"{signed_percent(relative)} %"


def sentence_words(sentence: TriedSentence) -> str:
    """The sentence, the cell around which it was tried, and what became of it."""
    around = place(sentence)
    where = f" (tried around {around})" if around else ""
    turning = "".join(f" {turning_words(turn)}." for turn in sentence.turning)
    return f"{sentence.text}{where}: {outcome(sentence)}.{turning}"


def place(sentence: TriedSentence) -> str:
    """The cell around which a sentence was tried, and whether its path is exact."""
    exact = "an exact path, n = 1" if sentence.difference.exact else ""
    return ", ".join(filter(None, [sentence.title, exact]))


def worst(answer: NearbyAnswer) -> list[TriedSentence]:
    """The sentences that lose most nearby, first."""
    return sorted(answer.sentences, key=_lost, reverse=True)


def _lost(sentence: TriedSentence) -> tuple[bool, int, int]:
    again = sentence.again
    turned = len(sentence.with_fate(SentenceFate.TURNS))
    gone = len(sentence.with_fate(SentenceFate.GONE, SentenceFate.DIFFERS))
    return again is not None and again.fate.is_change, turned, gone


def choice_words(answer: NearbyAnswer) -> str:
    """Which axes were chosen, as the start of a sentence's end: ``on the axes RTT and loss alone``; empty if all were."""
    if answer.axes:
        return f", on {_axes(answer.axes)} alone"
    return f", without {_axes(answer.without)}" if answer.without else ""


def _axes(names: Sequence[str]) -> str:
    return f"the {'axes' if len(names) > 1 else 'axis'} {listed(names)}"


def overview(answer: NearbyAnswer) -> str:
    """How many sentences hold, in a sentence."""
    tried = [sentence for sentence in answer.sentences if sentence.counted]
    whole = [
        sentence for sentence in tried if not any(n.fate.is_change for n in sentence.neighbours)
    ]
    count = sum(len(sentence.counted) for sentence in tried)
    change = "changes at none of its" if len(tried) == 1 else "change at none of their"
    return (
        f"{len(whole)} of {counted(len(tried), 'sentence')} {change} neighbours "
        f"({count} in all{choice_words(answer)}; {answer.spent} spent of {answer.budget})."
    )


def nearby_sentence(answer: NearbyAnswer | None, experiment: str) -> str:
    """How far an experiment's sentences hold, in a sentence; empty if nothing was tried."""
    if answer is None:
        return ""
    own = [sentence for sentence in answer.sentences if sentence.experiment == experiment]
    tried = [sentence for sentence in own if sentence.counted]
    if not tried:
        return ""
    changed = [
        sentence for sentence in tried if any(near.fate.is_change for near in sentence.neighbours)
    ]
    holding = sum(len(sentence.with_fate(SentenceFate.HOLDS)) for sentence in tried)
    every = sum(len(sentence.counted) for sentence in tried)
    start = f"Nearby, {counted(len(tried), 'sentence')} held at {holding} of {every} neighbours{choice_words(answer)}"
    if not changed:
        return f"{start}, and changed at none."
    names = listed(
        [near.label for sentence in changed for near in sentence.with_fate(*_CHANGES)][:_MOST_NAMED]
    )
    return f"{start}; {len(changed)} changed{f', {names}' if names else ''}."


def fate_words(neighbour: TriedNeighbour) -> str:
    """What becomes of a sentence at a neighbour."""
    return _SEEMS if neighbour.is_unconfirmed else neighbour.fate.value
