"""Trying neighbours, the most telling first: what is due follows from the runs that there are, and from the budget."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from headway.analysis.stopping import ended_records, measured
from headway.columns import Record
from headway.nearby.budget import NOTHING, CostOfRuns, NearbyBudget, Spending
from headway.nearby.fate import TriedFate, judged
from headway.nearby.origin import OriginCell
from headway.nearby.sentence import AnswerSentence
from headway.nearby.trial import AGAIN, BETWEEN, Trial, planned
from headway.nearby.turning import AxisPoint, TurningSpan, spans
from headway.planning.boots import REPETITIONS_OF_A_BOOT
from headway.study.experiment import Study

LOOKS = (4, 8, 14, 24)
"""After how many repetitions a neighbour is looked at: the first look is for what is clear, the last one for what is said of
all neighbours together."""
SHARED_LOOKS = (REPETITIONS_OF_A_BOOT, 2 * REPETITIONS_OF_A_BOOT)
"""The same where repetitions share the start of a browser."""
_AT_ONCE = 0.4
"""Share of the budget that is spent before results are looked at again: what is expected of costs may be wrong."""
_KEPT = 0.5
"""Share of the budget that is kept, at first, for what a first look does not settle."""


@dataclass(frozen=True)
class Due:
    """A neighbour, and how many repetitions it is to have."""

    trial: Trial
    repetitions: int


@dataclass
class NeighbourSearch:
    """What is known of the neighbours of a study's cells, and what is due next.

    Attributes:
        study: the study.
        sentences: of its answer.
        origins: the cells that they rest on, by experiment and cell.
        trials: the neighbours of all cells, in the order in which they are tried.
        budget: what may be spent.
        begun: neighbours that have been begun, with how many repetitions they have or are about to have.
    """

    study: Study
    sentences: Sequence[AnswerSentence]
    origins: Mapping[tuple[str, str], OriginCell]
    trials: Sequence[Trial]
    budget: NearbyBudget
    begun: dict[str, Due] = field(default_factory=dict)
    _records: dict[str, list[Record]] = field(default_factory=dict)
    _costs: dict[tuple[str, int], Spending] = field(default_factory=dict)
    _judged: dict[tuple[int, str, int], TriedFate] = field(default_factory=dict)

    @cached_property
    def _expected(self) -> CostOfRuns:
        return CostOfRuns()

    @property
    def looks(self) -> tuple[int, ...]:
        """After how many repetitions a neighbour is looked at."""
        shared = any(
            setting.may_share_a_boot
            for origin in self.origins.values()
            for setting in origin.settings.values()
        )
        return SHARED_LOOKS if shared else LOOKS

    def hear(self, records: Sequence[Record]) -> None:
        """Take note of all runs that there are."""
        self._records = {}
        for record in records:
            self._records.setdefault(record.experiment, []).append(record)

    def neighbours(self, sentence: AnswerSentence) -> list[Trial]:
        """The neighbours at which a sentence is tried, those between two of them last."""
        between = [due.trial for due in self.begun.values() if due.trial.rank == BETWEEN]
        place = (sentence.experiment, sentence.cell)
        return [
            trial
            for trial in (*self.trials, *between)
            if (trial.origin.experiment.name, trial.origin.cell) == place
            and (trial.axis is AGAIN or trial.axis.name in sentence.axes)
            and sentence.metric.column in trial.measures
            and trial.concerns(sentence.pairing.contender, sentence.pairing.against)
        ]

    def judge(self, sentence: AnswerSentence, trial: Trial) -> TriedFate | None:
        """A sentence at a neighbour; None if nothing of that was carried out.

        Of a look that is not complete nothing is taken: what is said depends on no order of runs.
        """
        look = self._complete_look(trial)
        if look is None:
            return None
        # What a look says stays, whatever comes after it.
        key = id(sentence), trial.name, look
        if key not in self._judged:
            self._judged[key] = self._judge(sentence, trial, look)
        return self._judged[key]

    def _judge(self, sentence: AnswerSentence, trial: Trial, look: int) -> TriedFate:
        records = [record for record in self._records[trial.name] if record.rep <= look]
        sides = []
        for name in (sentence.pairing.contender, sentence.pairing.against):
            own = (record for record in records if record.contender == name)
            sides.append(measured(ended_records(own, sentence.metric.column), len(self.looks)))
        count = sum(
            trial.rank != BETWEEN and trial.axis is not AGAIN for trial in self.neighbours(sentence)
        )
        return judged(sentence.effect, sides[0], sides[1], sentence.metric, count)

    def _complete_look(self, trial: Trial) -> int | None:
        """The last look of which all runs are there."""
        counts = dict.fromkeys(trial.origin.contenders, 0)
        for record in self._records.get(trial.name, ()):
            counts[record.contender] += 1
        done = min(counts.values())
        return max((look for look in self.looks if look <= done), default=None)

    def due(self, spent: Spending) -> list[Due]:
        """What is to be carried out next; nothing if all is settled, or the budget is spent.

        First what was begun and is not complete. Then, by the experiments' first metrics, what is telling: cells around
        which something looks like a change, again with other seeds; what looks like a change and is yet to be confirmed;
        and places between a neighbour that is a change and the cell. Then, for half of the budget, neighbours that were
        not tried. Then what is telling by other metrics, neighbours at which a sentence would be another one by the
        estimate, others that were not tried, and what is undecided.

        Args:
            spent: what was spent so far.
        """
        if incomplete := [due for due in self.begun.values() if self._is_incomplete(due)]:
            return incomplete
        firsts = [sentence for sentence in self.sentences if sentence.is_first]
        beside = [sentence for sentence in self.sentences if not sentence.is_first]
        new = [Due(trial, self.looks[0]) for trial in self.trials if trial.name not in self.begun]
        return (
            self._affordable(self._telling(firsts), spent, 1.0)
            or self._affordable(new, spent, 1 - _KEPT)
            or self._affordable(self._telling(beside), spent, 1.0)
            or self._affordable([*self._doubtful()], spent, 1.0)
            # Beyond that as much is left as is spent: what looks like a change is yet to be confirmed.
            or self._affordable(new, spent, 1.0, reserve=True)
            or self._affordable([*self._undecided()], spent, 1.0)
            or self._affordable(new, spent, 1.0)
        )

    def _telling(self, sentences: Sequence[AnswerSentence]) -> list[Due]:
        """What tells whether and where sentences change."""
        return [
            *self._again(sentences),
            *self._unconfirmed(sentences),
            *self._between(sentences),
        ]

    def _is_incomplete(self, due: Due) -> bool:
        return (self._complete_look(due.trial) or 0) < due.repetitions

    def _affordable(
        self, wanted: Sequence[Due], spent: Spending, share: float, *, reserve: bool = False
    ) -> list[Due]:
        """The first of them that a share of the budget is enough for, as many at a time as are looked at together.

        Args:
            wanted: the neighbours.
            spent: what was spent so far.
            share: of the budget.
            reserve: whether the budget has to be enough for them twice.
        """
        chosen: list[Due] = []
        new = NOTHING
        for due in wanted:
            new += self.cost(due)
            if not self.budget.allows(spent + new + (new if reserve else NOTHING), share):
                break
            if chosen and not self.budget.allows(new, _AT_ONCE):
                break
            chosen.append(due)
        return chosen

    def cost(self, due: Due) -> Spending:
        """What is expected to be spent until a neighbour has so many repetitions."""
        had = self._complete_look(due.trial) or 0
        runs = self._per_repetition(due.trial, is_new=not had)
        return Spending(
            runs.runs * (due.repetitions - had), runs.processor_s * (due.repetitions - had)
        )

    def _per_repetition(self, trial: Trial, *, is_new: bool) -> Spending:
        own = self._records.get(trial.name)
        if own and not is_new:
            per_run_s = math.fsum(record.processor_s or 0.0 for record in own) / len(own)
            return Spending(len(trial.contenders), per_run_s * len(trial.contenders))
        key = trial.name, self.looks[0]
        if key not in self._costs:
            first = self.looks[0]
            whole = self._expected.of(planned(self.study, [(trial, first)]), is_new=True)
            self._costs[key] = Spending(whole.runs // first, whole.processor_s / first)
        return self._costs[key]

    def _fates(
        self, sentences: Sequence[AnswerSentence]
    ) -> Iterator[tuple[AnswerSentence, Trial, TriedFate]]:
        for sentence in sentences:
            for trial in self.neighbours(sentence):
                if (tried := self.judge(sentence, trial)) is not None:
                    yield sentence, trial, tried

    def _again(self, sentences: Sequence[AnswerSentence]) -> Iterator[Due]:
        """The cells themselves around which a sentence seems to change, if they were not tried again."""
        changing = {
            id(trial.origin)
            for _, trial, tried in self._fates(sentences)
            if trial.axis is not AGAIN and (tried.fate.is_change or tried.is_unconfirmed)
        }
        for trial in self.trials:
            is_due = trial.axis is AGAIN and id(trial.origin) in changing
            if is_due and trial.name not in self.begun:
                yield Due(trial, self.looks[0])

    def _unconfirmed(self, sentences: Sequence[AnswerSentence]) -> Iterator[Due]:
        fates = self._fates(sentences)
        yield from self._farther(entry for entry in fates if entry[2].is_unconfirmed)

    def _doubtful(self) -> Iterator[Due]:
        yield from self._farther(
            entry
            for entry in self._fates(self.sentences)
            if not entry[2].is_settled and entry[2].estimate.is_change
        )

    def _undecided(self) -> Iterator[Due]:
        fates = self._fates(self.sentences)
        yield from self._farther(entry for entry in fates if not entry[2].is_settled)

    def _farther(self, entries: Iterator[tuple[AnswerSentence, Trial, TriedFate]]) -> Iterator[Due]:
        """The next look of each of these neighbours, if it has one."""
        for trial in {trial.name: trial for _, trial, _ in entries}.values():
            had = self._complete_look(trial) or 0
            if (look := next((later for later in self.looks if later > had), None)) is not None:
                yield Due(trial, look)

    def _between(self, sentences: Sequence[AnswerSentence]) -> Iterator[Due]:
        for sentence in sentences:
            for axis_trial, span in self.turning(sentence):
                if span.is_narrow:
                    continue
                axis, origin = axis_trial.axis, axis_trial.origin
                assert axis.at is not None, "only axes of numbers have spans"
                trial = Trial(origin, axis, axis.at(origin.setting, span.middle), BETWEEN)
                if trial.name not in self.begun:
                    yield Due(trial, self.looks[0])

    def turning(self, sentence: AnswerSentence) -> Iterator[tuple[Trial, TurningSpan]]:
        """Where a sentence changes, each with a neighbour of that axis; nowhere if it is not found again."""
        points: dict[str, tuple[Trial, list[AxisPoint]]] = {}
        for trial in self.neighbours(sentence):
            tried = self.judge(sentence, trial)
            if tried is None:
                continue
            if trial.axis is AGAIN and tried.fate.is_change:
                return
            if trial.axis.at is not None and trial.level.number:
                own = points.setdefault(trial.axis.name, (trial, []))[1]
                own.append(AxisPoint(trial.level.number, tried.fate, tried.estimate))
        for trial, of_axis in points.values():
            if place := trial.axis.number(trial.origin.setting):
                yield from ((trial, span) for span in spans(place, of_axis))


def cheapest(search: NeighbourSearch) -> Spending:
    """What the first neighbour costs that is to be tried."""
    if not search.trials:
        return NOTHING
    return search.cost(Due(search.trials[0], search.looks[0]))
