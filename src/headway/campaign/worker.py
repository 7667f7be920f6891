"""A worker of a cluster: it tells what it is, receives what it lacks, runs labs."""

from __future__ import annotations

import io
import platform
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distributed import Worker, get_worker

from headway.cache import cache_directory
from headway.campaign.imageparts import ImagePart, ImageParts
from headway.columns import Record
from headway.foreign.tars import unpack_tar
from headway.image import compiled_guest_code
from headway.lab.batch import carry_out_together
from headway.lab.cancel import Cancellation, Cancelled
from headway.lab.cores import leased_core
from headway.lab.machine import Machine
from headway.planning.boots import Boot
from headway.planning.runs import Run
from headway.records.duplicate_runs import make_records
from headway.records.provenance import host_facts, source_key
from headway.study.path import Path as NetworkPath

if TYPE_CHECKING:
    from headway.selftest.check import Check

_FILE_LIMIT_BYTES = 8 * 2**20
"""Larger files of a run stay behind, unless the study asks for captures."""
LEFT_BEHIND_FILE = "left-behind.txt"


@dataclass(frozen=True)
class Demand:
    """What a client asks of all workers of its study.

    Attributes:
        study_id: tells one client's labs from another's.
        parts: what labs boot.
    """

    study_id: str
    parts: ImageParts


@dataclass(frozen=True)
class Introduction:
    """What a worker tells of itself.

    Attributes:
        host: name of its machine.
        cache: the cache directory there, which its workers share.
        source: a key of its Headway's source.
        missing: what its cache lacks.
        facts: the machine, for the manifest.
    """

    host: str
    cache: str
    source: str
    missing: tuple[ImagePart, ...]
    facts: dict[str, Any]


@dataclass(frozen=True)
class NotReady:
    """A worker that came later lacks what labs boot: its address."""

    worker: str


@dataclass(frozen=True)
class Finished:
    """A run's record, and its artefacts as a compressed tar archive."""

    record: Record
    artifacts: bytes


def introduce(demand: Demand) -> Introduction:
    """What this worker is, and what it lacks."""
    return Introduction(
        host=platform.node(),
        cache=str(cache_directory()),
        source=source_key(),
        missing=demand.parts.missing(),
        facts=host_facts(),
    )


def receive(transfer: str, chunk: bytes, dask_worker: Worker) -> None:
    """Add a chunk to an archive that is being received.

    Dask passes its worker to functions that are run with an argument of that name.
    """
    with _archive(transfer, dask_worker).open("ab") as archive:
        archive.write(chunk)


def unpack(transfer: str, part: ImagePart, dask_worker: Worker) -> None:
    """Put an archive that has been received into the cache."""
    archive = _archive(transfer, dask_worker)
    try:
        part.unpack(archive)
    finally:
        archive.unlink()


def _archive(transfer: str, worker: Worker) -> Path:
    return Path(worker.local_directory) / f"{transfer}.tar"


def carry_out_here(boot: Boot, demand: Demand) -> list[Finished] | NotReady:
    """Carry out the runs of a boot on this worker, on a core of its own.

    Returns:
        What each left, in the order of `Boot.served`.
    """
    with _site(demand) as site:
        if site is None:
            return NotReady(get_worker().address)
        directories = [site.directory / run.run_id for run in boot.runs]
        results = carry_out_together(
            boot.runs, site.machine, directories, cpu=site.core, cancellation=site.cancellation
        )
        return [
            Finished(record, _pack(own, _limit_bytes(run)))
            for alike, (run, directory, result) in zip(boot.alike, results, strict=True)
            for record, own in make_records(
                run, alike, result, directory, lambda run_id: site.directory / run_id
            )
        ]


def _limit_bytes(run: Run) -> int | None:
    everything = run.setting.capture.packets or run.setting.capture.qlog
    return None if everything else _FILE_LIMIT_BYTES


def check_here(path: NetworkPath, seed: int, demand: Demand) -> tuple[Check, ...] | NotReady:
    """Measure a path's emulation on this worker."""
    from headway.selftest.probing import measure_path

    with _site(demand) as site:
        if site is None:
            return NotReady(get_worker().address)
        return measure_path(
            site.machine,
            path,
            seed=seed,
            directory=site.directory,
            cpu=site.core,
            cancellation=site.cancellation,
        )


def end_labs(study_id: str) -> None:
    """End all labs of a study on this worker, and those that would still begin."""
    with _running.lock:
        _running.ended.add(study_id)
        for cancellation in _running.labs.get(study_id, ()):
            cancellation.cancel()


@dataclass(frozen=True)
class _Site:
    """Where one lab runs."""

    machine: Machine
    directory: Path
    core: int
    cancellation: Cancellation


@dataclass
class _Running:
    """The labs that run on this worker, by study, and the machines that boot them.

    Attributes:
        lock: guards the rest.
        labs: by study, what ends its labs.
        ended: studies that have ended.
        machines: by study, what boots its labs.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    ended: set[str] = field(default_factory=set)
    labs: dict[str, set[Cancellation]] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)


_running = _Running()


@contextmanager
def _site(demand: Demand) -> Iterator[_Site | None]:
    """A place for one lab; None if this worker lacks what it boots."""
    machine = _machine(demand)
    if machine is None:
        yield None
        return
    with _running.lock:
        if demand.study_id in _running.ended:
            raise Cancelled
        cancellation = Cancellation()
        _running.labs.setdefault(demand.study_id, set()).add(cancellation)
    scratch = Path(get_worker().local_directory)
    try:
        with leased_core() as core, tempfile.TemporaryDirectory(dir=scratch) as directory:
            yield _Site(machine, Path(directory), core, cancellation)
    finally:
        with _running.lock:
            _running.labs[demand.study_id].discard(cancellation)
        cancellation.close()


def _machine(demand: Demand) -> Machine | None:
    with _running.lock:
        known = _running.machines.get(demand.study_id)
        if known is None and not demand.parts.missing():
            image = demand.parts.image()
            known = Machine(image, compiled_guest_code(image), demand.parts.extra_directories())
            _running.machines[demand.study_id] = known
        return known


def _pack(directory: Path, limit_bytes: int | None) -> bytes:
    """The files that a run left; larger ones than the limit are only named."""
    packed = io.BytesIO()
    left_behind = []
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as tar:
        for file in sorted(directory.rglob("*")):
            if not file.is_file() or file.is_symlink():
                continue
            name = str(file.relative_to(directory))
            size = file.stat().st_size
            if limit_bytes is not None and size > limit_bytes:
                left_behind.append(f"{name} {size} bytes\n")
            else:
                tar.add(file, arcname=name)
        if left_behind:
            text = "".join(left_behind).encode()
            entry = tarfile.TarInfo(LEFT_BEHIND_FILE)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


def unpack_artifacts(packed: bytes, directory: Path) -> None:
    """Put what a run left on a worker into its directory here."""
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as tar:
        unpack_tar(tar, directory, links=False)
