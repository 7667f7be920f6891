"""Every experiment of every built-in study meets the disturbances that it names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headway.diagnosis.disturbances import Named, named_disturbances
from headway.planning.runs import Run, plan
from headway.study.library import builtin_names
from headway.study.load import load_study
from headway.study.workload import Page
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

_LARGEST = ["objects-1x10MB", "objects-200x10kB"]
"""Pages with many packets, the best first."""


_TOO_RARE = {"kakhki2017-cellular-loss"}
"""These lose 2 to 5 packets of 10,000, and their pages have a hundred."""


def _volume(run: Run) -> tuple[int, int]:
    """How much a run sends, as far as that can be told beforehand."""
    workload = run.setting.workload
    if isinstance(workload, Page):
        site = str(workload.site)
        return (2 - _LARGEST.index(site) if site in _LARGEST else 0, 0)
    size = 10**8 if workload.amount is None else int(workload.amount)
    return (0, workload.requests * size)


def _share(run: Run) -> float:
    """The least share of packets that a link which loses some loses."""
    losses = [
        float(way.loss.mean)
        for path in run.setting.network.crossed
        for link in path.links
        for way in (link.down, link.up)
        if way.loss.mean
    ]
    return min(losses, default=0.0)


def _named(run: Run) -> tuple[str, ...]:
    asked = [flow.asked.protocol for flow in run.deployment.flows]
    return named_disturbances(run.setting.network.crossed, asked)


def _examples() -> Iterator[tuple[str, str, Run]]:
    """For each kind of disturbance that an experiment names, a first repetition that sends much."""
    for study in builtin_names():
        found: dict[tuple[str, str], list[Run]] = {}
        quick = study != "quickstart"  # which has no quick form
        for run in plan(load_study(study, quick=quick)):
            for text in _named(run) if run.rep == 1 else ():
                found.setdefault((run.experiment, Named.parse(text).kind), []).append(run)
        for (experiment, kind), runs in found.items():
            best = max(runs, key=lambda run: (_volume(run), _share(run), run.run_id))
            if (name := f"{study}-{experiment}-{kind}") not in _TOO_RARE:
                yield name, kind, best


_EXAMPLES = list(_examples())


def test_studies_name_disturbances() -> None:
    names = [name for name, _, _ in _EXAMPLES]
    for experiment in ("size-delay", "count-delay", "threshold"):
        assert f"kakhki2017-{experiment}-reordering" in names


@pytest.mark.parametrize(
    ("kind", "run"),
    [(kind, run) for _, kind, run in _EXAMPLES],
    ids=[name for name, _, _ in _EXAMPLES],
)
def test_a_disturbance_takes_place(run_setting: RunSetting, kind: str, run: Run) -> None:
    record = run_setting(run.setting, seed=run.seed)
    named = [Named.parse(text) for text in record.disturbances]
    met = {one.way: getattr(record, one.column) for one in named if one.kind == kind}
    assert met and met.get("down", 1), (run.run_id, record.disturbances)
    assert any(met.values())
