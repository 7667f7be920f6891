"""The cells of an experiment and what each contender did there, from the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from headway.analysis.bursts import Bursts
from headway.analysis.compare import Comparison
from headway.analysis.contest import Pairing
from headway.analysis.goodput import FlowRun, Received
from headway.analysis.latencies import Awaited, Latencies
from headway.analysis.metric import Metric
from headway.analysis.sample import Measurements, Observation, SampleSummary, summarise
from headway.analysis.video_quality import COLUMNS as WATCHED
from headway.analysis.video_quality import WatchedVideos
from headway.columns import Status
from headway.errors import kinds_of
from headway.study.published import RunInterval

HOLDUPS = {
    "handshake": "handshake_s",
    "outage": "outage_s",
    "path": "path_s",
    "processor": "processor_limited_s",
    "growth": "growth_s",
    "congestion window": "cwnd_s",
    "recovery": "recovery_s",
    "idle recovery": "idle_recovery_s",
    "receive window": "rwnd_limited_s",
    "send buffer": "sndbuf_limited_s",
    "application": "application_s",
    "plateau": "plateau_s",
}
"""What can hold a transfer back, and the column with its seconds."""


_NAMED = (
    "limited_by",
    "main_limited_by",
    "limits_source",
    "latencies_ms",
    "stream_delays_ms",
    "video_rungs",
    *WATCHED,
    "sender_bursts",
    "sender_burst_packets",
    "bottleneck_bursts",
    "bottleneck_burst_packets",
)


@dataclass(frozen=True)
class Failure:
    """A run that did not end well.

    Attributes:
        seed: its seed.
        rep: its repetition.
        timed_out: whether it was given up.
        reason: why; empty if nothing tells.
        came_to: how far it came, and what its path had lost; likewise.
        fault: what had happened to its packets, as the study asks; empty if nothing had.
    """

    seed: int
    rep: int
    timed_out: bool
    reason: str
    came_to: str = ""
    fault: str = ""


@dataclass(frozen=True)
class ContenderRuns:
    """What a contender did in a cell.

    Attributes:
        contender: the contender.
        runs: number of runs, failed ones included.
        failed: runs that failed.
        timeouts: runs that were given up.
        measured: the metric in the runs that measured it.
        limited_by: what limited the runs, with counts, most frequent first.
        retransmits: median number of segments that the server's TCP sent again; None if unknown.
        senders: congestion control of whoever sends towards the client, the nearest first:
            ``proxy bbr``, ``server reno``.
        holdups: what held the finished runs back, and for how many seconds in the mean; empty if
            that is not known.
        received: what finished bulk runs received over time; None if there are none.
        main_limited_by: of page loads, what limited the connection of the document, as `limited_by`.
        ended_badly: the runs that did not end well, by seed.
        sent_in: the bursts in which packets of finished runs left their sender; None if none was measured.
        came_in: those in which they came to the bottleneck.
        latencies: how long requests of finished runs took, or messages of streams; None if they were neither.
        rungs: of videos, parts of all segments of finished runs that were of each rung, the lowest first; empty without.
        watched: the same videos' quality, stalls and start-up delays; None without any.
        known_from: where the senders' states are known from, as the column ``limits_source`` has it.
    """

    contender: str
    runs: int
    failed: int
    timeouts: int
    measured: Measurements
    limited_by: tuple[tuple[str, int], ...]
    retransmits: float | None
    senders: tuple[str, ...]
    holdups: tuple[tuple[str, float], ...] = ()
    received: Received | None = None
    main_limited_by: tuple[tuple[str, int], ...] = ()
    known_from: tuple[str, ...] = ()
    ended_badly: tuple[Failure, ...] = ()
    sent_in: Bursts | None = None
    came_in: Bursts | None = None
    latencies: Latencies | None = None
    rungs: tuple[float, ...] = ()
    watched: WatchedVideos | None = None

    @property
    def reason(self) -> str:
        """Why most of the runs that did not end well did not; empty if all did."""
        reasons = kinds_of(failure.reason for failure in self.ended_badly if failure.reason)
        return next((reason for reason, _ in reasons), "")

    @property
    def is_inferred(self) -> bool:
        """Whether a sender's state is not known, so that causes are told by what a path carried."""
        return any("counters" in source for source in self.known_from)

    @property
    def failures(self) -> int:
        """Runs that did not end well."""
        return self.failed + self.timeouts

    def measured_in(self, span: RunInterval | None) -> Measurements:
        """The metric in every run; with an interval of time, goodput in it."""
        if span is None:
            return self.measured
        measurements = self.received.goodput_in(span) if self.received else Measurements(())
        return replace(measurements, looks=self.measured.looks)

    @property
    def observations(self) -> tuple[Observation, ...]:
        """The metric in every run that measured it, by seed."""
        return self.measured.observations

    @property
    def sample(self) -> SampleSummary | None:
        """Summary of the metric; None if nothing was measured."""
        return self.measured.sample


