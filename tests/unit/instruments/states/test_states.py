"""State machines of senders: from logs that were made with known probabilities and known invariants."""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from headway import cli
from headway.errors import WrongInputError
from headway.instruments.states.diagram import difference
from headway.instruments.states.invariants import Invariant, InvariantRule, invariants
from headway.instruments.states.sources import read_state_file, tcp_state
from headway.instruments.states.statemachine import (
    StateMachine,
    changed_shares,
    changed_transitions,
)
from headway.instruments.states.statepath import (
    MachineKind,
    StatePath,
    StateVisit,
    state_name,
    visits_of,
)
from tests.unit.made_samples import tcp

PROBABILITIES = {
    "init": {"slow_start": 1.0},
    "slow_start": {"recovery": 0.7, "application_limited": 0.3},
    "recovery": {"congestion_avoidance": 0.9, "slow_start": 0.1},
    "congestion_avoidance": {"recovery": 0.4, "application_limited": 0.35, "slow_start": 0.25},
    "application_limited": {"congestion_avoidance": 0.5, "recovery": 0.5},
}
"""Of a sender that is made."""
SOURCE = Path(__file__).parents[4]
SAMPLES = SOURCE / "native/trace/tests/samples"


def made(seed: int, length: int) -> list[tuple[float, str, str]]:
    """Changes of state of the made sender: when, before and after."""
    luck = random.Random(seed)
    at_ms, state, changes = 0.0, "init", []
    for _ in range(length):
        at_ms += luck.expovariate(0.1)
        after = luck.choices(*zip(*PROBABILITIES[state].items(), strict=True))[0]
        changes.append((at_ms, state, after))
        state = after
    return changes


def events(changes: Sequence[tuple[float, str, str]], prefix: str) -> list[dict[str, Any]]:
    started = {"time": 0.0, "name": f"{prefix}packet_sent", "data": {"frames": []}}
    told = [
        {"time": at, "name": f"{prefix}congestion_state_updated", "data": {"old": old, "new": new}}
        for at, old, new in changes
    ]
    return [started, *told]


def written(file: Path, form: str, changes: Sequence[tuple[float, str, str]]) -> Path:
    """The same log in a form and version of qlog."""
    draft = form.split()[1]
    prefix = "recovery:" if draft == "0.3" else "quic:"
    clock: dict[str, Any] = {"time_format": "relative", "reference_time": 0}
    if draft == "0.4":
        clock = {
            "time_format": "relative_to_epoch",
            "reference_time": {"clock_type": "system", "epoch": "1970-01-01T00:00:00.000Z"},
        }
    trace = {"vantage_point": {"type": "server"}, "common_fields": clock}
    if form.startswith("JSON-SEQ"):
        header = {"qlog_version": draft, "qlog_format": "JSON-SEQ", "trace": trace}
        records = [header, *events(changes, prefix)]
        file.write_text("".join(f"\x1e{json.dumps(one)}\n" for one in records), encoding="utf-8")
    else:
        traces = [{**trace, "events": events(changes, prefix)}]
        told = {"qlog_version": draft, "qlog_format": "JSON", "traces": traces}
        file.write_text(json.dumps(told), encoding="utf-8")
    return file


FORMS = ("JSON 0.3", "JSON-SEQ 0.3", "JSON 0.4", "JSON-SEQ 0.4")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_qlog_tells_the_same_states(tmp_path: Path, form: str) -> None:
    changes = made(1, 50)
    (path,) = read_state_file(written(tmp_path / "made.qlog", form, changes))
    assert path.machine is MachineKind.CONGESTION
    assert path.states == ("Init", *(state_name(after) for _, _, after in changes))
    spans = [visit.span_s for visit in path.visits[:-1]]
    times = [0.0, *(at / 1e3 for at, _, _ in changes)]
    assert spans == pytest.approx([b - a for a, b in itertools.pairwise(times)], abs=1e-8)


def test_known_probabilities_lie_within_their_intervals(tmp_path: Path) -> None:
    """Intervals of 95 %, so of many logs no fewer than that share of them have the truth in them."""
    hits = total = 0
    for seed in range(60):
        (path,) = read_state_file(written(tmp_path / "a.qlog", "JSON-SEQ 0.3", made(seed, 300)))
        for step in StateMachine.of([path]).transitions:
            before, after = (_word(state) for state in (step.before, step.after))
            hits += step.interval.low <= PROBABILITIES[before][after] <= step.interval.high
            total += 1
    assert total > 400
    assert hits / total >= 0.95


