"""qlog of all drafts: the same connection, written in each form, has the same states at the same times."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from headway.diagnosis.qlog import read_qlog
from headway.diagnosis.qlog_account import read_qlog_account
from headway.errors import HeadwayError, WrongInputError
from headway.instruments.states.sources import read_state_file
from tests.unit.many import AMOUNTS, check_many

Step = tuple[float, str]
Steps = list[Step]
"""Times in ms from the trace's start, and the state entered; an empty one is of another event."""
STEPS: Steps = [(0, "slow_start"), (100, "recovery"), (150, "congestion_avoidance"), (250, "")]
SECONDS = {"SlowStart": 0.1, "Recovery": 0.05, "CongestionAvoidance": 0.1}


def objects(steps: Steps, times: list[float]) -> list[dict[str, Any]]:
    return [
        {"time": time, "name": "recovery:congestion_state_updated", "data": {"new": state}}
        if state
        else {"time": time, "name": "transport:packet_received", "data": {"header": {"time": 7}}}
        for time, (_, state) in zip(times, steps, strict=True)
    ]


def lists(steps: Steps, times: list[Any], *, capital: bool = False) -> list[list[Any]]:
    rows = [
        [time, "recovery", "congestion_state_updated", "", {"new": state}]
        if state
        else [time, "transport", "packet_received", "line", {}]
        for time, (_, state) in zip(times, steps, strict=True)
    ]
    return [
        [t, *(name.upper() for name in rest[:2]), *rest[2:]] if capital else [t, *rest]
        for t, *rest in rows
    ]


def deltas(steps: Steps, first: float = 0) -> list[float]:
    times = [time for time, _ in steps]
    return [first + times[0], *(b - a for a, b in pairwise(times))]


def relative(steps: Steps, start: float = 0) -> list[float]:
    return [start + time for time, _ in steps]


def trace_of(steps: Steps, form: str) -> dict[str, Any]:
    """A trace of draft 00 to version 0.4."""
    vantage = {"vantage_point": {"type": "SERVER" if form == "draft-00 in capitals" else "server"}}
    fields = ["relative_time", "category", "event", "trigger", "data"]
    us = [time * 1000 for time, _ in steps]
    epoch_ms = 1_700_000_000_000
    unknown = {"clock_type": "monotonic", "epoch": "unknown"}
    written: dict[str, Callable[[], dict[str, Any]]] = {
        "draft-00 us": lambda: {
            "configuration": {"time_units": "us", "time_offset": 3000},
            "event_fields": fields,
            "events": lists(steps, us),
        },
        "draft-00 in capitals": lambda: {
            "configuration": {"time_units": "us"},
            "event_fields": [
                name.upper()
                for name in ["relative_time", "category", "event_type", "trigger", "data"]
            ],
            "events": lists(steps, [str(round(time)) for time in us], capital=True),
        },
        "draft-01 delta": lambda: {
            "common_fields": {"reference_time": str(epoch_ms)},
            "event_fields": ["delta_time", *fields[1:]],
            "events": lists(steps, deltas(steps)),
        },
        "draft-01 absolute": lambda: {
            "event_fields": ["time", *fields[1:]],
            "events": lists(steps, relative(steps, epoch_ms)),
        },
        "0.3 absolute": lambda: {"events": objects(steps, relative(steps, epoch_ms))},
        "0.3 relative": lambda: {
            "common_fields": {"time_format": "relative", "reference_time": epoch_ms},
            "events": objects(steps, relative(steps)),
        },
        "0.3 delta": lambda: {
            "common_fields": {"time_format": "delta", "reference_time": epoch_ms},
            "events": objects(steps, deltas(steps)),
        },
        "0.4 relative_to_epoch": lambda: {
            "common_fields": {"time_format": "relative_to_epoch", "reference_time": unknown},
            "events": objects(steps, relative(steps, 12.5)),
        },
        "0.4 without a format": lambda: {
            "common_fields": {"reference_time": unknown},
            "events": objects(steps, relative(steps)),
        },
        "0.4 to the event before": lambda: {
            "common_fields": {"time_format": "relative_to_previous_event"},
            "events": objects(steps, deltas(steps, 40)),
        },
        "0.4 each event for itself": lambda: {
            "common_fields": {"reference_time": unknown},
            "events": [
                {**event, "time_format": "relative_to_previous_event"} if place else event
                for place, event in enumerate(objects(steps, deltas(steps)))
            ],
        },
    }
    return {**vantage, **written[form]()}


