from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from headway.study.units import (
    Angle,
    Bandwidth,
    Decibel,
    Duration,
    Length,
    Rate,
    Ratio,
    Size,
    Snr,
    UnitError,
)


@pytest.mark.parametrize(
    ("kind", "text", "base"),
    [
        (Duration, "100 ms", 100_000_000),
        (Duration, "0 s", 0),
        (Duration, "1.5us", 1_500),
        (Duration, "2 min", 120 * 10**9),
        (Rate, "10 Mbit/s", 10**7),
        (Rate, "1.5 kbit/s", 1_500),
        (Size, "100 kB", 10**5),
        (Size, "10 MiB", 10 * 2**20),
        (Ratio, "2 %", 0.02),
        (Ratio, "0.01%", 0.0001),
        (Bandwidth, "50 MHz", 50_000_000),
        (Decibel, "3.5 dB", 3.5),
        (Snr, "-2.35 dB", -2.35),
        (Length, "550 km", 550_000),
        (Angle, "-11.6 deg", -11.6),
    ],
)
def test_a_quantity_is_read_in_its_base_unit(
    kind: type[Duration] | type[Ratio], text: str, base: float
) -> None:
    assert kind.parse(text) == base


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Duration, "100", 'has no unit; write a duration as "100 ms"'),
        (Rate, 10, 'has no unit; write a rate as "10 Mbit/s"'),
        (
            Rate,
            "10 Mbps",
            "'Mbps' is not a unit of rate; write \"10 Mbit/s\"; known units: bit/s",
        ),
        (Rate, "-1 Mbit/s", "cannot be negative"),
        (Rate, "0 bit/s", "a rate must be above zero"),
        (Ratio, "101 %", "cannot be above 100 %"),
        (Size, "many", "is not a number with a unit"),
        (Size, True, 'is not a size; write it as "1 MB"'),
        (Duration, None, "is not a duration"),
        (Bandwidth, "0 Hz", "a bandwidth must be above zero"),
        (Decibel, "-1 dB", "a number of decibels cannot be negative"),
        (Length, "550", 'has no unit; write a length as "550 km"'),
    ],
)
def test_what_is_wrong_with_a_quantity_is_said(
    kind: type[Duration], value: object, message: str
) -> None:
    with pytest.raises(UnitError, match=message.replace("(", r"\(")):
        kind.parse(value)


@pytest.mark.parametrize(
    ("kind", "written", "meant"),
    [
        (Rate, "10 MB/s", ["80 Mbit/s"]),
        (Rate, "10 MBps", ["80 Mbit/s"]),
        (Rate, "10 KB/s", ["80 kbit/s"]),
        (Rate, "10 MiB/s", ["83.88608 Mbit/s"]),
        (Rate, "10 mbit/s", ["10 Mbit/s"]),
        (Rate, "10 mbps", ["10 Mbit/s"]),
        (Rate, "10 MBPS", ["10 Mbit/s", "80 Mbit/s"]),
        (Rate, "10 Mb/s", ["10 Mbit/s"]),
        (Rate, "10 bps", ["10 bit/s"]),
        (Rate, "10 Mbit", ["10 Mbit/s"]),
        (Rate, "10 ms", []),
        (Rate, "10 furlongs", []),
        (Size, "1 mb", ["1 MB", "125 kB"]),
        (Size, "1 Mbit", ["125 kB"]),
        (Size, "3 bit", []),
        (Size, "1 PB", []),
        (Size, "5 bytes", ["5 B"]),
        (Duration, "5 sec", ["5 s"]),
        (Duration, "5 MS", ["5 ms"]),
        (Duration, "5 m", ["300 s"]),
        (Duration, "5 h", ["18000 s"]),
        (Duration, "5 μs", ["5 us"]),
        (Ratio, 0.01, ["1 %", "0.01 %"]),
        (Ratio, 2, ["2 %"]),
        (Ratio, "5 permille", ["0.5 %"]),
        (Bandwidth, "20 mhz", ["20 MHz"]),
        (Length, "5 KM", ["5 km"]),
        (Snr, "-3 db", ["-3 dB"]),
    ],
)
def test_a_unit_of_elsewhere_is_answered_by_the_same_value(
    kind: type[Duration], written: str, meant: list[str]
) -> None:
    with pytest.raises(UnitError) as refused:
        kind.parse(written)
    assert re.findall(r'"([^"]+)"', str(refused.value)) == meant


@given(
    st.integers(1, 999),
    st.sampled_from(["", "k", "K", "m", "M", "G", "Mi", "ki"]),
    st.sampled_from(["b", "B", "bit", "bits", "Bit", "byte", "Bytes"]),
    st.sampled_from(["/s", "ps", "/sec", " per second"]),
)
def test_a_suggested_rate_is_the_one_that_was_written(
    number: int, prefix: str, what: str, per: str
) -> None:
    powers = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "mi": 2**20, "ki": 2**10}
    bits = number * powers[prefix.lower()] * (8 if what in ("B", "byte", "Bytes") else 1)
    written = f"{number} {prefix}{what}{per}"
    try:
        assert Rate.parse(written) == bits
    except UnitError as refused:
        (suggested,) = re.findall(r'"([^"]+)"', str(refused)) or [None]
        assert suggested is None or Rate.parse(suggested) == bits
        assert suggested is not None or bits > 10**12


@given(st.integers(0, 10**14))
def test_durations_round_trip_through_text(ns: int) -> None:
    assert abs(Duration.parse(str(Duration(ns))) - ns) <= ns * 1e-5


@given(st.integers(0, 10**11))
def test_sizes_round_trip_through_text(size: int) -> None:
    assert abs(Size.parse(str(Size(size))) - size) <= size * 1e-5


@given(st.sampled_from((Duration, Rate, Size, Bandwidth)), st.integers(1, 10**14))
def test_whole_quantities_are_kept_to_the_last_digit(kind: type[Duration], base: int) -> None:
    adapter, value = TypeAdapter(kind), kind(base % int(kind._most()) or 1)
    assert adapter.validate_json(adapter.dump_json(value)) == value


@given(st.sampled_from((Ratio, Decibel, Length, Angle)), st.floats(0, 1))
def test_other_quantities_are_kept_to_the_last_digit(kind: type[Ratio], base: float) -> None:
    adapter = TypeAdapter(kind)
    assert adapter.validate_json(adapter.dump_json(kind(base))) == base


@given(st.text(max_size=20))
def test_any_text_is_a_quantity_or_a_unit_error(text: str) -> None:
    for kind in (Duration, Rate, Ratio, Size, Bandwidth, Snr, Length, Angle):
        try:
            kind.parse(text)
        except UnitError as error:
            assert str(error)
