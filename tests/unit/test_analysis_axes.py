"""Cells are called by the axes of their study: in its order, its words and its units."""

from typing import Any

import pytest

from headway.analysis import Analysis, analyse
from tests.unit import made_results as made


def studied(grid: dict[str, dict[str, Any]], **columns: dict[str, Any]) -> Analysis:
    """A run of h2 in every cell; columns by the cell's name."""
    rows = [
        made.run("h2", 1, 1.0, cell=cell, **{key: by[cell] for key, by in columns.items()})
        for cell in grid
    ]
    told = [{"name": name, "at": at} for name, at in grid.items()]
    return analyse(made.results(rows, made.experiments({"grid": told})))


def titles(found: Analysis) -> list[str]:
    return [cell.title for cell in found.cells]


def test_a_condition_that_follows_from_an_axis_does_not_replace_it() -> None:
    grid = {name: {"server.program": name} for name in ("nginx", "headway-server")}
    control = {"nginx": "cubic", "headway-server": "bbr"}
    found = studied(grid, server={name: name for name in grid}, server_cc=control)
    assert titles(found) == ["nginx", "headway-server"]
    assert [factor.name for factor in found.conditions.dependents] == ["server's CC"]


def test_contenders_within_protocols_are_compared_in_each() -> None:
    """What follows from the protocol tells no cells apart, and has no comparison across."""
    grid = {name: {"protocol": name} for name in ("h3", "h2")}
    rows = [
        made.run(contender, seed, 1.0 + seed, cell=cell, protocol=cell)
        for cell in grid
        for contender in ("before", "after")
        for seed in range(1, 4)
    ]
    told = [{"name": name, "at": at} for name, at in grid.items()]
    for manifest in (made.experiments({"grid": told}), None):
        found = analyse(made.results(rows, manifest))
        assert [factor.name for factor in found.conditions.factors] == ["protocol"]
        assert titles(found) == (["h3", "h2"] if manifest else ["h2", "h3"])
        assert {len(cell.sides) for cell in found.cells} == {2}
        dependents = {factor.name for factor in found.conditions.dependents}
        assert {"server's CC", "client's CC"} <= dependents
    (trait,) = [one for one in found.traits if one.name == "protocol"]
    assert trait.values == ("h2 / h3", "h2 / h3") and not trait.telling


def test_levels_keep_the_studys_order_and_units() -> None:
    rtts, queues = ("100 ms", "20 ms"), ("4 BDP", "1 BDP")
    grid = {f"{q} {r}": {"path.queue": q, "path.rtt": r} for q in queues for r in rtts}
    size = {cell: int(cell[0]) * int(cell.split()[2]) * 1250 for cell in grid}
    found = studied(grid, queue_bytes=size, rtt_ms={cell: float(cell.split()[2]) for cell in grid})
    assert titles(found) == [f"queue {q}, RTT {r}" for q in queues for r in rtts]
    assert [factor.values for factor in found.conditions.factors] == [(4, 1), (100, 20)]


def test_an_axis_that_no_column_tells_of_is_called_by_its_key() -> None:
    key = "hops.terminal.path.loss"
    found = studied({"a": {key: "1 %"}, "b": {key: "0.1 %"}})
    assert titles(found) == ["terminal loss 1 %", "terminal loss 0.1 %"]
    assert found.conditions.factors[0].values == (1, 0.1)


def test_axes_whose_words_would_be_equal_are_called_by_their_keys() -> None:
    a, b = "hops.one.path.loss", "hops.one.loss"
    found = studied({"x": {a: "1 %", b: "1 %"}, "y": {a: "2 %", b: "2 %"}})
    assert [factor.name for factor in found.conditions.factors] == [a, b]


def test_tables_are_called_as_the_records_have_them_or_by_their_words() -> None:
    grid = {
        "one": {"workload": {"kind": "parallel", "count": 20, "size": "1 MB"}, "path.x": {"y": 1}},
        "two": {"workload": {"kind": "download", "size": "1 MB"}, "path.x": {"y": 2}},
    }
    found = studied(grid, workload={"one": "parallel 20 x 1 MB", "two": "download 1 MB"})
    assert titles(found) == ["parallel 20 x 1 MB, x y 1", "download 1 MB, x y 2"]


def test_losses_in_bursts_are_told_from_single_ones_of_the_same_mean() -> None:
    grid: dict[str, dict[str, Any]] = {
        "single": {"path.loss": "1 %"},
        "bursts": {"path.loss": {"mean": "1 %", "burst": 5}},
    }
    found = studied(grid, loss_pct=dict.fromkeys(grid, 1.0))
    assert titles(found) == ["loss 1 %", "loss 1 % in bursts of 5"]


def test_levels_that_a_column_calls_alike_are_told_apart() -> None:
    grid: dict[str, dict[str, Any]] = {
        "a": {"path.rate": {"steps": "fast"}},
        "b": {"path.rate": {"steps": "slow"}},
    }
    found = studied(grid, rate_mbit=dict.fromkeys(grid, 10.0))
    assert len(set(titles(found))) == 2


