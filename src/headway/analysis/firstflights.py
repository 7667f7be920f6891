"""Bytes that contenders have sent before the first acknowledgment: a head start that is no merit of a protocol."""

from __future__ import annotations

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.numbers import data_size, listed
from headway.columns import FlightLimit, Status
from headway.diagnosis.firstflight import FirstFlight

_ENDED = {
    FlightLimit.CONGESTION_WINDOW: "its initial window",
    FlightLimit.RECEIVE_WINDOW: "all that the client's flow control allowed",
    FlightLimit.RESPONSE: "the whole response",
    None: "what ended them is not known",
}


def first_flights(analysis: Analysis) -> dict[str, FirstFlight]:
    """The largest of each contender's cells, by medians: where a response is shorter, it is no window that shows.

    What ended it is what ended most of that cell's flights, if it is more than half of them.
    """
    by_cell = (
        analysis.runs.filter(pl.col("status") == Status.OK.value)
        .filter(pl.col("first_flight_packets").is_not_null())
        .group_by("contender", "cell")
        .agg(
            pl.col("first_flight_packets", "first_flight_bytes").median(),
            *(
                (pl.col("first_flight_limit") == limit.value).sum().alias(limit.value)
                for limit in FlightLimit
            ),
            pl.len().alias("runs"),
        )
        .drop_nulls()
        .sort("first_flight_packets", "first_flight_bytes", "cell")
    )
    rows = by_cell.group_by("contender", maintain_order=True).last()
    by_value = {
        row["contender"]: FirstFlight(
            round(row["first_flight_packets"]),
            round(row["first_flight_bytes"]),
            next((limit for limit in FlightLimit if 2 * row[limit.value] > row["runs"]), None),
        )
        for row in rows.iter_rows(named=True)
    }
    return {name: by_value[name] for name in analysis.contenders if name in by_value}


def first_flight_sentences(analysis: Analysis) -> tuple[str, ...]:
    """That first flights differ, where they do between contenders that are compared, and what ended each.

    Only of flights that all were ended by congestion windows it is said that initial windows differ.
    """
    flights = first_flights(analysis)
    apart = {
        name
        for pairing in analysis.pairings
        for left, other in [(flights.get(pairing.contender), flights.get(pairing.against))]
        if left and other and left.is_apart_from(other)
        for name in (pairing.contender, pairing.against)
    }
    if not apart:
        return ()
    named = sorted(
        (name for name in flights if name in apart), key=lambda name: -flights[name].packets
    )
    windows = all(flights[name].limit is FlightLimit.CONGESTION_WINDOW for name in named)
    first, *rest = named
    texts = [
        f"{first} sent {flights[first].packets} packets {_size(flights[first], windows)}",
        *(f"{name} {flights[name].packets} {_size(flights[name], windows)}" for name in rest),
    ]
    return (
        f"{'Initial windows' if windows else 'First flights'} differ: before the first acknowledgment came back, "
        f"{listed(texts)}. That is a head start, and counts most for small bodies.",
    )


def _size(flight: FirstFlight, windows: bool) -> str:
    size = data_size(flight.bytes)
    return f"({size})" if windows else f"({size}: {_ENDED[flight.limit]})"
