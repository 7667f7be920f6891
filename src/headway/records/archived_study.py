"""A study as results tell it."""

from __future__ import annotations

from headway.planning.cells import cell_at, cells
from headway.planning.interim_looks import looks_of
from headway.records.manifest import ArchivedExperiment, ArchivedStudy
from headway.study.experiment import OF_STUDIES, Experiment, Study
from headway.study.tracekey import with_accounts, without_traces


def archived_study(study: Study) -> ArchivedStudy:
    """A study as its file has it, with everything that is usual filled in."""
    stated = {
        key: getattr(study, key) for key in OF_STUDIES if key in study.model_fields_set
    }  # what was not stated, results of before do not have either
    return ArchivedStudy(
        **{"question": study.question, "seed": study.seed, **stated},
        experiments=tuple(map(_experiment, study.experiments)),
    )


def _experiment(experiment: Experiment) -> ArchivedExperiment:
    """An experiment as its file has it, with everything that is usual filled in."""
    raw = with_accounts(experiment.model_dump(mode="json"))
    if experiment.compare is None:
        del raw["compare"]  # results of before do not have it
    if experiment.repetitions.until is not None:
        raw["looks"] = looks_of(experiment)
    raw["comparisons"] = experiment.pairs
    raw["baseline"] = experiment.baseline or (experiment.pairs[0][1] if experiment.pairs else None)
    raw["grid"] = [
        {"name": name, "at": without_traces(at)} for name, at in cells(experiment).items()
    ]
    for published in raw["published"]:
        published["cell"] = cell_at(experiment, published["where"]) or ""
    return ArchivedExperiment.model_validate(raw)
