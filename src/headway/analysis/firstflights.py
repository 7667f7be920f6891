"""What contenders have sent before the first acknowledgment: a head start that is no merit of a protocol."""

from __future__ import annotations

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.numbers import data_size, listed
from headway.columns import Status
from headway.diagnosis.firstflight import FirstFlight


def first_flights(analysis: Analysis) -> dict[str, FirstFlight]:
    """The largest of each contender's cells, by medians: where a response is shorter, it is no window that shows."""
    by_cell = (
        analysis.runs.filter(pl.col("status") == Status.OK.value)
        .group_by("contender", "cell")
        .agg(pl.col("first_flight_packets").median(), pl.col("first_flight_bytes").median())
        .drop_nulls()
        .sort("first_flight_packets", "first_flight_bytes", "cell")
    )
    rows = by_cell.group_by("contender", maintain_order=True).last()
    found = {
        row["contender"]: FirstFlight(
            round(row["first_flight_packets"]), round(row["first_flight_bytes"])
        )
        for row in rows.iter_rows(named=True)
    }
    return {name: found[name] for name in analysis.contenders if name in found}


def first_flight_sentences(analysis: Analysis) -> tuple[str, ...]:
    """That initial windows differ, where they do between contenders that are compared."""
    found = first_flights(analysis)
    apart = {
        name
        for pairing in analysis.pairings
        for one, other in [(found.get(pairing.contender), found.get(pairing.against))]
        if one and other and one.is_apart_from(other)
        for name in (pairing.contender, pairing.against)
    }
    if not apart:
        return ()
    named = sorted((name for name in found if name in apart), key=lambda name: -found[name].packets)
    first, *rest = named
    told = [
        f"{first} sent {found[first].packets} packets ({data_size(found[first].bytes)})",
        *(f"{name} {found[name].packets} ({data_size(found[name].bytes)})" for name in rest),
    ]
    return (
        f"Initial windows differ: before the first acknowledgment came back, {listed(told)}. That is a head start, "
        "and counts most for small bodies.",
    )