FORMS = (
    *("draft-00 us", "draft-00 in capitals", "draft-01 delta", "draft-01 absolute"),
    *("0.3 absolute", "0.3 relative", "0.3 delta"),
    *(
        "0.4 relative_to_epoch",
        "0.4 without a format",
        "0.4 to the event before",
        "0.4 each event for itself",
    ),
)


def head_of(form: str) -> dict[str, Any]:
    if form.startswith("0.4"):
        return {
            "file_schema": "urn:ietf:params:qlog:file:contained",
            "serialization_format": "application/qlog+json",
        }
    return {"qlog_version": form.split()[0], "qlog_format": "JSON"}


def shuffled(value: dict[str, Any], order: random.Random) -> dict[str, Any]:
    """The same object, its members in another order."""
    return dict(sorted(value.items(), key=lambda _: order.random()))


def document(trace: dict[str, Any], form: str, order: random.Random) -> str:
    return json.dumps(shuffled({**head_of(form), "traces": [shuffled(trace, order)]}, order))


def texts(trace: dict[str, Any], form: str, before: str, after: str) -> str:
    """The same as a sequence of texts, or a text a line."""
    events = trace.pop("events")
    head = {**head_of(form), "trace": trace}
    return "".join(f"{before}{json.dumps(one)}{after}" for one in [head, *events])


def states(file: Path) -> dict[str, float]:
    (path,) = read_state_file(file)
    seconds: dict[str, float] = {}
    for visit in path.visits:
        seconds[visit.state] = round(seconds.get(visit.state, 0) + visit.span_s, 6)
    return {state: seconds for state, seconds in seconds.items() if state != "Init"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_document_of_each_form(form: str, seed: int, tmp_path: Path) -> None:
    file = tmp_path / "a b ü.qlog"
    file.write_text(document(trace_of(STEPS, form), form, random.Random(seed)))
    assert states(file) == SECONDS
    account = read_qlog_account(file)
    assert (account.connections, account.events, account.span_s) == (1, 4, 0.25)
    assert account.version == form.split()[0]
    assert account.vantages == ("server",)


@pytest.mark.parametrize("form", [form for form in FORMS if "draft" not in form])
@pytest.mark.parametrize(
    ("before", "after"), [("\x1e", "\n"), ("", "\n"), ("", "\r\n"), ("\x1e", "")]
)
@pytest.mark.parametrize("begins", ["", "\ufeff", "\n\n  ", "\ufeff\r\n"])
def test_a_sequence_of_each_form(
    form: str, before: str, after: str, begins: str, tmp_path: Path
) -> None:
    file = tmp_path / "-server.sqlog"
    text = begins + texts(trace_of(STEPS, form), form, before, after)
    file.write_bytes(text.encode())
    assert states(file) == SECONDS
    file.write_bytes(gzip.compress(text.encode()))
    assert states(file) == SECONDS
    assert read_qlog_account(file).span_s == 0.25


def test_connections_of_one_trace_are_apart(tmp_path: Path) -> None:
    events = [
        {**event, "group_id": group}
        for pair in zip(
            objects(STEPS, relative(STEPS)), objects(STEPS, relative(STEPS, 10)), strict=True
        )
        for event, group in zip(pair, ("a", "b"), strict=True)
    ]
    trace = {"common_fields": {"time_format": "relative"}, "events": events}
    file = tmp_path / "two.qlog"
    file.write_text(json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    assert [len(one.states) for one in read_qlog(file, "x")] == [3, 3]
    assert read_qlog_account(file).connections == 2
    file.write_text(
        texts({"common_fields": {"time_format": "relative"}, "events": events}, "0.3", "\x1e", "\n")
    )
    assert [one.points[-1].at_s for one in read_qlog(file, "x")] == [0.25, 0.25]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x89PNG\r\n\x1a\n", "a picture (PNG), not a qlog file"),
        (gzip.compress(gzip.compress(b"{}")), "is gzip in gzip"),
        (gzip.compress(b"{}")[:10] + b"\xff" * 20, "compressed data (gzip) that is damaged"),
        (b'{"qlog_version": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"qlog_version": ' + b"1" * 5000 + b"}", "a number of thousands of digits"),
    ],
)
def test_what_is_said_of_other_files(content: bytes, says: str, tmp_path: Path) -> None:
    file = tmp_path / "x.qlog"
    file.write_bytes(content)
    with pytest.raises(WrongInputError) as raised:
        read_state_file(file)
    assert says in raised.value.message
    assert raised.value.where == str(file)
    assert len(str(raised.value)) < 400