@dataclass(frozen=True)
class Cell:
    """A cell: its name, its title (empty if nothing varies), and its results.

    Attributes:
        name: its name in the records.
        title: what tells it from the other cells, in words.
        levels: index of its level of each factor of the experiment.
        sides: its contenders, in the study's order.
        comparisons: what the study compares, as far as both were run here.
        leaders: the fastest contender, with those that are not clearly slower; empty if
            fewer than two contenders finished, or each was clearly slower than another.
    """

    name: str
    title: str
    levels: tuple[int, ...]
    sides: tuple[ContenderRuns, ...]
    comparisons: tuple[Comparison, ...]
    leaders: tuple[str, ...]

    def side(self, contender: str) -> ContenderRuns | None:
        """What this contender did here; None if it was not run."""
        return self._sides.get(contender)

    def comparison(self, pairing: Pairing) -> Comparison | None:
        """The comparison of these two; None if one of them was not run."""
        return self._comparisons.get(pairing)

    @cached_property
    def matched(self) -> Mapping[str, SampleSummary]:
        """Of each contender its runs in the repetitions that all finished: those that stand beside differences.

        Where no repetition is common, all its runs.
        """
        own = {side.contender: side.measured for side in self.sides if side.sample}
        common = [
            {(run.seed, run.rep) for run in measurements.observations}
            for measurements in own.values()
        ]
        shared = set.intersection(*common) if common else set()
        sample_summaries = {
            name: summarise(
                [run.value for run in measurements.observations if (run.seed, run.rep) in shared]
                or list(measurements.values),
                measurements.looks,
            )
            for name, measurements in own.items()
        }
        return {name: sample for name, sample in sample_summaries.items() if sample}

    @cached_property
    def _sides(self) -> dict[str, ContenderRuns]:
        return {side.contender: side for side in self.sides}

    @cached_property
    def _comparisons(self) -> dict[Pairing, Comparison]:
        return {comparison.pairing: comparison for comparison in self.comparisons}

    @property
    def winner(self) -> str | None:
        """The contender that is clearly faster than every other that finished."""
        return self.leaders[0] if len(self.leaders) == 1 else None


def sides_by_cell(
    runs: pl.DataFrame, metric: Metric, contenders: Sequence[str], looks: int = 1
) -> dict[str, tuple[ContenderRuns, ...]]:
    """What every contender did in every cell, in this order of contenders.

    Args:
        runs: the rows of an experiment.
        metric: what is compared.
        contenders: the contenders.
        looks: how often results were looked at, to stop or to go on.
    """
    measured = _finished(pl.col(metric.column).is_not_null())
    flowing = _finished(pl.col("received_bytes").is_not_null())
    table = runs.group_by("cell", "contender").agg(
        pl.len().alias("runs"),
        (pl.col("status") == Status.FAILED.value).sum().alias("failed"),
        (pl.col("status") == Status.TIMEOUT.value).sum().alias("timeouts"),
        pl.struct(
            "seed", pl.col("rep").fill_null(0), "status", "error", "came_to", "fault", "fault_met"
        )
        .filter(pl.col("status") != Status.OK.value)
        .alias("ended_badly"),
        pl.struct("seed", pl.col("rep").fill_null(0))
        .filter(pl.col("status") == Status.TIMEOUT.value)
        .alias("given_up"),
        pl.col("seed").filter(measured),
        pl.col("rep").fill_null(0).filter(measured),
        pl.col(metric.column).cast(pl.Float64).filter(measured).alias("value"),
        pl.struct("seed", pl.col("rep").fill_null(0), "received_bytes", "ttfb_s", "total_s")
        .filter(flowing)
        .alias("flow_runs"),
        *(pl.col(name).filter(_finished(pl.col(name).is_not_null())) for name in _NAMED),
        pl.col("retransmits").filter(_finished()).median(),
        pl.col("server_cc").drop_nulls().unique().sort(),
        pl.col("proxy_cc").drop_nulls().unique().sort(),
        *(pl.col(column).filter(_finished()).mean() for column in HOLDUPS.values()),
    )
    all_runs: dict[str, dict[str, ContenderRuns]] = {}
    for row in table.iter_rows(named=True):
        all_runs.setdefault(row["cell"], {})[row["contender"]] = _side(row, looks)
    return {
        cell: tuple(sides[name] for name in contenders if name in sides)
        for cell, sides in all_runs.items()
    }


