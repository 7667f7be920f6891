"""The study's conditions and methods as a paragraph for a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from headway.analysis import Analysis, StudyResults
from headway.analysis.faultcosts import sweeps
from headway.analysis.metric import metric_named
from headway.analysis.numbers import data_size, listed
from headway.analysis.shares import EVEN_PART, STARVED_PART
from headway.columns import Status
from headway.errors import counted
from headway.report.definitions import definitions
from headway.report.provenance import seeds_text
from headway.report.setting import OF_CONTENDERS
from headway.statistics.pairs import PAIRED_ALPHA
from headway.version import VERSION

_PAIRED = (
    f"Differences are typical ratios of pairs (Hodges-Lehmann estimates on logarithms), significant if "
    f"Wilcoxon's signed-rank test has p < {PAIRED_ALPHA} after adjustment by Benjamini and Hochberg (means over "
    "cells: by Bonferroni), with confidence intervals of 95 % for all of them together (Benjamini and Yekutieli)."
)


_SHARING = (
    f"Of flows that compete, a flow's fair share is its part of the goodput of all, as max-min fair rates divide it; "
    f"one takes from another if the interval of the other's median part is below {EVEN_PART:.0%} of its fair share, and "
    f"starves it below {STARVED_PART:.0%}."
).replace("%", " %")


def methods_paragraph(results: StudyResults, analyses: Sequence[Analysis]) -> str:
    """Conditions, versions, seeds and statistics in sentences.

    Args:
        results: the study's results.
        analyses: each experiment's first metric.
    """
    manifest = results.manifest
    kernel = f" with the kernel {manifest.kernel}" if manifest.kernel else ""
    image = f", lab image {manifest.image}" if manifest.image else ""
    first = (
        f"Programs ran over an emulated network in virtual time (Headway {VERSION}, "
        f"User Mode Linux{kernel}{image}). {_computing(results)}"
    )
    versions = listed([f"{name} {version}" for name, version in sorted(manifest.versions.items())])
    programs = f"The programs were {versions}." if versions else ""
    hosts = " ".join(_host(name, settings) for name, settings in manifest.hosts.items())
    texts = [_experiment(results, analysis) for analysis in analyses]
    return " ".join(filter(None, (first, programs, hosts, results.part, *texts, _PAIRED)))


def _computing(results: StudyResults) -> str:
    """What computing costs."""
    kernels = (
        results.runs[name].drop_nulls()
        for name in ("client_kernel", "server_kernel", "hop_kernels")
    )
    if any("processor" in kernel for column in kernels for kernel in column.unique()):
        return "Hosts with a processor were charged for system calls, packets and bytes; computing took no time otherwise."
    if results.runs["clock"].unique().to_list() == ["virtual"]:
        return "Computing took no time, so costs of processors are left out."
    return ""


def _failed(runs: pl.DataFrame, analysis: Analysis) -> str:
    """How many runs did not end well, and what became of them."""
    failed = runs.filter(pl.col("status") != Status.OK.value).group_by("contender").len()
    counts = dict(failed.iter_rows())
    if not counts:
        return " No run failed."
    each = listed([f"{counts[name]} of {name}" for name in analysis.contenders if name in counts])
    return (
        f" {counted(sum(counts.values()), 'run')} of {runs.height} did not end well ({each}): failed ones were left out "
        "together with their counterparts, and those that timed out counted as worse than any that finished."
    )


def _host(name: str, settings: Mapping[str, str]) -> str:
    """What matters most of a host's settings; the manifest has all."""
    if "net.core.rmem_max" not in settings:
        return ""
    largest = {
        way: data_size(int(settings[f"net.ipv4.tcp_{way}mem"].split()[-1])) for way in ("r", "w")
    }
    usual, most = (data_size(int(settings[f"net.core.rmem_{what}"])) for what in ("default", "max"))
    return (
        f"Hosts with the settings {name} had socket buffers of {usual}, up to {most} where a program asks, and for "
        f"TCP up to {largest['r']} to receive and {largest['w']} to send; the discipline of their devices was "
        f"{settings['qdisc']}."
    )