def test_a_cell_that_stands_alone_is_called_by_what_is_said_of_it() -> None:
    grid = {"a": {"path.rtt": "20 ms"}, "b": {"path.rtt": "50 ms", "offload": True}}
    found = studied(grid, rtt_ms={"a": 20.0, "b": 50.0})
    assert titles(found) == ["RTT 20 ms", "RTT 50 ms, offload on"]


def test_a_grid_that_lacks_a_cell_is_not_relied_on() -> None:
    rows = [made.run("h2", 1, 1.0, cell=cell, rtt_ms=rtt) for cell, rtt in (("a", 1.0), ("b", 2.0))]
    told = [{"name": "a", "at": {"path.rtt": "1.0 ms"}}]
    found = analyse(made.results(rows, made.experiments({"grid": told})))
    assert titles(found) == ["RTT 1 ms", "RTT 2 ms"]


def test_levels_that_have_no_runs_are_left_out() -> None:
    rows = [made.run("h2", 1, 1.0, cell="a")]
    told = [{"name": f"{n}", "at": {"path.rtt": n}} for n in ("b", "a")]
    found = analyse(made.results(rows, made.experiments({"grid": told})))
    assert titles(found) == [""]


def test_queues_are_called_by_size_and_discipline() -> None:
    made_queues = (
        {"size": "0.5 BDP", "discipline": "droptail"},
        {"size": "0.5 BDP", "discipline": "fq_codel", "ecn": True},
        {"packets": 100, "discipline": "codel"},
    )
    grid = {str(place): {"path.queue": queue} for place, queue in enumerate(made_queues)}
    found = studied(grid, queue_bytes={"0": 125_000, "1": 125_000, "2": 151_400})
    assert titles(found) == ["0.5 BDP droptail", "0.5 BDP fq_codel ECN", "100 packets codel"]
    assert found.conditions.factors[0].levels == tuple(titles(found))
    mixed = {"a": {"path.queue": "1 BDP"}, "b": {"path.queue": made_queues[0]}}
    assert titles(studied(mixed)) == ["queue 1 BDP", "queue 0.5 BDP droptail"]


def test_a_path_that_changes_is_named_by_all_its_rates() -> None:
    """In the place of the number of its first rate, in titles of constants and in those of axes."""
    path = ("rate: 12 and 1 Mbit/s from 0 and 200 ms", "blackouts: 1 s to 2 s")
    rows = [made.run("h2", 1, 1.0, rate_mbit=12.0, rate_up_mbit=12.0, path=path)]
    told = analyse(made.results(rows)).conditions.notable_constants
    assert "12 and 1 Mbit/s from 0 and 200 ms" in told and "blackouts 1 s to 2 s" in told
    assert "12 Mbit/s" not in told
    grid: dict[str, dict[str, Any]] = {
        "plain": {"path.rate": "12 Mbit/s"},
        "steps": {"path.rate": {"steps": [{"at": "0 s", "rate": "12 Mbit/s"}]}},
    }
    found = studied(
        grid, rate_mbit=dict.fromkeys(grid, 12.0), path={"plain": (), "steps": path[:1]}
    )
    assert titles(found) == ["12 Mbit/s", "12 and 1 Mbit/s from 0 and 200 ms"]
    assert found.conditions.factors[0].values is None


def test_a_level_of_nothing_is_none() -> None:
    key = "path.blackouts"
    grid: dict[str, dict[str, Any]] = {"a": {key: []}, "b": {key: [["1 s", "2 s"]]}}
    found = studied(grid, path={"a": (), "b": ("blackouts: 1 s to 2 s",)})
    assert titles(found) == ["blackouts none", "blackouts 1 s to 2 s"]
    assert titles(studied(grid)) == ["blackouts none", "blackouts 1 s to 2 s"]
    assert not found.conditions.dependents


@pytest.mark.parametrize(
    ("key", "levels", "column", "recorded", "name"),
    [
        ("path.rtt", ("5 ms", "0.05 s"), "rtt_ms", (5.0, 50.0), "RTT"),
        ("path.rtt", ("5 ms", "50 ms"), "rtt_ms", (14.0, 59.0), "path.rtt"),
        ("path.loss", ("0 %", "2 %"), "loss_pct", (3.0, 4.94), "path.loss"),
        ("path.rate", ("9 Mbit/s", "90 Mbit/s"), "rate_mbit", (9.0, 20.0), "path.rate"),
    ],
)
def test_an_axis_of_one_path_of_several_is_not_called_as_the_whole(
    key: str, levels: tuple[str, ...], column: str, recorded: tuple[float, ...], name: str
) -> None:
    grid = {f"c{place}": {key: level} for place, level in enumerate(levels)}
    analysis = studied(grid, **{column: dict(zip(grid, recorded, strict=True))})
    (factor,) = analysis.conditions.factors
    assert factor.name == name
    whole = [dependent.name for dependent in analysis.conditions.dependents]
    assert ("RTT" in whole) == (name == "path.rtt")
