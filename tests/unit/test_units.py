from __future__ import annotations

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
            r"'Mbps' is not a unit of rate; did you mean 'Mbit/s'\? Known units: bit/s",
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
