"""Trying the neighbours of results, and keeping what was found beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from headway.analysis.result_loading import StudyResults, load_results
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import Count, Watcher
from headway.errors import WrongInputError, counted
from headway.lab.cores import available_cores
from headway.nearby.answer import answer_of, write_answer
from headway.nearby.budget import NearbyBudget, Spending, spent_on
from headway.nearby.document import NearbyAnswer
from headway.nearby.origin import OriginCell, origins_of, study_of
from headway.nearby.search import Due, NeighbourSearch, cheapest
from headway.nearby.sentence import AnswerSentence, sentences_of
from headway.nearby.trial import Present, Trial, Unable, study_of_trials, trial_named, trials_around
from headway.overriding import override
from headway.records.manifest import read_manifest
from headway.records.store import NEARBY, Start, each_record, read_records, refresh_table
from headway.study.experiment import Study
from headway.study.neighbourhood import EVERYWHERE, Neighbourhood

_LEAST_S = 60.0
"""Time for the neighbours of a study that took less, seconds."""


@dataclass(frozen=True)
class NearbyRequest:
    """What is to be tried.

    Attributes:
        results: directory of the study's results.
        command: what was asked, for the manifest.
        wanted: axes, and budget; without a budget, what the study took, and a minute on every core at least.
        jobs: labs at a time; one per core if None.
        replace: whether what was tried before is removed.
    """

    results: Path
    command: str
    wanted: Neighbourhood = EVERYWHERE
    jobs: int | None = None
    replace: bool = False

    @property
    def labs(self) -> int:
        """Labs at a time."""
        return self.jobs or len(available_cores())


def try_nearby(
    request: NearbyRequest, watcher: Watcher, study: Study | None = None
) -> NearbyAnswer:
    """Try the neighbours of results, or go on with that; what is found is kept in the directory ``nearby`` of theirs.

    Args:
        request: what is to be tried.
        watcher: is told how far it is.
        study: the study that the results are of; as their manifest states it if None.

    Raises:
        WrongInputError: nothing can be tried, or the budget is too small for a single neighbour.
        HeadwayError: the host failed; what is done is kept.
    """
    refresh_table(request.results)
    results = load_results(request.results)
    _check_whole(results, request.results)
    sentences = sentences_of(results, request.wanted.chosen)
    own = study or study_of(results.manifest, str(request.results))
    origins = origins_of(own, _needed(sentences))
    places = _Places(own, request.wanted, sentences)
    trials, unable = _all_trials(_in_order(origins, sentences), places)
    search = NeighbourSearch(own, sentences, origins, trials, _budget(request))
    out = request.results / NEARBY
    _check_enough(search)
    _Conductor(request, search, out, watcher).carry_out()
    answer = answer_of(search, unable, _spent(out), request.wanted)
    write_answer(answer, out)
    return answer


def _check_whole(results: StudyResults, directory: Path) -> None:
    if results.manifest.complete is False:
        raise WrongInputError(
            f"holds a part of the study ({results.number}): `headway run` with --resume ends it first",
            where=str(directory),
        )


def _needed(
    sentences: Sequence[AnswerSentence],
) -> dict[tuple[str, str], tuple[tuple[str, ...], str]]:
    """The cells that sentences rest on, with the contenders of each and the first one that others are compared with."""
    names: dict[tuple[str, str], list[str]] = {}
    references: dict[tuple[str, str], str] = {}
    for sentence in sentences:
        place = sentence.experiment, sentence.cell
        names.setdefault(place, []).extend((sentence.pairing.against, sentence.pairing.contender))
        references.setdefault(place, sentence.pairing.against)
    return {
        place: (tuple(dict.fromkeys(contenders)), references[place])
        for place, contenders in names.items()
    }


@dataclass(frozen=True)
class _Places:
    """The cells of a study's sentences, and on which axes each is varied.

    Attributes:
        study: the study.
        wanted: what is wanted for its answer.
        sentences: of its answer, and of claims, which state their own.
    """

    study: Study
    wanted: Neighbourhood
    sentences: Sequence[AnswerSentence]

    def axes(self, origin: OriginCell) -> frozenset[str]:
        """On which axes a cell is varied."""
        place = origin.experiment.name, origin.cell
        own = (each.axes for each in self.sentences if (each.experiment, each.cell) == place)
        return frozenset().union(*own)


def _in_order(
    origins: Mapping[tuple[str, str], OriginCell], sentences: Sequence[AnswerSentence]
) -> Iterator[list[OriginCell]]:
    """The cells of sentences that claim a difference, those that only others rest on, and what more cells there are.

    Those of first metrics come before those that only other metrics' sentences rest on. An experiment whose contenders are all
    alike says that, so its cells wait for no other experiment's.
    """
    differing = {sentence.experiment for sentence in sentences if sentence.effect.sign}
    ranks: dict[tuple[str, str], tuple[bool, bool, bool]] = {}
    for sentence in sentences:
        place = sentence.experiment, sentence.cell
        is_beside = not sentence.effect.sign and sentence.experiment in differing
        rank = sentence.is_more, not sentence.is_first, is_beside
        ranks[place] = min(rank, ranks.get(place, rank))
    for rank in sorted(set(ranks.values())):
        yield [origin for place, origin in origins.items() if ranks[place] == rank]


def _all_trials(
    groups: Iterable[Sequence[OriginCell]], places: _Places
) -> tuple[list[Trial], list[Unable]]:
    """The neighbours of all cells, group after group: of every cell the most telling, then the next ones."""
    trials: list[Trial] = []
    unable: list[Unable] = []
    present = Present()
    for group in groups:
        of_cells: list[list[Trial]] = []
        for origin in group:
            able, others = trials_around(
                origin, places.study, present, axes=places.axes(origin), asked=places.wanted.axes
            )
            of_cells.append(_ordered(able))
            unable += others
        together = zip_longest(*of_cells)
        trials += [trial for row in together for trial in row if trial is not None]
    return trials, unable


def _ordered(trials: Sequence[Trial]) -> list[Trial]:
    """The first neighbour of every axis before the second of any."""
    return sorted(trials, key=lambda trial: (trial.rank, trial.axis.place))


def _budget(request: NearbyRequest) -> NearbyBudget:
    wanted = request.wanted
    processor_s = wanted.time.s * request.labs if wanted.time is not None else None
    limits = [
        *([counted(wanted.runs, "run")] if wanted.runs is not None else []),
        *([f"{processor_s / 60:.3g} min of a processor"] if processor_s is not None else []),
    ]
    if limits:
        return NearbyBudget(wanted.runs, processor_s, " and ".join(limits))
    manifest = read_manifest(request.results)
    paths = len(manifest.self_tested_paths) if manifest else 0
    took_s = spent_on(each_record(request.results), paths).processor_s
    least_s = _LEAST_S * request.labs
    source = "which the study took" if took_s >= least_s else "the least"
    processor_s = max(took_s, least_s)
    return NearbyBudget(None, processor_s, f"{processor_s / 60:.3g} min of a processor, {source}")


def _check_enough(search: NeighbourSearch) -> None:
    needed = cheapest(search)
    if not search.budget.allows(needed):
        raise WrongInputError(
            f"{search.budget.source} is too little for a single neighbour, which takes {needed}",
            where="--runs or --minutes, or nearby in the study",
        )


def _spent(out: Path) -> Spending:
    manifest = read_manifest(out)
    return spent_on(each_record(out), len(manifest.self_tested_paths) if manifest else 0)


@dataclass
class _Conductor:
    """Has neighbours carried out, round after round, until nothing is due."""

    request: NearbyRequest
    search: NeighbourSearch
    out: Path
    watcher: Watcher

    def carry_out(self) -> None:
        start = Start.REPLACE if self.request.replace else Start.RESUME
        if not self.request.replace:
            self._take_up()
        while True:
            self.search.hear(
                read_records(self.out) if start is Start.RESUME and self.out.exists() else []
            )
            spent = (
                _spent(self.out)
                if self.out.exists() and start is Start.RESUME
                else Spending(0, 0.0)
            )
            due = self.search.due(spent)
            if not due:
                return
            self.search.begun |= {neighbour.trial.name: neighbour for neighbour in due}
            conduct(self._task(start), _Quiet(self.watcher))
            start = Start.RESUME

    def _take_up(self) -> None:
        """What an interrupted search has begun."""
        manifest = read_manifest(self.out)
        origins = tuple(self.search.origins.values())
        for experiment in manifest.study.experiments if manifest else ():
            trial = trial_named(experiment.name, origins, self.search.trials)
            if trial is None:
                raise WrongInputError(
                    f"holds neighbours of other sentences or axes, such as {experiment.name}; --replace removes them",
                    where=str(self.out),
                )
            self.search.begun[trial.name] = Due(trial, experiment.repetitions.most)

    def _task(self, start: Start) -> Task:
        begun = [(due.trial, due.repetitions) for due in self.search.begun.values()]
        study = study_of_trials(self.search.study, begun)
        return Task(
            study=study,
            name=study.name,
            out=self.out,
            command=self.request.command,
            go_on="the same command goes on",
            start=start,
            keep_going=True,
            jobs=self.request.jobs,
        )


@dataclass(frozen=True)
class _Quiet(Watcher):
    """Says how far runs are, and nothing of what each round has planned."""

    watcher: Watcher

    @override
    def note(self, message: str) -> None:
        if "runs are kept" in message:
            self.watcher.note(message)

    @override
    def warn(self, message: str) -> None:
        if not message.startswith("note: "):
            self.watcher.warn(message)

    @override
    def counting(self, what: str, total: int) -> AbstractContextManager[Count]:
        return self.watcher.counting(what, total)
