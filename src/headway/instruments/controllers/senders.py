"""Runs of a study, and which congestion control their senders have by what they kept in flight."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from headway.columns import Status
from headway.diagnosis.flight import Flight
from headway.diagnosis.transfer import Transfer
from headway.instruments.controllers.flightshape import FEATURES, FlightShape, shape_of
from headway.instruments.controllers.guess import Guess, KnownShapes
from headway.instruments.controllers.scope import COLUMNS, outside_scope
from headway.records.store import ARTIFACTS

_SAME = {"linux-cubic": "cubic", "linux-reno": "reno", "newreno": "reno"}
"""Names of one algorithm."""


@dataclass(frozen=True)
class SeenSender:
    """A run's sender.

    Attributes:
        run_id: the run.
        experiment: of the study.
        contender: what ran.
        stated: the controller that the study asked for, or the kernel named.
        shape: of what it kept in flight; None if that does not show.
        outside: what of its path the table that comes with Headway does not know, in words; empty if it knows it.
    """

    run_id: str
    experiment: str
    contender: str
    stated: str
    shape: FlightShape | None
    outside: str = ""

    def guess(self, known: KnownShapes) -> Guess | None:
        """What its controller is held to be; None without a shape."""
        return known.guess(self.shape) if self.shape else None


def seen_senders(directory: Path, runs: pl.DataFrame) -> Iterator[SeenSender]:
    """The senders of runs that ended well and had the link to themselves."""
    good = runs.filter(pl.col("status") == Status.OK.value)
    wanted = ("run_id", "experiment", "contender", "server_cc")
    for run in good.select(*wanted, *COLUMNS).iter_rows(named=True):
        run_id, experiment, contender, stated = (run[name] for name in wanted)
        where = directory / ARTIFACTS / run_id
        try:
            flight = Flight.of(where, Transfer.load(where))
        except FileNotFoundError:
            flight = None  # of flows that competed, or without what they left
        shape = shape_of(flight) if flight else None
        stated, outside = _SAME.get(stated, stated), outside_scope(run)
        yield SeenSender(run_id, experiment, contender, stated, shape, outside)


def written_shapes(senders: Sequence[SeenSender], command: str) -> str:
    """A table of shapes whose controllers are known, with the command that made it."""
    text = io.StringIO()
    text.write(f"# What senders keep in flight, by their controller; written by: {command}\n")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("controller", "run", *FEATURES))
    for sender in senders:
        if sender.shape:
            numbers = (f"{number:.4f}" for number in sender.shape.numbers)
            table.writerow((sender.stated, sender.run_id, *numbers))
    return text.getvalue()
