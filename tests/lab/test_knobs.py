"""Every knob of Headway's own programs does something, seen beside its default, or its meaning says where it does nothing."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headway.columns import OF_THE_MACHINE, Record
from headway.lab.pcapng import read_pcapng
from headway.planning.capability_checks import remarks
from headway.planning.deploy import deploy
from headway.programs.registry import CLIENTS, QUIC_PEPS, SERVERS, TCP_PEPS
from headway.study.setting import Setting
from tests.lab.conftest import RunSetting
from tests.lab.knob_trials import ENDS, TRIALS, VAIN, Trial

pytestmark = pytest.mark.lab

NOT_OF_THE_RUN = ("run_id", "knobs", "setting_key", *OF_THE_MACHINE)
PROGRAMS = {
    "headway-server": SERVERS["headway-server"],
    "headway-client": CLIENTS["headway-client"],
    "headway-perf, server": SERVERS["headway-perf"],
    "headway-perf, client": CLIENTS["headway-perf"],
    "headway-quic-pep": QUIC_PEPS["headway-quic-pep"],
    "headway-tcp-pep": TCP_PEPS["headway-tcp-pep"],
}
SIDES = ("headway-quic-pep, downstream", "headway-quic-pep, upstream")
"""Ends of one program, each of which has most of its knobs."""

SAME_CODE = {
    "remember": ("headway-server", "headway-quic-pep"),
    "migration": ("headway-perf, server", "headway-quic-pep"),
    "keep_tokens": ("headway-quic-pep",),
}
"""Ends that have the code of another one, at which the knob is tried, and that meet its matter in rare settings only."""


@dataclass(frozen=True)
class Seen:
    """What a run shows: what it measured, and when packets of which size were at its hosts."""

    measured: dict[str, Any]
    packets: list[tuple[str, int, int]]

    @classmethod
    def of(cls, record: Record, directory: Path) -> Seen:
        packets = [
            (capture.stem, at_ns, len(frame))
            for capture in sorted(directory.glob("*.pcapng"))
            for at_ns, frame in read_pcapng(capture)
        ]
        return cls(record.model_dump(exclude=set(NOT_OF_THE_RUN)), packets)


def trials() -> Iterator[Any]:
    """All, of which the day tries each knob at one of the ends that have it."""
    ends = defaultdict(list)
    for end, own in TRIALS.items():
        for knob in own:
            ends[knob].append(end)
    by_day = {(random.Random(knob).choice(known), knob) for knob, known in ends.items()}
    for end, own in TRIALS.items():
        for knob in own:
            marks = [] if (end, knob) in by_day else [pytest.mark.nightly]
            yield pytest.param(end, knob, marks=marks)


@pytest.mark.parametrize(("end", "knob"), list(trials()))
def test_another_value_is_another_run(
    run_setting: RunSetting, tmp_path: Path, end: str, knob: str
) -> None:
    trial, place = TRIALS[end][knob], ENDS[end]
    usual, other = (
        carried_out(run_setting, tmp_path, name, place.raw(trial, knobs))
        for name, knobs in (("usual", {}), ("other", trial.knobs))
    )
    assert usual.packets and usual != other


def carried_out(run_setting: RunSetting, directory: Path, name: str, raw: dict[str, Any]) -> Seen:
    return Seen.of(run_setting(raw, name=name), directory / name)


@pytest.mark.parametrize("end", ENDS)
def test_an_argument_that_is_longer_is_no_other_run(
    run_setting: RunSetting, tmp_path: Path, end: str
) -> None:
    """So that what the others see is what their knob does."""
    if end == "headway-tcp-pep":
        usual, other = (
            {"copy": "splice", "buffer": "200000"},
            {"copy": "splice", "buffer": "0200000"},
        )
    else:
        usual, other = {"idle_timeout": "600s"}, {"idle_timeout": "600.0000000s"}
    runs = [
        carried_out(run_setting, tmp_path, name, ENDS[end].raw(Trial({}), knobs))
        for name, knobs in (("usual", usual), ("other", other))
    ]
    assert runs[0] == runs[1]


def test_every_knob_is_tried_or_says_that_it_does_nothing() -> None:
    for end, program in PROGRAMS.items():
        ends = (end, *SIDES) if end == "headway-quic-pep" else (end,)
        tried = {knob for side in ends for knob in TRIALS[side]}
        known = {name for name, same in SAME_CODE.items() if end in same}
        vain = {knob.name for knob in program.knobs if knob.vain.get("")}
        assert {knob.name for knob in program.knobs} == tried | known | vain, end
        assert not vain & tried, end


@pytest.mark.parametrize(("end", "knob", "value"), [(*at, value) for at, value in VAIN.items()])
def test_a_knob_that_does_nothing_says_so_to_whoever_sets_it(
    run_setting: RunSetting, tmp_path: Path, end: str, knob: str, value: str
) -> None:
    place = ENDS[end]
    raw = place.raw(Trial({}), {knob: value})
    (note,) = (
        text
        for text in remarks(deploy(Setting.model_validate(raw)))
        if f".knobs.{knob} does nothing: " in text
    )
    where = ".".join(str(key) for key in place.keys if isinstance(key, str))
    assert note.startswith(where.split(".")[0])
    usual = carried_out(run_setting, tmp_path, "usual", place.raw(Trial({}), {}))
    assert carried_out(run_setting, tmp_path, "other", raw) == usual
