"""The provenance of results: study, programs, kernel, image, host."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from headway.cache import digest
from headway.containers.unpack import tree_digest
from headway.contract.names import AGENT_PROGRAM
from headway.image import Image, find_extra
from headway.image.outsideroot import package_versions
from headway.lab.network import host_settings
from headway.planning.runs import Run
from headway.programs.base import Adapter
from headway.records.archived_study import archived_study
from headway.records.manifest import Manifest
from headway.study.experiment import Study
from headway.study.user_programs import OutsideProgram
from headway.version import VERSION

_PACKAGE = Path(__file__).parents[1]
_MADE = ("__pycache__",)
"""What Python adds to a directory when it first reads it."""


def make_manifest(
    study: Study,
    runs: tuple[Run, ...],
    image: Image,
    command: str,
    notes: Sequence[str] = (),
    of_short_form: Sequence[str] = (),
) -> Manifest:
    """All that is needed to judge and repeat a study's results, but for the self-test.

    Args:
        study: the study.
        runs: all of its runs.
        image: the lab's.
        command: what makes these results again.
        notes: what a reader must know and might overlook.
        of_short_form: those of them that follow from the study's short form.
    """
    adapters = _adapters(runs)
    return Manifest(
        headway=VERSION,
        source=source_key(),
        command=command,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        study=archived_study(study),
        cells=_settings(runs),
        runs=len(runs),
        complete=False,
        seeds=tuple(sorted({run.seed for run in runs})),
        versions={_told_name(adapter, adapters): _version(adapter, image) for adapter in adapters},
        outside={
            outside_program.directory: _declared(outside_program)
            for a in adapters
            if (outside_program := a.outside)
        },
        settings=tuple(dict.fromkeys(adjustment for a in adapters for adjustment in a.adjustments)),
        kernel=image.info.kernel_version,
        hosts=_hosts(runs),
        rewrite_calls=tuple(sorted({run.setting.rewrite_calls for run in runs})),
        image=image.key,
        image_base=image.base,
        agent=digest((image.native / AGENT_PROGRAM).read_bytes()),
        layers=dict(image.layers),
        host=host_facts(),
        notes=tuple(notes),
        of_short_form=tuple(of_short_form),
        self_test=(),
    )


def _settings(runs: tuple[Run, ...]) -> dict[str, dict[str, Any]]:
    """What differs from the usual, by cell and contender, in the first repetition."""
    cells: dict[str, dict[str, Any]] = {}
    for run in runs:
        contenders = cells.setdefault(run.cell, {})
        if run.contender not in contenders:
            contenders[run.contender] = run.setting.model_dump(mode="json", exclude_defaults=True)
    return cells


def _hosts(runs: tuple[Run, ...]) -> dict[str, dict[str, str]]:
    """How the kernels of all hosts are set, routers of links left out, in the first repetition."""
    kernels = [node.kernel for run in runs if run.rep == 1 for node in run.deployment.nodes]
    return {str(kernel): host_settings(kernel) for kernel in kernels}


def _adapters(runs: tuple[Run, ...]) -> list[Adapter]:
    """All programs of the runs; one that is both server and proxy is there twice."""
    adapters = {
        (end.role, end.adapter.name): end.adapter
        for run in runs
        if run.rep == 1
        for end in run.deployment.programs
    }
    return sorted(adapters.values(), key=lambda adapter: adapter.name)


def _told_name(adapter: Adapter, all_of_them: Sequence[Adapter]) -> str:
    """Its name; of a client and a server from outside that share it, that of the directory of each."""
    namesakes = sum(other.name == adapter.name for other in all_of_them)
    return adapter.outside.directory if adapter.outside and namesakes > 1 else adapter.name


def _version(adapter: Adapter, image: Image) -> str:
    if adapter.outside and (asked := adapter.outside.declared.packages):
        versions = package_versions(adapter.outside)
        names = (text.partition("=")[0] for text in asked)
        return ", ".join(f"{name} {versions[name]}" for name in names)
    if adapter.version:
        return adapter.version + _shown(adapter)
    if adapter.extra:
        return find_extra(adapter.extra).version
    return image.info.versions.get(adapter.package, "unknown")


def _shown(adapter: Adapter) -> str:
    """A hash of what a lab is shown of a package's program: its version may stay when it is built anew."""
    trees = {name: tree_digest(place, besides=_MADE) for name, place in adapter.shows.items()}
    texts = (part for tree in trees.items() for part in tree)
    return f" (files {digest(*texts)})" if trees else ""


def _declared(program: OutsideProgram) -> dict[str, Any]:
    """What was declared, and the SHA-256 of every file that a lab was shown, or versions of packages."""
    values = program.declared.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    values["files"] = {file.place: file.sha256 for file in program.files}
    if program.image:
        values["image_digest"] = program.image.digest
    if program.declared.packages:
        values["package_versions"] = package_versions(program)
    return values


@cache
def source_key() -> str:
    """A key of Headway's version and Python source."""
    files = sorted(_PACKAGE.rglob("*.py"))
    contents = (part for file in files for part in (file.name, file.read_bytes()))
    return f"{VERSION}-{digest(*contents)}"


def host_facts() -> dict[str, Any]:
    """This machine: its system, processor, number of cores and Python."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