def _word(state: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in state).strip("_")


def test_a_wrong_probability_lies_outside() -> None:
    path = _path("ABACABAC" * 50)
    (to_b, to_c) = (one for one in StateMachine.of([path]).transitions if one.before == "A")
    assert to_b.count == 100
    assert to_c.interval.high < 0.6 and to_b.interval.low > 0.4


def _path(states: Sequence[str], span_s: float = 1.0) -> StatePath:
    visits = visits_of(((n * span_s, one) for n, one in enumerate(states)), len(states) * span_s)
    return StatePath("server", MachineKind.CONGESTION, "qlog", visits)


def test_time_is_what_was_between_changes() -> None:
    machine = StateMachine.of([_path("ABA"), _path("A")])
    assert {one.state: one.seconds for one in machine.states} == {"A": 3.0, "B": 1.0}
    assert machine.share("A") == 0.75


def test_a_path_is_cut_to_the_time_of_the_transfer() -> None:
    cut = _path("ABCD").between(0.5, 2.5)
    assert cut.visits == (
        StateVisit("A", 0.5, 1.0),
        StateVisit("B", 1.0, 2.0),
        StateVisit("C", 2.0, 2.5),
    )


def by_definition(traces: Sequence[str], one: str, rule: InvariantRule, other: str) -> bool:
    """The definitions of Beschastnikh et al. word by word."""
    for trace in traces:
        for place, state in enumerate(trace):
            if rule is InvariantRule.ALWAYS_PRECEDES:
                if state == other and one not in trace[:place]:
                    return False
            elif state == one and (other in trace[place + 1 :]) is not (
                rule is InvariantRule.ALWAYS_FOLLOWED_BY
            ):
                return False
    return True


PUT_IN = {
    # A log in which every I comes first and once, R always ends in C, and P is never followed by R.
    Invariant("I", InvariantRule.NEVER_FOLLOWED_BY, "I"),
    Invariant("I", InvariantRule.ALWAYS_PRECEDES, "R"),
    Invariant("I", InvariantRule.ALWAYS_PRECEDES, "C"),
    Invariant("I", InvariantRule.ALWAYS_PRECEDES, "P"),
    Invariant("R", InvariantRule.NEVER_FOLLOWED_BY, "I"),
    Invariant("C", InvariantRule.NEVER_FOLLOWED_BY, "I"),
    Invariant("P", InvariantRule.NEVER_FOLLOWED_BY, "I"),
    Invariant("R", InvariantRule.ALWAYS_FOLLOWED_BY, "C"),
    Invariant("P", InvariantRule.NEVER_FOLLOWED_BY, "R"),
}


def _all_traces() -> Iterator[str]:
    for length in range(1, 6):
        yield from map("".join, itertools.product("IRCP", repeat=length))


def test_invariants_of_a_made_log_are_exactly_those_put_in() -> None:
    """The log has every sequence that keeps them, so nothing else holds in it."""
    log = [
        trace
        for trace in _all_traces()
        if all(by_definition([trace], *vars(one).values()) for one in PUT_IN)
        and trace.startswith("I")
    ]
    assert len(log) > 50
    assert invariants(log) == PUT_IN


def test_invariants_are_those_of_their_definitions() -> None:
    luck = random.Random(7)
    for _ in range(200):
        log = ["".join(luck.choices("ABC", k=luck.randint(1, 6))) for _ in range(3)]
        there = sorted(set("".join(log)))
        expected = {
            Invariant(one, rule, other)
            for one, other in itertools.product(there, repeat=2)
            for rule in InvariantRule
            if one != other or rule is InvariantRule.NEVER_FOLLOWED_BY
            if by_definition(log, one, rule, other)
        }
        assert invariants(log) == expected


def test_the_difference_of_two_machines() -> None:
    first, second = (StateMachine.of([_path(text * 40)]) for text in ("ABAC", "ABABABAC"))
    assert [one.state for one in changed_shares(first, second)] == ["B", "C", "A"]
    steps = {(one.before, one.after): one for one in changed_transitions(first, second)}
    assert steps["A", "B"].change == pytest.approx(0.25)
    assert steps["A", "B"].is_sure and not steps["B", "A"].is_sure


