"""Tables of rates, as collections of traces have them, become opportunities; what is not clear is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st

from headway.cli import main
from headway.errors import WrongInputError
from headway.traces.imported import TableReading, import_trace
from headway.traces.mahimahi import TimeUnit, read_opportunities
from headway.traces.reading import read_trace
from tests.unit.many import AMOUNTS, check_many

FOUR_MBIT = 1000 / 3
"""Packets of 1500 bytes a second."""
LUMOS = "run_num,seq_num,abstractSignalStr,latitude,Throughput,tower_id\n" + "".join(
    f"{run},{second},2,44.9,{4 * run},1\n" for run in (1, 2) for second in range(1, 5)
)
IRISH = "Timestamp,Speed,NetworkMode,DL_bitrate,UL_bitrate,State\n" + "".join(
    f"2019.12.14_10.16.{second:02},0,5G,4000,2000,D\n" for second in range(4)
)
FCC = "unit_id,dtime,target,address,fetch_time,bytes_total,bytes_sec,objects\n" + "".join(
    f"{unit},2016-01-01 0{hour}:00:00,x,y,1,2,500000,3\n" for unit in (7, 8) for hour in range(4)
)
PUFFER = "time (ns GMT),session_id,index,delivery_rate\n" + "".join(
    f"{1_634_000_000_000_000_000 + second * 10**9},a,1,500000\n" for second in range(4)
)
EVEN = "".join(f"{second}.0{{0}}4.0001\n" for second in range(4))
HSDPA = "".join(
    f"12894063{second:02} {549 + second * 1000} 59.85 10.78 500000 1000\n" for second in range(4)
)


@pytest.mark.parametrize(
    ("text", "reading", "words"),
    [
        *((EVEN.format(mark), TableReading(), "column 2 is Mbit/s, from the time in column 1 (s)") for mark in ("\t", " ", ",", ";", ", ", "  ")),
        (EVEN.format("\t").replace("\n", "\r\n").rstrip(), TableReading(), "Mbit/s"),
        ("\ufeff# a comment\n\n" + EVEN.format(" "), TableReading(), "Mbit/s"),
        (HSDPA, TableReading(), "Norway (HSDPA) and Ghent (4G)"),
        (IRISH, TableReading(), "DL_bitrate is kbit/s, as Raca et al."),
        (IRISH.replace("4000", "1").replace("2000", "4000"), TableReading(column="UL_bitrate"), "UL_bitrate is kbit/s"),
        (IRISH, TableReading(column="4"), "DL_bitrate is kbit/s"),
        (LUMOS, TableReading(rows={"run_num": "1"}), "Throughput is Mbit/s, as Lumos5G has it"),
        (FCC, TableReading(rows={"unit_id": "7"}, interval_ms=1000), "bytes_sec is B/s, as FCC has it, a row every 1000 ms"),
        (PUFFER, TableReading(), "delivery_rate is B/s, as Puffer has it, from the time in time (ns GMT) (ns)"),
        (json.dumps([{"duration_ms": 1000, "bandwidth_kbps": 4000, "latency_ms": 9}] * 4), TableReading(), "bandwidth_kbps is kbit/s"),
        ("t,rate_mbps\n" + "".join(f"{s},4\n" for s in range(4)), TableReading(), "rate_mbps is Mbit/s"),
        ("500000\n" * 4, TableReading(unit="B", interval_ms=1000), "column 1 is B, a row every 1000 ms"),
        ("4\n" * 4, TableReading(unit="Mbit/s", interval_ms=1000), "column 1 is Mbit/s"),
        ("".join(f"{s * 1000} 4000\n" for s in range(4)), TableReading(unit="kbit/s", time_unit=TimeUnit.MILLISECONDS), "(ms)"),
        ("".join(f"{1_700_000_000_000 + s * 1000} 4000\n" for s in range(4)), TableReading(unit="kbit/s"), "(ms)"),
    ],
)  # fmt: skip
def test_four_seconds_of_four_mbit(
    text: str, reading: TableReading, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "-a ü.csv"
    file.write_bytes(text.encode())
    times, understood = import_trace(file, reading)
    assert words in understood and len(understood) < 300
    assert len(times) == int(4 * FOUR_MBIT)
    for second in range(4):
        within = sum(second * 1000 < time <= second * 1000 + 1000 for time in times)
        assert abs(within - FOUR_MBIT) <= 1


@pytest.mark.parametrize("text", ["0 5\n1 3\n2 4\n", LUMOS, FCC, "t,a_mbps\n1,x\n", "[{]"])
@pytest.mark.parametrize("read", [read_trace, lambda file: import_trace(file, TableReading())])
def test_a_table_that_is_not_clear_is_no_trace(
    text: str, read: Callable[[Path], object], tmp_path: Path
) -> None:
    file = tmp_path / "x.csv"
    file.write_text(text)
    with pytest.raises(WrongInputError) as refused:
        read(file)
    assert len(refused.value.message) < 500


def test_what_is_written_is_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.csv").write_text(IRISH)
    out = tmp_path / "o.trace"
    monkeypatch.setattr(
        "sys.argv", ["headway", "trace", "import", str(tmp_path / "x.csv"), "--out", str(out)]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert "4 rows" in capsys.readouterr().out
    assert read_opportunities(out) == read_trace(tmp_path / "x.csv")


ROW = st.tuples(st.integers(1, 5000), st.integers(0, 40_000))


@pytest.mark.parametrize("amount", AMOUNTS)
def test_drawn_tables_pass_as_many_bits_as_by_hand(amount: int, tmp_path: Path) -> None:
    file = tmp_path / "drawn.csv"

    def check(rows: list[tuple[int, int]], mark: str, kbit: bool) -> None:
        at, text = 0, f"time_s{mark}rate_{'kbps' if kbit else 'mbps'}\n"
        for length_ms, kbit_per_s in rows:
            text += f"{at / 1000}{mark}{kbit_per_s if kbit else kbit_per_s / 1000}\n"
            at += length_ms
        file.write_text(text)
        steps = sorted(length for length, _ in rows[:-1]) or [1000]
        lengths = [*(length for length, _ in rows[:-1]), steps[(len(steps) - 1) // 2]]
        ends = [sum(lengths[: place + 1]) for place in range(len(lengths))]
        bits = [length * rate for length, (_, rate) in zip(lengths, rows, strict=True)]
        try:
            times, _ = import_trace(file, TableReading(time_unit=TimeUnit.SECONDS))
        except WrongInputError:
            assert sum(bits) < 12_001
            return
        for place, end in enumerate(ends):
            passed = sum(bits[: place + 1]) / 12_000
            assert abs(sum(time <= end + 0.01 for time in times) - passed) <= 1.01

    check_many(
        amount,
        check,
        st.lists(ROW, min_size=1, max_size=8),
        st.sampled_from([",", "\t", ";", " "]),
        st.booleans(),
    )


@pytest.mark.parametrize("amount", AMOUNTS)
def test_odd_tables_are_refused_in_words(amount: int, tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"

    def check(content: bytes, column: str | None) -> None:
        file.write_bytes(content)
        for read in (
            lambda: import_trace(file, TableReading(column=column)),
            lambda: read_trace(file),
        ):
            try:
                read()
            except WrongInputError as error:
                assert len(error.message) < 900 and "\n" not in error.message

    text = st.text(alphabet='0123456789.,;\t -+e#\n\r\0é٣"tmbps_[]{}:', max_size=80).map(str.encode)
    named = text.map(lambda odd: b"time,rate_mbps\n0,1.5\n1," + odd)
    check_many(
        amount,
        check,
        text | named | st.binary(max_size=60),
        st.none() | st.sampled_from(["1", "2", "0", "x"]),
    )
