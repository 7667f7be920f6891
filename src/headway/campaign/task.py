"""A campaign's task: a study, where its results go, and how it is carried out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.records.store import Start
from headway.study.experiment import Study

LOCAL_CLUSTER = "local"
"""A cluster of worker processes on this machine, which ends with the study."""


@dataclass(frozen=True)
class Task:
    """A study that is to be carried out, and how.

    Attributes:
        study: the study.
        name: what the user calls it, for messages.
        out: directory of the results.
        command: what makes these results again, for the manifest.
        go_on: what carries on if this is interrupted, in words.
        compared_with: a directory of results that these are to be compared with; results that cannot be are refused
            before anything is carried out.
        start: what is to be done with results that the directory holds.
        keep_going: whether a contender of which every run fails does not stop the study.
        retry_failed: whether runs that failed or timed out are carried out again.
        jobs: labs at a time; one per core if None.
        cluster: address of a Dask scheduler, or `LOCAL_CLUSTER`; this process if None.
    """

    study: Study
    name: str
    out: Path
    command: str
    go_on: str
    start: Start = Start.NEW
    compared_with: Path | None = None
    keep_going: bool = False
    retry_failed: bool = False
    jobs: int | None = None
    cluster: str | None = None
