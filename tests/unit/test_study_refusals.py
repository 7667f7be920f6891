"""Studies that cannot mean anything: where each is refused, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.feasibility import checked_plan
from headway.errors import WrongInputError
from headway.study.experiment import Experiment, Study
from headway.study.load import load_study, parse_study, study_from
from headway.study.setting import Setting
from headway.study.source import Source

BASE = 'name = "s"\n[workload]\nsize = "1 MB"\n'
UPLOAD = (
    'name = "s"\nserver.program = "headway-server"\n[workload]\nkind = "upload"\nsize = "1 MB"\n'
)
DUAL_STACK_PAGE = (
    'name = "s"\ndual_stack = {}\nserver.program = "headway-server"\nclient.program = "chromium"\n'
    '[workload]\nkind = "page"\nsite = "sander-01"\n'
)


@pytest.mark.parametrize(
    "text",
    [
        'metrics = ["goodput_mbit"]\n' + UPLOAD,
        'metrics = ["goodput_mbit"]\naxes.workload.status = [200, 413]\n' + UPLOAD,
        'metrics = ["content_sent_bytes"]\n' + UPLOAD,
        'metrics = ["content_sent_bytes"]\naxes.protocol = ["h2", "h3"]\n' + UPLOAD,
        'metrics = ["content_sent_bytes"]\nprotocol = "h3"\nclient.program = "headway-client"\n'
        + UPLOAD,
        'metrics = ["fallback_s"]\nclient.knobs.net_log = "counts"\n' + DUAL_STACK_PAGE,
    ],
)
def test_metrics_that_some_run_has_are_not_refused(text: str) -> None:
    assert checked_plan(parse_study(Source("s.toml", text, Path())), "s.toml")


def test_a_byte_order_mark_is_no_part_of_a_study(tmp_path: Path) -> None:
    file = tmp_path / "windows.toml"
    file.write_text(BASE, encoding="utf-8-sig")
    assert load_study(str(file)).name == "s"


KEYS = sorted({*Study.model_fields, *Experiment.model_fields, *Setting.model_fields})
PLACES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "a study": lambda table: table,
    "an experiment": lambda table: {"experiments": {"e": {"protocol": "h3", **table}}},
    "a short form": lambda table: {"quick": table},
    "an experiment's short form": lambda table: {
        "experiments": {"e": {"protocol": "h3"}},
        "quick": {"experiments": {"e": table}},
    },
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("key", KEYS)
def test_no_key_takes_just_anything(key: str, place: str) -> None:
    """A key whose value nobody reads would take any."""
    for value in ({"no-such": {"key": 1}}, [["no-such"]], 1.5, -7):
        with pytest.raises(WrongInputError):
            study_from({"name": "s", **PLACES[place]({key: value})}, quick="short" in place)
