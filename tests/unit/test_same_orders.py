"""What built-in studies order from the lab is what they ordered: no result changes by accident.

`python tools/note_orders.py` notes them anew, when they change on purpose.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from headway.contract.text import dump
from headway.lab.assemble import orders_for
from headway.planning.runs import plan
from headway.study.load import load_study
from headway.study.repetitions import ONCE

NOTED = Path(__file__).with_name("orders.json")
STUDIES = (
    "quickstart",
    "liu2024",
    "kosek2022",
    "kakhki2017",
    str(NOTED.with_name("satellite_chain.toml")),
)


def digests(name: str) -> dict[str, str]:
    """A digest for each experiment, of the orders of a run of every contender in every cell."""
    study = load_study(name, quick=True) if name == "liu2024" else load_study(name)
    once = [one.model_copy(update={"repetitions": ONCE}) for one in study.experiments]
    found = {one.name: hashlib.sha256() for one in once}
    runs = plan(study.model_copy(update={"experiments": tuple(once)}))
    for run in sorted(runs, key=lambda run: run.run_id):
        orders = orders_for(run.deployment)
        found[run.experiment].update(f"{run.run_id} {dump(orders)}\n".encode())
    return {experiment: digest.hexdigest()[:16] for experiment, digest in found.items()}


@pytest.mark.parametrize("name", STUDIES, ids=lambda name: Path(name).stem)
def test_a_study_orders_what_it_ordered(name: str) -> None:
    noted = json.loads(NOTED.read_text())
    assert digests(name) == noted[Path(name).name]