def _experiment(results: StudyResults, analysis: Analysis) -> str:
    runs = results.runs_of(analysis.experiment)
    name = analysis.experiment.name
    made = definitions(results, analysis)
    number = len(analysis.contenders)
    several = f"the {number} contenders" if made.names_each and number > 1 else ""
    named = (
        several
        or f"the {'contenders' if number > 1 else 'contender'} {listed(analysis.contenders)}"
    )
    begun = f"In {name}, {named}" if name else f"{named[:1].upper()}{named[1:]}"
    by = listed([metric_named(metric).label for metric in analysis.experiment.metrics])
    compared = f"{begun} {'were compared' if number > 1 else 'was judged'} by {by}"
    factors = [f"{factor.name} ({listed(factor.levels)})" for factor in analysis.conditions.factors]
    over = f" over {counted(len(analysis.cells), 'cell')}" if factors else ""
    varied = f": {', '.join(factors)}" if factors else ""
    notable = analysis.conditions.notable
    said_already = {*OF_CONTENDERS, *(("workload",) if analysis.flows else ())}
    fixed = ", ".join(column.title for column in notable if column.name not in said_already)
    text = f"{compared}{over}{varied}. "
    defined = f"{made.text} " if made.text else ""
    constant = f"The same in all cells were: {fixed}. " if fixed else ""
    dependents = [
        f"{dependent.name} ({listed(dependent.levels)})"
        for dependent in analysis.conditions.dependents
    ]
    followed = f"From these followed {', '.join(dependents)}. " if dependents else ""
    sharing = f" {_SHARING}" if analysis.flows else ""
    faults = f" {_faults(analysis)}" if runs["fault"].drop_nulls().len() else ""
    return (
        f"{text}{followed}{defined}{constant}{_repetitions(results, analysis)}"
        f"{_failed(runs, analysis)}{faults}{sharing}"
    )


def _faults(analysis: Analysis) -> str:
    """What happened to single packets."""
    sweep = analysis.experiment.faults
    counted_as = (
        "packets are counted in each direction from the workload's beginning, where they come to the link; up is "
        "towards the server"
    )
    if sweep is None:
        return f"The faults happened to the packets of these numbers in every run: {counted_as}."
    runs = sum(len(cost.seeds) for sweep in sweeps(analysis) for cost in sweep.costs)
    return (
        f"Single faults ({sweep.words}) were tried one at a time, each in a run of its own, {counted(runs, 'run')} in "
        f"all: {counted_as}. What a fault costs is the difference from the run of the same seed without one, in the "
        "median over seeds; contenders are compared by the runs without."
    )


def _repetitions(results: StudyResults, analysis: Analysis) -> str:
    runs = results.runs_of(analysis.experiment)
    count = counted(runs["rep"].n_unique(), "repetition")
    kinds = set(runs["variation"].drop_nulls())
    varied = (
        ", which also varied the start, delays and processing times a little"
        if "phases" in kinds
        else ""
    )
    most = "up to " if analysis.experiment.looks or results.part else ""
    return (
        f"Each was run in {most}{count} (seeds {seeds_text(runs)}){varied}; contenders of a repetition "
        f"met the same realisation of the path.{_looks(analysis)}"
    )


def _looks(analysis: Analysis) -> str:
    """How repetitions ended, if their number was not fixed."""
    experiment = analysis.experiment
    if not experiment.looks:
        return ""
    competing = "contender" if analysis.flows else "condition"
    return (
        f" Each {competing} had as many of them as it took: results were looked at after "
        f"{listed(list(map(str, experiment.looks)))}, until intervals reached at most {experiment.repetitions.until} "
        f"to either side; the error of intervals and tests is divided among these {len(experiment.looks)} looks."
    )
