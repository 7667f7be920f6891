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
_ORDER = (
    SentenceFate.TURNS,
    SentenceFate.GONE,
    SentenceFate.DIFFERS,
    SentenceFate.FAILS,
    SentenceFate.UNDECIDED,
)
_FEW = 3
"""So many sentences are told each, whatever becomes of them."""
_CHANGES = tuple(fate for fate in SentenceFate if fate.is_change)
_SEEMS = "seems to be another one"
_VERBS = {
    SentenceFate.TURNS: "turns around",
    SentenceFate.GONE: "is gone",
    SentenceFate.DIFFERS: "is another one",
    SentenceFate.FAILS: "cannot be compared",
    SentenceFate.UNDECIDED: "undecided",
}


def outcome(sentence: TriedSentence) -> str:
    """``holds at 11 of 14 neighbours; turns around with BBR; is gone with losses in bursts of 5 packets``."""
    tried = sentence.counted
    if not tried:
        return "no neighbour was tried"
    holding = sentence.with_fate(SentenceFate.HOLDS)
    of = f"{len(holding)} of {counted(len(tried), 'neighbour')}"
    parts = [
        f"holds at {of}" if holding else f"holds at none of {counted(len(tried), 'neighbour')}"
    ]
    for fate in _ORDER:
        if neighbours := [
            neighbour for neighbour in sentence.with_fate(fate) if not neighbour.is_unconfirmed
        ]:
            parts.append(f"{_VERBS[fate]} {_named(neighbours)}")
    if seeming := [neighbour for neighbour in sentence.counted if neighbour.is_unconfirmed]:
        parts.append(f"{_SEEMS} {_named(seeming)}")
    if scattered := _scattered(sentence):
        parts.append(scattered)
    if exact := sum(near.difference.exact for near in tried):
        every = (
            "at each, on exact paths"
            if exact == len(tried)
            else f"at {exact} of them, on exact paths"
        )
        parts.append(f"n = 1 {every}")
    if again := _again(sentence):
        parts.insert(0, again)
    return "; ".join(parts)


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


def _again(sentence: TriedSentence) -> str:
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
    """``RTT: turns around between an RTT of 60 ms and an RTT of 71 ms``."""
    about = "" if turning.decided else ", by the estimates"
    ends = f"{_alone(turning.holds)} and {_alone(turning.near)}"
    return f"{turning.axis}: {_VERBS[turning.fate]} between {ends}{about}"


def _alone(label: str) -> str:
    """A neighbour without the word that joins it to a sentence."""
    first, _, rest = label.partition(" ")
    return rest if first in ("at", "with", "for") else label


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
    exact = "an exact path, n = 1" if sentence.difference.exact else ""
    around = ", ".join(filter(None, [sentence.title, exact]))
    where = f" (tried around {around})" if around else ""
    turning = "".join(f" {turning_words(turn)}." for turn in sentence.turning)
    return f"{sentence.text}{where}: {outcome(sentence)}.{turning}"


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


def depends_on(answer: NearbyAnswer) -> str:
    """On what the sentences depend, as a paragraph of Markdown for a page about them.

    Those that change somewhere are told each, the others together. At its end it names every neighbour that was tried, because
    a sentence that holds at all of them is as good as these.
    """
    tried = [sentence for sentence in answer.sentences if sentence.counted]
    few = len(tried) <= _FEW
    changing = [sentence for sentence in tried if few or _is_told_alone(sentence)]
    several = len({sentence.experiment for sentence in tried}) > 1
    lines = [
        f"- {f'In {sentence.experiment}, ' if several else ''}{sentence_words(sentence)}"
        for sentence in changing
    ]
    if steady := [sentence for sentence in tried if sentence not in changing]:
        lines.append(f"- {_steadily(steady, alone=not changing)}")
    if untried := _untried(answer, tried):
        lines.append(f"- {_without_neighbours(untried)}")
    if labels := dict.fromkeys(near.label for sentence in tried for near in sentence.counted):
        lines.append(f"- Tried: {listed([*labels])}.")
    head = f"**Depends on.** By `headway nearby`, {answer.spent}{choice_words(answer)}:"
    return "\n".join([head, "", *lines, ""])


def _is_told_alone(sentence: TriedSentence) -> bool:
    again = sentence.again
    lost = again is not None and again.fate is not SentenceFate.HOLDS
    seems = any(near.is_unconfirmed for near in sentence.counted)
    return lost or seems or bool(sentence.with_fate(*_CHANGES, SentenceFate.FAILS))


def _steadily(sentences: Sequence[TriedSentence], *, alone: bool) -> str:
    """Sentences that change nowhere, together."""
    holding = sum(len(sentence.with_fate(SentenceFate.HOLDS)) for sentence in sentences)
    every = sum(len(sentence.counted) for sentence in sentences)
    who = counted(len(sentences), "sentence" if alone else "other sentence")
    hold, change = ("holds", "changes") if len(sentences) == 1 else ("hold", "change")
    near = f"{holding} of {counted(every, 'neighbour')}"
    undecided = every - holding
    rest = f" ({undecided} undecided)" if undecided else ""
    return f"{who} {hold} at {near}{rest}, and {change} at none."


def _untried(answer: NearbyAnswer, tried: Sequence[TriedSentence]) -> list[str]:
    """Sentences that were tried around none of their cells."""
    known = {(sentence.experiment, sentence.text) for sentence in tried}
    return [
        text
        for experiment, text in dict.fromkeys(
            (each.experiment, each.text) for each in answer.sentences
        )
        if (experiment, text) not in known
    ]


def _without_neighbours(texts: Sequence[str]) -> str:
    """Sentences of which nothing is known nearby, so that nobody takes them for tried."""
    if len(texts) > _FEW:
        return f"{len(texts)} sentences had no neighbour within the budget."
    return f"No neighbour within the budget had: {'; '.join(texts)}."


def fate_words(neighbour: TriedNeighbour) -> str:
    """What becomes of a sentence at a neighbour."""
    return _SEEMS if neighbour.is_unconfirmed else neighbour.fate.value
