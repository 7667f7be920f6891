"""The feasibility of a study: its programs exist, fit together, and are installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from headway.campaign.identical_contenders import twins
from headway.campaign.vain_hints import vain_hints
from headway.campaign.watcher import SilentWatcher, Watcher
from headway.errors import WrongInputError
from headway.image import find, installed_extras, shown_progress, status
from headway.image.fit import check_fit
from headway.image.keys import OWN_PROGRAMS
from headway.image.layers import layer_of, layers_of_outside
from headway.image.outsideroot import outside_root
from headway.planning.capability_checks import check_programs, remarks
from headway.planning.cells import cells
from headway.planning.computed import free_computing
from headway.planning.idle import idle_parts
from headway.planning.idle_keys import idle_keys
from headway.planning.ineffective_settings import vain
from headway.planning.metric_support import check_told
from headway.planning.needed_repetitions import too_few
from headway.planning.runs import Run, plan
from headway.planning.transport_rules import unmet_rules
from headway.programs.costs import page_costs
from headway.programs.registry import CLIENTS, SERVERS
from headway.sites.finding import find_outline, find_site, is_archive
from headway.sites.one_connection_check import unshared
from headway.sites.servable import check_servable
from headway.sites.verify import shortfalls
from headway.study.experiment import Study
from headway.study.gc_pause import lasting_objects
from headway.study.setting_source import place_of
from headway.study.user_programs import OutsideProgram
from headway.study.workload import Page

MANY_RUNS = 2000
"""Planning fewer takes less than a second, of which nobody needs to be told."""


@lasting_objects()
def checked_plan(study: Study, name: str, watcher: Watcher | None = None) -> tuple[Run, ...]:
    """All runs of a study, whose programs exist and can do what is asked of them.

    Args:
        study: the study.
        name: what the user calls it, for messages.
        watcher: is told how far planning is, if there are many runs; by default nobody is.

    Raises:
        WrongInputError: a program does not exist, or cannot do it; names what would be right.
    """
    runs = plan(study)
    first = first_repetition(runs)
    if watcher is None or len(runs) < MANY_RUNS:
        watcher = SilentWatcher()
    doing = f"planning {len(runs):,} runs, contenders of cells"
    with watcher.counting(doing, len(first)) as count:
        for run in first:
            try:
                _check_run(run)
            except WrongInputError as error:
                raise _placed(error, study, name, run, runs) from None
            count(True)
    check_told(study, first)
    check_outside(runs)
    return runs


def _check_run(run: Run) -> None:
    """Check that its programs can do what is asked of them, and serve its sites."""
    check_programs(run.deployment)
    for flow in run.deployment.flows:
        if site := flow.setting.workload.replay.site:
            try:
                check_servable(find_outline(site).page, site, tls=flow.setting.tls)
            except WrongInputError as error:
                # An archive's own place, or the site's name, is part of what is wrong.
                raise WrongInputError(str(error), where="workload.site") from None
        if isinstance(flow.setting.workload, Page):
            page_costs(flow.setting.workload)


def outside_programs(runs: Iterable[Run]) -> tuple[OutsideProgram, ...]:
    """The programs from outside that runs have, each once."""
    ends = (end for run in first_repetition(runs) for end in run.deployment.programs)
    return tuple(dict.fromkeys(end.adapter.outside for end in ends if end.adapter.outside))


def needed_layers(runs: Iterable[Run]) -> frozenset[str]:
    """Names of the layers on the root tree that hold programs of runs."""
    runs = first_repetition(runs)
    ends = (end for run in runs for end in run.deployment.programs)
    shipped = (end.adapter for end in ends if not end.adapter.outside)
    packages = {package for adapter in shipped for package in (adapter.package, *adapter.also)}
    result = [*map(layer_of, packages), *(OWN_PROGRAMS for run in runs if _has_helpers(run))]
    brought = (
        name
        for outside_program in outside_programs(runs)
        for name in layers_of_outside(outside_program)
    )
    return frozenset({*(name for name in result if name), *brought})


def _has_helpers(run: Run) -> bool:
    """Whether own programs may stand behind or beside those that a run names: resolvers, applications, replays."""
    return run.setting.dns is not None or any(
        workload.payload.application is not None or workload.replay.site is not None
        for workload in run.setting.workloads
    )


def lacking_layers(runs: Iterable[Run]) -> tuple[str, ...]:
    """Names of the layers that runs need and the cache does not have, sorted."""
    needed = needed_layers(runs)
    there = status().layout.additions if needed else {}
    return tuple(name for name in sorted(needed) if there[name].info() is None)


def check_outside(runs: Iterable[Run]) -> None:
    """Check that programs from outside can be started, as far as there is an image to tell.

    Raises:
        WrongInputError: one cannot; names its file and what it asks for. Or it has the name of a program
            that comes with Headway.
    """
    runs = list(runs)
    outside = outside_programs(runs)
    image = find(layers=needed_layers(runs)) if outside else None
    for program in outside:
        program.check_whole()
        known: Mapping[str, object] = CLIENTS if program.role == "client" else SERVERS
        if program.name in known:
            raise WrongInputError(
                f"{program.name} is a {program.role} that comes with Headway; choose another name",
                where=program.where,
            )
        if program.declared.packages:
            with shown_progress() as progress:
                outside_root(program, progress)
        check_fit(program, image.root if image else None)


def _placed(
    error: WrongInputError, study: Study, name: str, run: Run, runs: Iterable[Run]
) -> WrongInputError:
    """An error about a run's setting, with the place of the study that it comes from.

    It is blamed on the run's contender only if another one of ``runs`` in its cell has not the same.
    """
    experiment = next(
        experiment for experiment in study.experiments if experiment.name == run.experiment
    )
    if error.where is None:
        return WrongInputError(error.message, where=_place(run, name))
    where = place_of(
        study.place, experiment, cells(experiment)[run.cell], run.contender, error.where
    )
    alone = any(_refused(other) != str(error) for other in _beside(run, runs))
    whose = f"contender {run.contender!r}: " if alone else ""
    return WrongInputError(f"{whose}{error.message}", where=where)


def _beside(run: Run, runs: Iterable[Run]) -> list[Run]:
    """The other contenders' runs in its cell."""
    alike = (other for other in first_repetition(runs) if other.experiment == run.experiment)
    return [other for other in alike if other.cell == run.cell and other.contender != run.contender]


