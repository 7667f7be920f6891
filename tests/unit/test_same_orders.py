"""What studies order from the lab is what they ordered: no result changes by accident.

All built-in studies, whole and short, the examples, and all studies of the documentation; of large ones, some runs stand
for the others. `python tools/note_orders.py` notes what is new; with names of studies, those that change on purpose.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from headway.campaign.feasibility import needed_layers
from headway.contract.names import NATIVE_DIRECTORY
from headway.contract.text import dump
from headway.image.keys import OWN_PROGRAMS
from headway.lab.assemble import orders_for
from headway.planning.runs import Run, plan
from headway.records.runkey import setting_key
from headway.study.experiment import Study
from headway.study.library import builtin_names
from headway.study.load import load_study, parse_study
from headway.study.repetitions import ONCE
from headway.study.source import Source
from tests.builtin_studies import builtin_study
from tests.doc_examples import ROOT, as_toml, studies

NOTED = Path(__file__).with_name("orders.json")
CHAIN = NOTED.with_name("satellite_chain.toml")
_NEED_A_BUILD = ("before-and-after", "own-go", "own-image", "own-rust")
"""Examples whose files are compiled, fetched or recorded first."""
_MOST_RUNS = 200


def _files() -> dict[str, Callable[[], Study]]:
    examples = sorted((ROOT / "examples").glob("*/study.toml"))
    files = [CHAIN, *(file for file in examples if file.parent.name not in _NEED_A_BUILD)]
    return {
        str(file.relative_to(ROOT)): lambda file=file: load_study(str(file))  # type: ignore[misc]
        for file in files
    }


def _built_in() -> dict[str, Callable[[], Study]]:
    whole = {name: lambda name=name: builtin_study(name) for name in builtin_names()}
    short = {
        f"{name} --quick": lambda name=name: builtin_study(name, quick=True)
        for name in builtin_names()
        if name != "quickstart"
    }
    return {**whole, **short}  # type: ignore[dict-item]


def _documented() -> dict[str, Callable[[], Study]]:
    return {
        name: lambda raw=raw, name=name: parse_study(Source(name, as_toml(raw), ROOT))  # type: ignore[misc]
        for name, raw in studies().items()
    }


STUDIES = {**_built_in(), **_files(), **_documented()}


def digests(name: str) -> dict[str, str]:
    """A digest for each experiment, of the keys and orders of a run of every contender in every cell.

    At most some hundred runs are looked at, evenly spread.
    """
    study = STUDIES[name]()
    once = [one.model_copy(update={"repetitions": ONCE}) for one in study.experiments]
    states = {one.name: hashlib.sha256() for one in once}
    runs = sorted(
        plan(study.model_copy(update={"experiments": tuple(once)})), key=lambda run: run.run_id
    )
    for run in runs[:: -(-len(runs) // _MOST_RUNS)]:
        states[run.experiment].update(_line(run))
    return {experiment: state.hexdigest()[:16] for experiment, state in states.items()}


def _line(run: Run) -> bytes:
    orders = dump(orders_for(run.deployment)).replace(str(ROOT), "")
    if f'"{NATIVE_DIRECTORY}/' in orders:
        assert OWN_PROGRAMS in needed_layers([run]), f"{run.run_id} starts programs that it lacks"
    run.forget_deployment()
    programs = run.setting.programs
    key = "" if programs else setting_key(run.setting, run.seed)
    return f"{run.run_id} {key} {orders}\n".encode()


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_orders_what_it_ordered(name: str) -> None:
    noted = json.loads(NOTED.read_text())
    assert name in noted, "python tools/note_orders.py notes what is new"
    assert digests(name) == noted[name], f"on purpose: python tools/note_orders.py '{name}'"


def test_what_is_noted_is_there() -> None:
    assert json.loads(NOTED.read_text()).keys() <= STUDIES.keys(), (
        "python tools/note_orders.py leaves out what is gone"
    )


def note(names: Collection[str]) -> None:
    """Note what studies order now: those named, and those that are new."""
    noted = json.loads(NOTED.read_text())
    new = {name for name in STUDIES if name not in noted}
    orders = {
        name: digests(name) if name in new or name in names else noted[name] for name in STUDIES
    }
    NOTED.write_text(json.dumps(orders, indent=1) + "\n")
