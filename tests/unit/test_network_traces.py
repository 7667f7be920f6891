"""Network traces: what they hold, what is no trace, and the queue before one."""

from __future__ import annotations

import gzip
import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from headway.errors import WrongInputError
from headway.planning.runs import plan
from headway.planning.traces import trace_lines
from headway.records.archived_study import archived_study
from headway.study.load import load_study
from headway.study.path import Path as NetworkPath
from headway.traces.account import most_within, read_trace_account, trace_account
from headway.traces.mahimahi import TimeUnit, read_opportunities
from tests.unit.many import AMOUNTS, check_many

STUDY = """name = "t"
[path]
rtt = "30 ms"
down.rate = {{ trace = "{name}"{more} }}
"""


def written(directory: Path, content: str | bytes, name: str = "-a b ü.trace") -> Path:
    file = directory / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def lines(times: Any) -> str:
    return "".join(f"{time}\n" for time in times)


@pytest.mark.parametrize(
    "content",
    [
        "1\n2\n2\n4\n",
        "1\r\n2\r\n2\r\n4\r\n",
        "1\n2\n2\n4",
        " 1 \n2\t\n2\n4\n\n",
        "\ufeff1\n2\n2\n4\n",
    ],
)
def test_lines_of_milliseconds(content: str, tmp_path: Path) -> None:
    assert read_opportunities(written(tmp_path, content)) == (1, 2, 2, 4)


def test_what_a_trace_holds(tmp_path: Path) -> None:
    times = [*([5] * 10), *range(100, 200), 2000]
    account = read_trace_account(written(tmp_path, lines(times)))
    assert (account.opportunities, account.length_ms, account.first_ms) == (111, 2000, 5)
    assert account.mean_bit_per_s == 111 * 12_000 / 2
    # From 2000 on, where the next round's first ones are 5 ms later.
    assert account.highest_bit_per_s == 111 * 12_000
    assert (account.longest_gap_ms, account.largest_burst) == (1801, 10)
    assert len(account.series_bit_per_s) == 60
    assert account == trace_account(tuple(times))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a trace needs an opportunity"),
        ("0\n0\n", "a trace needs an opportunity"),
        ("3\n2\n", ":2: time 2 comes after 3; times never decrease"),
        ("1\n2.5\n", ":2: '2.5' is not a whole number of milliseconds"),
        ("0.0\t4.03\n1.0\t2.1\n", ":1: .* `headway trace import` reads rates"),
        (lines(1_700_000_000 + s for s in range(20)), "look like seconds since 1970"),
        (lines(1_700_000_000_000 + s for s in range(20)), "look like milliseconds since 1970: the first, 1700000000000, would be after 53.9 years"),
        (lines(1_700_000_000_000_000 + s for s in range(20)), "look like microseconds since 1970"),
        (lines(1_700_000_000_000_000_000 // 10 * 10 + s for s in range(20))[:18 * 3], "is not a whole number"),
        (lines(range(1000, 100_000, 1000)), r"12 Mbit/s over 0.099 s; or they are rates in rising order. Say which: rate = "),
        (lines(sorted([321, 813, 874, 1217, 1798, 1881, 1912, 1948, 2070, 2309, 2700, 2757])), "would be 52.2 kbit/s in the mean over 2.757 s, with gaps"),
        ("5\n" + "9" * 17 + "\n", "a trace has at most a year"),
        ('{"log": {"version": "1.2", "creator": {}, "entries": []}}', "a HAR 1.2 file, not a network trace"),
        ("1\n2\n".encode("utf-16"), "not a plain text in UTF-8"),
        (gzip.compress(b"1\n2\n"), "compressed with gzip, not a plain text"),
        (gzip.compress(gzip.compress(b"1\n2\n")), "compressed with gzip and gzip"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "not a network trace"),
        ("x" * 2_000_000, "is not a whole number"),
        ("# tabledist\n# mean 0 sigma 1\n-1 2 3\n", "a table of netem's delay distribution, not a network trace"),
    ],
)  # fmt: skip
def test_what_is_no_trace_is_named(content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=message) as refused:
        read_opportunities(written(tmp_path, content))
    assert "\n" not in str(refused.value) and len(refused.value.message) < 600


def test_files_that_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, message in (
        (".", "is a directory"),
        ("fifo", "is a named pipe"),
        ("no", "no such trace file"),
        ("x" * 300, "cannot be read"),
    ):
        with pytest.raises(WrongInputError, match=message):
            read_opportunities(tmp_path / name)


