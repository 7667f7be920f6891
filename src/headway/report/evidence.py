"""Evidence of chosen runs: samples over time, page loads, and flows that competed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from headway.diagnosis.delivered import Delivered
from headway.diagnosis.playback import PLAYBACK, Playback
from headway.diagnosis.samples import read_samples
from headway.diagnosis.series import SegmentSeries, Series, read_series
from headway.diagnosis.transfer import Transfer
from headway.errors import WrongInputError
from headway.pages.arrivals import Carried, with_arrivals
from headway.pages.load import EVENTS_FILE, PageLoad, read_load
from headway.pages.visual import VisualProgress, visual_progress
from headway.planning.deployment import FLOWS_DIRECTORY
from headway.records.flowfile import FLOW_RECORDS
from headway.records.store import ARTIFACTS
from headway.report.chosen import ChosenRun
from headway.study.family import Family

_BINS = 120
"""Spans that goodput is told of."""


@dataclass(frozen=True)
class Story:
    """A run over time.

    Attributes:
        run: the run that it was.
        series: what was sampled.
    """

    run: ChosenRun
    series: Series


@dataclass(frozen=True)
class PageStory:
    """A page load.

    Attributes:
        run: the run that it was.
        load: what the browser recorded.
        progress: how complete the page was over time.
    """

    run: ChosenRun
    load: PageLoad
    progress: VisualProgress


@dataclass(frozen=True)
class FlowCourse:
    """One of the flows over time.

    Attributes:
        name: its name; of several of a name with its number.
        named: its name in the study file.
        goodput_mbit: in equal spans from the start of the workload to its end, Mbit/s.
        sender: its sender, and its narrowest link.
    """

    name: str
    named: str
    goodput_mbit: tuple[float, ...]
    sender: SegmentSeries


@dataclass(frozen=True)
class SharedStory:
    """A run of flows that competed.

    Attributes:
        run: the run.
        end_s: when the last of them ended, from the start of the workload.
        flows: each over time, in the order of the study file.
        rate_mbit: constant rate of the narrowest link, Mbit/s; None if it has none.
    """

    run: ChosenRun
    end_s: float
    flows: tuple[FlowCourse, ...]
    rate_mbit: float | None

    @property
    def span_s(self) -> float:
        """Length of the spans of goodput."""
        return self.end_s / _BINS

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(flow.name for flow in self.flows)

    @property
    def queue_delay_ms(self) -> tuple[tuple[float, float], ...]:
        """At which time what was in the queue before the narrowest link took how long to send."""
        if not self.rate_mbit:
            return ()
        link = self.flows[0].sender
        per_byte_ms = 8e-3 / self.rate_mbit
        return tuple(
            (at_s, backlog * per_byte_ms)
            for at_s, backlog in zip(link.at_s, link.queue_bytes, strict=True)
            if at_s <= self.end_s
        )


@dataclass(frozen=True)
class VideoStory:
    """A video that was played.

    Attributes:
        run: the run that it was.
        flow: of flows that compete, the name of the one whose video it is; else empty.
        playback: how it was played.
    """

    run: ChosenRun
    flow: str
    playback: Playback

    @property
    def title(self) -> str:
        """Who played it."""
        return f"{self.run.contender}, {self.flow}" if self.flow else self.run.contender


@dataclass(frozen=True)
class RunEvidence:
    """What chosen runs left: nothing of runs that were given without it.

    Attributes:
        stories: the runs over time.
        pages: the runs that loaded a page, also those that failed.
        shared: the runs of flows that competed.
        videos: the videos that runs played.
    """

    stories: tuple[Story, ...] = ()
    pages: tuple[PageStory, ...] = ()
    shared: tuple[SharedStory, ...] = ()
    videos: tuple[VideoStory, ...] = ()

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs that left anything."""
        stories: tuple[Story | PageStory | SharedStory | VideoStory, ...]
        stories = (*self.stories, *self.pages, *self.shared, *self.videos)
        return tuple(dict.fromkeys(story.run.run_id for story in stories))


NOTHING = RunEvidence()
"""Left by no run."""


def evidence_of(directory: Path, runs: Sequence[ChosenRun]) -> RunEvidence:
    """What these runs of a results directory left."""
    left = [(run, directory / ARTIFACTS / run.run_id) for run in runs]
    stories = [_story(run, where) for run, where in left]
    pages = [_page_story(run, where) for run, where in left]
    shared = [_shared_story(run, where) for run, where in left]
    return RunEvidence(
        tuple(filter(None, stories)),
        tuple(filter(None, pages)),
        tuple(filter(None, shared)),
        tuple(video for run, where in left for video in _videos(run, where)),
    )


def _videos(run: ChosenRun, directory: Path) -> Iterator[VideoStory]:
    """The videos of a run: its own, or those of its flows."""
    places = [("", directory)]
    try:
        flows = FLOW_RECORDS.load(directory).flows
        places += [
            (flow_record.flow, directory / FLOWS_DIRECTORY / flow_record.flow)
            for flow_record in flows
        ]
    except FileNotFoundError:
        pass  # a flow alone, or the runs were given without what they left behind
    for flow, where in places:
        try:
            yield VideoStory(run, flow, PLAYBACK.load(where))
        except FileNotFoundError:
            continue


def _story(run: ChosenRun, directory: Path) -> Story | None:
    try:
        return Story(run, read_series(directory))
    except WrongInputError:
        return None  # the runs were given without what they left behind


def _page_story(run: ChosenRun, directory: Path) -> PageStory | None:
    if not (directory / EVENTS_FILE).exists():
        return None
    load = with_arrivals(read_load(directory), _carried(directory))
    return PageStory(run, load, visual_progress(load.load_frames))


def _carried(directory: Path) -> Carried:
    """What the path carried to the client during a load; nothing if that was not kept."""
    try:
        transfer, samples = Transfer.load(directory), read_samples(directory)
    except FileNotFoundError:
        return ()
    device = transfer.segments[0].loss_devices[0]
    return tuple(
        ((sample.at_s - transfer.began_s) * 1e3, float(sample.queues[device].sent_bytes))
        for sample in samples.taken
        if device in sample.queues and sample.at_s >= transfer.began_s
    )


def _shared_story(run: ChosenRun, directory: Path) -> SharedStory | None:
    try:
        records = FLOW_RECORDS.load(directory).flows
        own = [directory / FLOWS_DIRECTORY / record.flow for record in records]
        transfers = [Transfer.load(path) for path in own]
    except FileNotFoundError:
        return None  # a flow alone, or the runs were given without what they left behind
    end_s = max((transfer.end_s or 0.0 for transfer in transfers), default=0.0)
    if not end_s:
        return None
    edges = [end_s * place / _BINS for place in range(_BINS + 1)]
    courses = [
        FlowCourse(
            name=record.flow,
            named=record.named,
            goodput_mbit=_goodput(path, transfer, Family(record.family), edges),
            sender=read_series(path).segments[0],
        )
        for record, path, transfer in zip(records, own, transfers, strict=True)
    ]
    return SharedStory(run, end_s, tuple(courses), transfers[0].segments[0].rate_mbit)


def _goodput(
    directory: Path, transfer: Transfer, family: Family, edges: Sequence[float]
) -> tuple[float, ...]:
    if transfer.flows:
        delivered = Delivered.told(transfer.flows, 0.0)
    else:
        device = transfer.segments[0].loss_devices[0]
        delivered = Delivered.counted(read_samples(directory), device, family)
    return tuple(delivered.mbit(begin, end) for begin, end in pairwise(edges))