def test_a_step_that_one_machine_never_took_has_an_interval_there_too() -> None:
    """None of 2 against 10 of 20: from 0 to 0.84 and from 0.27 to 0.73. None of 40 is at most 0.09."""
    often = StateMachine({}, {("A", "B"): 10, ("A", "C"): 10})
    for left, is_sure in ((2, False), (40, True)):
        seldom = StateMachine({}, {("A", "C"): left})
        for pair in ((seldom, often), (often, seldom)):
            (step,) = (one for one in changed_transitions(*pair) if one.after == "B")
            assert abs(step.change or 0) == 0.5
            assert step.is_sure is is_sure


def test_steps_of_a_state_that_one_machine_never_left_have_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (StateMachine.of([_path(text)]) for text in ("ABA" * 30, "ACA" * 30))
    steps = {(one.before, one.after): one for one in changed_transitions(first, second)}
    assert (steps["B", "A"].change, steps["B", "A"].is_sure) == (None, False)
    assert ("B", "A") not in {one.step for one in difference(first, second).steps}
    changes = [
        [(1.0, "init", "slow_start")],
        [(1.0, "init", "recovery"), (2.0, "recovery", "init")],
    ]
    files = [written(tmp_path / f"{n}.qlog", FORMS[1], one) for n, one in enumerate(changes)]
    assert run(monkeypatch, "--difference", *map(str, files)) == 0
    (line,) = (
        one for one in capsys.readouterr().out.splitlines() if one.startswith("Recovery  Init")
    )
    assert "state not left" in line and "apart" not in line


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ({"data_segs_out": 0}, "Init"),
        ({"ca_state": 1}, "Disorder"),
        ({"ca_state": 2}, "Cwr"),
        ({"ca_state": 3}, "Recovery"),
        ({"ca_state": 4}, "Loss"),
        ({"cwnd": 10, "ssthresh": 0x7FFFFFFF, "unacked": 10}, "SlowStart"),
        ({"cwnd": 20, "ssthresh": 20, "unacked": 20}, "CongestionAvoidance"),
        ({"cwnd": 20, "ssthresh": 20, "unacked": 3}, "ApplicationLimited"),
        ({"cwnd": 20, "ssthresh": 20, "unacked": 3, "notsent_bytes": 9}, "CongestionAvoidance"),
        ({"pacing_gain": 739, "cwnd_gain": 739}, "Startup"),
        ({"pacing_gain": 88, "cwnd_gain": 739}, "Drain"),
        ({"pacing_gain": 320, "cwnd_gain": 512}, "ProbeBw"),
        ({"pacing_gain": 256, "cwnd_gain": 256}, "ProbeRtt"),
        ({"pacing_gain": 320, "cwnd_gain": 512, "ca_state": 3}, "Recovery"),
    ],
)
def test_states_of_linux(told: dict[str, int], state: str) -> None:
    info = tcp(**{"data_segs_out": 5, "ca_state": 0, "notsent_bytes": 0, **told})
    assert tcp_state(info) == state


def test_both_traces_of_a_sender_tell_the_same_states() -> None:
    read = [read_state_file(SAMPLES / f"sample.{kind}") for kind in ("sqlog", "hwtrace")]
    ((logged,), (compact,)) = read
    assert logged.states == compact.states == ("Init", "SlowStart", "Recovery")


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["headway", "states", *words])
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_files_are_printed_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(written(tmp_path / f"{n}.qlog", FORMS[n], made(n, 200))) for n in range(2)]
    assert run(monkeypatch, *files) == 0
    printed = capsys.readouterr().out
    assert "0.qlog, congestion (1 connection)" in printed
    assert "Init is never followed by Init" in printed
    assert run(monkeypatch, "--difference", *files) == 0
    assert "1.qlog, congestion against 0.qlog" in capsys.readouterr().out


def test_a_log_without_states_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "none.qlog", "JSON-SEQ 0.3", [])
    assert run(monkeypatch, str(file)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "has no event congestion_state_updated or connection_state_updated" in line
    with pytest.raises(WrongInputError):
        read_state_file(file)
