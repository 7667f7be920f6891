"""The table of races: how often they were lost, and what falling back cost."""

from __future__ import annotations

from typing import Any

from headway.analysis import analyse
from headway.report.tables.kind import Matter
from headway.report.tables.races import races_frame, races_table
from tests.unit import made_results as made


def matter(rows: list[dict[str, Any]]) -> Matter:
    results = made.results(rows)
    return Matter(results, ((analyse(results),),))


def test_races_of_quic() -> None:
    lost = {"quic_tries": 4, "quic_tries_lost": 4, "quic_wait_s": 0.09}
    won = {"quic_tries": 4, "quic_tries_lost": 0, "quic_wait_s": 0.0}
    rows = [made.run("h3", seed, 1.0, **one) for seed, one in ((1, lost), (2, won), (3, lost))]
    rows += [made.run("h2", seed, 1.0) for seed in (1, 2, 3)]
    table = races_table(matter(rows))
    assert table.headings[-5:] == (
        *("runs", "QUIC tried beside TCP", "lost to TCP"),
        *("runs that waited for QUIC", "wait [s]"),
    )
    assert [row[-6:] for group in table.rows for row in group] == [
        ("h3", "3", "12", "67 %", "2", "0.0900")
    ]


def test_races_of_families() -> None:
    over_ipv4 = {"family_won": "ipv4", "fallback_s": 0.2}
    over_ipv6 = {"family_won": "ipv6", "fallback_s": 0.0}
    rows = [made.run("h2", seed, 1.0, **over_ipv4) for seed in (1, 2)]
    rows += [made.run("h2", 3, 1.0, **over_ipv6), made.run("h3", 1, 1.0, **over_ipv6)]
    found = matter(rows)
    assert [row[-4:] for group in races_table(found).rows for row in group] == [
        ("3", "1", "2", "0.200"),
        ("1", "1", "0", "–"),
    ]
    assert races_frame(found)["fallback_s"].to_list() == [0.2, None]


def test_where_nobody_raced_there_is_no_table() -> None:
    found = matter([made.run("h2", 1, 1.0), made.run("h3", 1, 1.0)])
    assert not races_table(found).rows
    assert races_frame(found).is_empty()
