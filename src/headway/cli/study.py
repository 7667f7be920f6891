"""`headway run`, `report`, `validate` and `list`: from a study to its answer."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.campaign.local import available_cores, execute
from headway.cli.image import ensure_image, machine_of
from headway.cli.terminal import complain, notes, output, progress
from headway.errors import HeadwayError, WrongInputError
from headway.lab.bodies import body_file
from headway.lab.machine import Machine
from headway.programs import CLIENTS, SERVERS, check_programs, remark
from headway.programs.base import Adapter
from headway.results.provenance import make_manifest
from headway.results.schema import Status
from headway.results.store import MANIFEST_FILE, RUNS_FILE, Store
from headway.study.load import builtin_names, load_study
from headway.study.model import Study
from headway.study.plan import Run, plan

# Statistics and figures take seconds to load; commands that need them import them themselves.
if TYPE_CHECKING:
    from headway.selftest import Check

StudyName = Annotated[
    str, typer.Argument(help="A study file, or the name of a built-in study.", metavar="STUDY")
]


def run(
    study: StudyName,
    out: Annotated[Path, typer.Option(help="Directory for the results; new or empty.")],
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Labs at a time; default: one per core.")
    ] = None,
    replace: Annotated[
        bool, typer.Option(help="Remove the results that the directory holds.")
    ] = False,
) -> None:
    """Carry out a study and report its answer."""
    loaded = load_study(study)
    runs = _checked_plan(loaded, study)
    for text in dict.fromkeys(remark(planned.setting) for planned in runs):
        if text:
            complain(f"note: {text}")
    cores = _cores(jobs)
    if replace:
        _remove_results(out)
    store = Store.create(out)
    image = ensure_image()
    machine = machine_of(image)
    for size in {int(run.setting.workload.size) for run in runs}:
        body_file(size)
    checks = _self_test(machine, runs, cores, store)
    store.write_manifest(make_manifest(loaded, runs, image, [check.as_json() for check in checks]))
    _execute(runs, machine, store, cores)
    _conclude(store)


def report(
    directory: Annotated[Path, typer.Argument(help="Directory of a study's results.")],
) -> None:
    """Write the report of a study's results again."""
    _show(directory)


def validate(study: StudyName) -> None:
    """Check a study file without running it."""
    runs = _checked_plan(load_study(study), study)
    cells = len({run.cell for run in runs})
    output.print(f"{study}: {len(runs)} runs in {cells} cells", markup=False)


def list_known(
    what: Annotated[str, typer.Argument(help="studies or programs", metavar="WHAT")],
) -> None:
    """List what there is: studies or programs."""
    if what == "studies":
        for name in builtin_names():
            output.print(f"{name}: {load_study(name).question}", markup=False, soft_wrap=True)
    elif what == "programs":
        for role, known in (("client", CLIENTS), ("server", SERVERS)):
            for adapter in known.values():
                _print_program(role, adapter)
    else:
        raise WrongInputError(f"{what!r} is not one of studies, programs", where="list")


def _print_program(role: str, adapter: Adapter) -> None:
    output.print(f"{adapter.name} ({role}): {', '.join(sorted(adapter.protocols))}", markup=False)
    for knob in adapter.knobs:
        output.print(f"    {knob.name} = {knob.default}: {knob.meaning}", markup=False)


def _checked_plan(study: Study, name: str) -> tuple[Run, ...]:
    runs = plan(study)
    for planned in runs:
        try:
            check_programs(planned.setting)
        except WrongInputError as error:
            raise WrongInputError(str(error), where=name) from None
    return runs


def _cores(jobs: int | None) -> list[int]:
    cores = available_cores()
    if jobs and jobs > len(cores):
        raise WrongInputError(f"this machine has {len(cores)} cores", where="--jobs")
    return cores[: jobs or None]


def _remove_results(directory: Path) -> None:
    if not directory.exists() or not any(directory.iterdir()):
        return
    if not (directory / MANIFEST_FILE).exists() and not (directory / "artifacts").exists():
        raise WrongInputError("holds no results that could be replaced", where=f"--out {directory}")
    for name in ("artifacts", "report"):
        shutil.rmtree(directory / name, ignore_errors=True)
    for name in (RUNS_FILE, MANIFEST_FILE):
        (directory / name).unlink(missing_ok=True)


def _self_test(
    machine: Machine, runs: tuple[Run, ...], cores: list[int], store: Store
) -> tuple[Check, ...]:
    from headway.selftest import check_paths

    paths = list({planned.cell: planned.setting.path for planned in runs}.values())
    distinct = [path for index, path in enumerate(paths) if path not in paths[:index]]
    with progress("checking the emulation", len(distinct)) as count:
        checks = check_paths(
            machine,
            tuple(distinct),
            seed=runs[0].seed,
            directory=store.directory / "artifacts" / "self-test",
            cores=cores,
            on_path=count,
        )
    for check in checks:
        if not check.passed:
            complain(f"the emulation failed its self-test: {check}")
    return checks


def _execute(runs: tuple[Run, ...], machine: Machine, store: Store, cores: list[int]) -> None:
    try:
        with progress("running labs", len(runs)) as count:
            execute(
                runs,
                machine,
                store,
                cores=cores,
                on_record=lambda record: count(record.status is Status.OK),
            )
    except (KeyboardInterrupt, HeadwayError):
        _keep_what_is_done(store, len(runs))
        raise


def _keep_what_is_done(store: Store, planned: int) -> None:
    try:
        store.write_table()
    except OSError as error:
        complain(f"the table could not be written: {error.strerror}; records are in artifacts/")
        return
    notes.print(
        f"{len(store.records())} of {planned} runs are kept in {store.directory}", markup=False
    )


def _conclude(store: Store) -> None:
    store.write_table()
    _show(store.directory)
    records = store.records()
    if not any(record.status is Status.OK for record in records):
        raise HeadwayError(f"no run succeeded; the first reason: {records[0].error}")


def _show(directory: Path) -> None:
    from headway.analysis import load_results
    from headway.report import print_summary, write_report

    print_summary(output, load_results(directory))
    page = write_report(directory)
    output.print(f"\nReport: {page}", markup=False, soft_wrap=True)