def _refused(run: Run) -> str:
    """What is wrong with a run; empty if nothing is."""
    try:
        _check_run(run)
    except WrongInputError as error:
        return str(error)
    return ""


def first_repetition(runs: Iterable[Run]) -> list[Run]:
    """One run of every contender in every cell."""
    return [run for run in runs if run.rep == 1]


def check_installed(runs: Iterable[Run], name: str) -> None:
    """Check that programs which are no part of every image are there.

    Raises:
        WrongInputError: one is not; names the command that adds it.
    """
    installed = installed_extras()
    for run in first_repetition(runs):
        for adapter in (end.adapter for end in run.deployment.programs):
            if adapter.extra and adapter.extra not in installed:
                raise WrongInputError(
                    f"{adapter.name} is not installed; `{add_command(adapter.extra)}` adds it",
                    where=_place(run, name),
                )


def add_command(extra: str) -> str:
    """The command that adds an optional program."""
    return f"headway image add {extra}"


@lasting_objects()
def all_remarks(study: Study, runs: Sequence[Run]) -> list[str]:
    """What a reader of the results must know and might overlook, each remark once."""
    # Repetitions differ by their seed alone.
    once = first_repetition(runs)
    every = (
        *too_few(study, runs),
        *(text for run in once for text in remarks(run.deployment)),
        *vain(once),
        *_recorded(once),
        *_unshared(once),
        *vain_hints(once),
        *free_computing(study, once),
        *idle_parts(once),
        *unmet_rules(once),
        *idle_keys(once),
        *twins(study, runs),
    )
    return list(dict.fromkeys(every))


def remarks_of_short_form(study: Study, runs: Sequence[Run]) -> tuple[str, ...]:
    """Those of all remarks that follow from the study's short form, if this is one: it has few repetitions."""
    is_short = study.source is not None and study.source.short
    return too_few(study, runs) if is_short else ()


def _recorded(runs: Iterable[Run]) -> Iterator[str]:
    """Archives of which something is not what servers sent."""
    workloads = [workload for run in runs for workload in run.setting.workloads]
    for site in dict.fromkeys(workload.replay.site for workload in workloads):
        if site and is_archive(site) and (flaws := shortfalls(find_site(site))):
            more = f"; {len(flaws) - 1} more: `headway sites verify {site}`" if flaws[1:] else ""
            yield f"{site}: {flaws[0].url}: {flaws[0].message}{more}"


def _unshared(runs: Iterable[Run]) -> Iterator[str]:
    """Sites that should come over one connection and have something that will hardly do so."""
    workloads = [workload for run in runs for workload in run.setting.workloads]
    for site in dict.fromkeys(
        workload.replay.site for workload in workloads if workload.replay.one_connection
    ):
        if site and (why := unshared(find_site(site))):
            yield f'{site}: connections = "one", but {why}; a load over several connections fails'


def _place(run: Run, name: str) -> str:
    return f"{name}: {run.experiment}" if run.experiment else name