def test_a_bomb_ends(tmp_path: Path) -> None:
    file = tmp_path / "x.qlog.gz"
    with gzip.open(file, "wb", compresslevel=1) as opened:
        for _ in range(200):
            opened.write(b" " * (1 << 20))
    with pytest.raises(WrongInputError, match="holds more than Headway decodes"):
        read_state_file(file)


STATES = st.sampled_from(
    ["", "slow_start", "recovery", "congestion_avoidance", "application_limited"]
)
SPANS = st.integers(0, 40_000)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "time",
                    "name",
                    "data",
                    "new",
                    "old",
                    "traces",
                    "events",
                    "trace",
                    "qlog_version",
                    "event_fields",
                    "common_fields",
                    "configuration",
                    "time_units",
                    "time_format",
                    "reference_time",
                    "group_id",
                    "vantage_point",
                    "type",
                    "congestion_window",
                    "frames",
                    "raw",
                    "length",
                    "smoothed_rtt",
                    "pto_count",
                    "bytes_in_flight",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


def independent(steps: Steps) -> dict[str, int]:
    """Microseconds in each state, by hand."""
    entered = [(round(time * 1000), state) for time, state in steps if state]
    ends = [*(time for time, _ in entered[1:]), round(steps[-1][0] * 1000)]
    spent: dict[str, int] = {}
    for (time, state), end in zip(entered, ends, strict=True):
        name = "".join(part.capitalize() for part in state.split("_"))
        spent[name] = spent.get(name, 0) + end - time
    return spent


@pytest.mark.parametrize("amount", AMOUNTS)
def test_drawn_connections(amount: int, tmp_path: Path) -> None:
    file = tmp_path / "drawn.qlog"

    def check(spans: list[tuple[int, str]], form: str, text: str, seed: int) -> None:
        times_us = list(accumulate(span_us for span_us, _ in spans))
        steps = [
            ((time - times_us[0]) / 1000, state)
            for time, (_, state) in zip(times_us, spans, strict=True)
        ]
        steps[0] = (0.0, steps[0][1] or "slow_start")
        trace = trace_of(steps, form)
        is_document = text == "document" or form.startswith("draft")
        written = (
            document(trace, form, random.Random(seed))
            if is_document
            else texts(trace, form, text, "\n")
        )
        file.write_text(written)
        read = {name: round(seconds * 1e6) for name, seconds in states(file).items()}
        assert read == pytest.approx({**dict.fromkeys(read, 0), **independent(steps)}, abs=2)

    spans = st.lists(st.tuples(SPANS, STATES), min_size=1, max_size=12)
    ways = st.sampled_from(["document", "\x1e", ""])
    check_many(amount, check, spans, st.sampled_from(FORMS), ways, st.integers(0, 99))


@pytest.mark.parametrize("amount", AMOUNTS)
def test_odd_files_are_refused_in_words(amount: int, tmp_path: Path) -> None:
    file = tmp_path / "odd.qlog"

    def check(value: Any, sequence: bool, cut: int) -> None:
        events = value if isinstance(value, list) else [value]
        head = (
            {"qlog_version": "0.3", "trace": value}
            if sequence
            else {"qlog_version": value, "traces": events}
        )
        text = (
            "".join(f"\x1e{json.dumps(one)}\n" for one in [head, *events])
            if sequence
            else json.dumps(head)
        )
        file.write_text(text if cut > 200 else text[: cut * 2])
        for read in (read_state_file, read_qlog_account):
            try:
                read(file)
            except HeadwayError as error:
                assert len(str(error)) < 500

    check_many(amount, check, ODD, st.booleans(), st.integers(0, 400))