def test_a_unit_that_is_said_is_not_asked_for(tmp_path: Path) -> None:
    file = written(tmp_path, lines(range(1000, 100_000, 1000)), "us.trace")
    assert read_opportunities(file, TimeUnit.MICROSECONDS) == tuple(range(1, 100))
    assert read_opportunities(file, TimeUnit.MILLISECONDS)[-1] == 99_000
    (tmp_path / "s.toml").write_text(STUDY.format(name="us.trace", more=', unit = "us"'))
    (line,) = trace_lines(plan(load_study(str(tmp_path / "s.toml"))))
    assert line.startswith("Trace us.trace: 12 Mbit/s in the mean over 99 ms")


def test_slow_links_in_bursts_are_not_asked_about(tmp_path: Path) -> None:
    bursts = [time for second in range(0, 60_000, 3000) for time in [second + 7] * 8]
    assert len(read_opportunities(written(tmp_path, lines(bursts)))) == 160


@pytest.mark.parametrize(
    ("times", "rtt", "packets"),
    [
        (range(1, 1001), 100, 100 + 1),
        ([time for start in range(40, 4001, 40) for time in [start] * 20], 20, 20 + 20),
        ([1000] * 30, 30, 30 + 30),
    ],
)
def test_a_queue_has_room_for_a_traces_bursts_unless_it_is_stated(
    times: Any, rtt: int, packets: int
) -> None:
    rate = {"trace": "x", "opportunities_ms": tuple(times)}
    path = NetworkPath.model_validate({"rate": rate, "rtt": f"{rtt} ms"})
    assert path.links[0].down.queue_bytes(path.rtt) == packets * 1514
    stated = NetworkPath.model_validate({"rate": rate, "rtt": f"{rtt} ms", "queue": "1 BDP"})
    mean = len(rate["opportunities_ms"]) * 12_000_000 // rate["opportunities_ms"][-1]
    assert stated.links[0].down.queue_bytes(stated.rtt) == max(mean * rtt // 8000, 2 * 1514)


def test_a_study_names_its_traces_by_hash_and_does_not_repeat_them(tmp_path: Path) -> None:
    written(tmp_path, lines(range(1, 5001)), "a.trace")
    (tmp_path / "s.toml").write_text(
        STUDY.format(name="a.trace", more="")
        + '[axes.path]\n"up.rate" = [{ trace = "a.trace" }, "1 Mbit/s"]\n'
    )
    study = load_study(str(tmp_path / "s.toml"))
    told = archived_study(study).model_dump_json()
    assert "4321" not in told and told.count(trace_account(tuple(range(1, 5001))).sha256) >= 2
    assert len(told) < 20_000


TIMES = (
    st.lists(st.integers(0, 400), min_size=1, max_size=60)
    .map(sorted)
    .filter(lambda times: times[-1] > 0)
)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_drawn_traces_are_counted_as_by_hand(amount: int, tmp_path: Path) -> None:
    file = tmp_path / "drawn.trace"

    def check(times: list[int], window_ms: int, ends: str) -> None:
        file.write_text(ends.join(map(str, times)))
        read = read_opportunities(file, TimeUnit.MILLISECONDS)
        assert read == tuple(times)
        length = times[-1]
        laps = [lap * length + time for lap in range(window_ms // length + 3) for time in times]
        most = max(sum(start <= time < start + window_ms for time in laps) for start in times)
        assert most_within(read, window_ms) == most
        account = read_trace_account(file) if len(times) < 10 else trace_account(read)
        gaps = [b - a for a, b in itertools.pairwise(laps)]
        assert account.longest_gap_ms == max(*gaps, times[0])
        assert account.largest_burst == max(laps.count(time) for time in times)

    check_many(amount, check, TIMES, st.integers(1, 900), st.sampled_from(["\n", "\r\n", " \n"]))


@pytest.mark.parametrize("amount", AMOUNTS)
def test_odd_traces_are_refused_in_words(amount: int, tmp_path: Path) -> None:
    file = tmp_path / "odd.trace"

    def check(content: bytes) -> None:
        file.write_bytes(content)
        try:
            read_opportunities(file)
        except WrongInputError as error:
            assert len(error.message) < 600 and "\n" not in error.message

    numbers = st.lists(st.integers(-5, 10**19), max_size=20).map(
        lambda values: lines(values).encode()
    )
    text = st.text(alphabet="0123456789.,;\t -+e#\n\r\0é٣", max_size=60).map(str.encode)
    check_many(amount, check, numbers | text | st.binary(max_size=60))