def _finished(*conditions: pl.Expr) -> pl.Expr:
    return pl.all_horizontal(pl.col("status") == Status.OK.value, *conditions)


def _side(row: dict[str, Any], looks: int) -> ContenderRuns:
    values = zip(row["seed"], row["rep"], row["value"], strict=True)
    return ContenderRuns(
        contender=row["contender"],
        runs=row["runs"],
        failed=row["failed"],
        timeouts=row["timeouts"],
        measured=Measurements.of(
            (Observation(*value) for value in values),
            ((run["seed"], run["rep"]) for run in row["given_up"]),
            looks,
        ),
        limited_by=_counted(row["limited_by"]),
        retransmits=row["retransmits"],
        senders=tuple(_senders(row)),
        holdups=tuple(
            (name, row[column]) for name, column in HOLDUPS.items() if row[column] is not None
        ),
        received=_received(row["flow_runs"]),
        main_limited_by=_counted(row["main_limited_by"]),
        known_from=tuple(name for name, _ in _counted(row["limits_source"])),
        ended_badly=tuple(
            sorted(
                map(_failure, row["ended_badly"]), key=lambda failure: (failure.seed, failure.rep)
            )
        ),
        sent_in=_bursts(row, "sender"),
        came_in=_bursts(row, "bottleneck"),
        latencies=Latencies.of(row["latencies_ms"])
        or Latencies.of(row["stream_delays_ms"], Awaited.MESSAGES),
        rungs=_shares_of_rungs(row["video_rungs"]),
        watched=WatchedVideos.of(row),
    )


def _bursts(row: Mapping[str, Any], place: str) -> Bursts | None:
    return Bursts.of(row[f"{place}_bursts"], row[f"{place}_burst_packets"])


def _shares_of_rungs(runs: Sequence[Sequence[int]]) -> tuple[float, ...]:
    counts = Counter(rung for run in runs for rung in run)
    return tuple(counts[rung] / counts.total() for rung in range(max(counts, default=-1) + 1))


def _failure(run: Mapping[str, Any]) -> Failure:
    timed_out = run["status"] == Status.TIMEOUT.value
    fault = run["fault"] if run["fault_met"] else ""
    reason = (run["error"] or "").rstrip(".")
    return Failure(run["seed"], run["rep"], timed_out, reason, run["came_to"] or "", fault)


def _counted(names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """How often each name occurs, the most frequent first."""
    return tuple(sorted(Counter(names).items(), key=lambda entry: (-entry[1], entry[0])))


def _received(rows: Sequence[Mapping[str, Any]]) -> Received | None:
    runs = (
        FlowRun(
            row["seed"], row["rep"], tuple(row["received_bytes"]), row["ttfb_s"], row["total_s"]
        )
        for row in rows
    )
    return Received.of(runs) if rows else None


def _senders(row: dict[str, Any]) -> Iterator[str]:
    for role in ("proxy", "server"):
        if row[f"{role}_cc"]:
            yield f"{role} {' / '.join(row[f'{role}_cc'])}"
