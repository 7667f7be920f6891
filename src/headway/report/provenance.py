"""The provenance of numbers: versions, kernel, image, host and seeds."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from headway.analysis import StudyResults
from headway.errors import counted
from headway.records.manifest import Manifest
from headway.report.setting import Fact

_CALLS = {
    (True,): "replaced by the lab's kernel",
    (False,): "left alone by the lab's kernel",
    (False, True): "replaced by the lab's kernel, but not of some contenders or cells",
}
"""What the kernel did with code that repeats a call, by what the runs allowed."""


def provenance_facts(results: StudyResults) -> tuple[Fact, ...]:
    """Where the numbers come from."""
    manifest, runs = results.manifest, results.runs
    versions = ", ".join(f"{name} {version}" for name, version in sorted(manifest.versions.items()))
    facts = (
        Fact("programs", versions),
        Fact("lab kernel", manifest.kernel),
        Fact("lab image", manifest.image),
        Fact("repeated calls", _CALLS.get(manifest.rewrite_calls, "")),
        Fact("layers", named_layers(manifest)),
        Fact("host", _host(manifest.host)),
        Fact("date", manifest.created),
        Fact("runs", _runs(results)),
        Fact("seeds", seeds_text(runs)),
        Fact("time", _time(runs)),
    )
    return tuple(fact for fact in facts if fact.value)


def named_layers(manifest: Manifest) -> str:
    """The layers that the programs needed, each with its key."""
    return ", ".join(f"{name} {key}" for name, key in sorted(manifest.layers.items()))


def _host(facts: Mapping[str, object]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in facts.items())


def _runs(results: StudyResults) -> str:
    runs = results.runs
    cells, contenders = runs["cell"].n_unique(), runs["contender"].n_unique()
    of = f"{counted(cells, 'cell')}, {counted(contenders, 'contender')}"
    number = results.number.replace(" runs", "") if results.part else runs.height
    return f"{number}: {of}, {counted(runs['rep'].n_unique(), 'repetition')}"


def seeds_text(runs: pl.DataFrame) -> str:
    """The seeds of runs: ``1 to 10``."""
    seeds = runs["seed"].unique().sort().to_list()
    if len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _time(runs: pl.DataFrame) -> str:
    # Of labs that there were: others' rows have the virtual time of the run that stands for them.
    lab = runs.filter(pl.col("same_as").is_null())["virtual_s"].sum()
    wall = runs["wall_s"].sum()
    if not lab or not wall:
        return ""
    return f"{lab:.0f} s in the lab, {wall:.0f} s of wall time, runs added up"
