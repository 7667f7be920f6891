"""Who got how much: the rule, its sentences, the tables and the figure."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import headway
from headway.analysis import Analysis, analyse
from headway.analysis.result_loading import StudyResults
from headway.analysis.rival_shares import Getting, besides
from headway.analysis.shares import Shared, shares
from headway.analysis.sharewords import share_sentences
from headway.records.store import FLOWS_FILE
from headway.report import Report
from headway.report.figures.goodput import KIND as GOODPUT
from headway.report.figures.kind import NARROW, WIDE, Subject
from headway.report.figures.shares import KIND as SHARES
from headway.report.sheet import Text
from headway.report.styles import study_styles
from headway.report.tables.shares import shares_frame, shares_table
from tests.unit import made_results as made

SEVEN = (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)


def about(*middles: float) -> list[list[float]]:
    """What flows of a name got in seven runs: these, a little more or less."""
    return [[middle + step for middle in middles] for step in SEVEN]


def against(*middles: float) -> list[list[float]]:
    """The same, with what the others have less."""
    return [[middle - step for middle in middles] for step in SEVEN]


def queue(size: str, discipline: str) -> dict[str, Any]:
    return {"path.queue": {"size": size, "discipline": discipline}}


GRID = [
    {"name": "deep", "at": queue("4 BDP", "droptail")},
    {"name": "shallow", "at": queue("0.5 BDP", "droptail")},
    {"name": "deep-fq", "at": queue("4 BDP", "fq_codel")},
    {"name": "shallow-fq", "at": queue("0.5 BDP", "fq_codel")},
]
EXPERIMENT = {
    "name": "",
    "metrics": ["first_ratio"],
    "baseline": "cubic v cubic",
    "contenders": {"cubic v cubic": {}, "bbr3 v cubic": {}},
    "grid": GRID,
}
"""The user's: CUBIC takes from BBR in a deep buffer, BBR from CUBIC in a shallow one, and fq_codel is even."""
CELLS: dict[str, dict[str, made.Goodputs]] = {
    "deep": {
        "bbr3 v cubic": {"bbr3": about(15.1), "cubic": against(32.3)},
        "cubic v cubic": {"cubic": [[30.8 + step, 16.5 - step] for step in SEVEN]},
    },
    "shallow": {
        "bbr3 v cubic": {"bbr3": about(27.9), "cubic": against(18.9)},
        "cubic v cubic": {"cubic": [[23.4 + step, 23.4 - step] for step in SEVEN]},
    },
    "deep-fq": {
        "bbr3 v cubic": {"bbr3": about(22.3), "cubic": against(24.1)},
        "cubic v cubic": {"cubic": about(23.2, 23.2)},
    },
    "shallow-fq": {
        "bbr3 v cubic": {"bbr3": about(23.1), "cubic": against(23.3)},
        "cubic v cubic": {"cubic": about(23.2, 23.2)},
    },
}


def results() -> StudyResults:
    return made.competing(CELLS, EXPERIMENT)


def analysis_of(cells: dict[str, dict[str, made.Goodputs]], **more: Any) -> Analysis:
    return analyse(made.competing(cells, **more))


def one_cell(**names: list[list[float]]) -> Analysis:
    return analysis_of({"cell": {"a v b": names}})


def test_the_answer_says_who_got_how_much_and_where() -> None:
    first, mixed, alike, beside = share_sentences(analyse(results()))
    assert first == (
        "Nobody is starved (below 20 % of a fair share): the least, bbr3 beside cubic at 4 BDP droptail, has 64 % "
        "of its fair share (95 % interval 62 to 65 % in 7 runs)."
    )
    assert mixed == (
        "bbr3 v cubic: cubic takes from bbr3 at 4 BDP droptail (bbr3 gets 15.1 and cubic 32.3 of 47.4 Mbit/s); "
        "bbr3 takes from cubic at 0.5 BDP droptail (bbr3 gets 27.9 and cubic 18.9 of 46.8 Mbit/s); "
        "even with fq_codel (the least has 96 % of its fair share)."
    )
    assert "uneven among cubic's two at 4 BDP droptail (its two get 30.8 and 16.5 of 47.3" in alike
    assert beside.startswith("Beside bbr3, cubic gets ")
    assert "37 % more" in beside and "19 % less" in beside
    assert "as much" in beside and "with fq_codel (within 10 %)" in beside


def test_cells_of_opposite_kinds_are_not_averaged() -> None:
    """Shallow and deep buffers say the opposite of each other: no sentence has one number for both."""
    (mixed,) = [one for one in share_sentences(analyse(results())) if one.startswith("bbr3 v")]
    assert "bbr3 takes from cubic" in mixed and "cubic takes from bbr3" in mixed
    assert "mean" not in mixed and "in all" not in mixed


@pytest.mark.parametrize(
    ("least", "sharing"),
    [(1.0, Shared.STARVED), (3.0, Shared.TAKEN), (8.5, Shared.TAKEN), (9.5, Shared.EVEN)],
)
def test_the_rule(least: float, sharing: Shared) -> None:
    """Of 20 Mbit/s that two flows share, 10 are fair: below 9 is uneven, below 2 starved."""
    (found,) = shares(one_cell(a=against(20 - least), b=about(least)))
    assert found.sharing is sharing
    assert (found.taker, found.taken) == (("a", "b") if found.uneven else ("", ""))


def test_what_the_runs_do_not_tell_is_not_clear() -> None:
    luck = [[4.0], [16.0], [6.0], [14.0], [10.0], [9.0], [11.0]]
    (found,) = shares(one_cell(a=luck, b=[[20 - one] for (one,) in luck]))
    assert found.sharing is Shared.UNCLEAR
    told = share_sentences(one_cell(a=luck, b=[[20 - one] for (one,) in luck]))
    assert any(
        "not clear whether even (a gets 10.0 and b 10.0 of 20.0 Mbit/s;" in one for one in told
    )


def test_even_in_the_middle_but_not_in_any_run_is_not_even() -> None:
    """Each name has its fair share in the median run, and never is it even."""
    turns = [[15.0], [5.0], [15.0], [5.0], [15.0], [5.0], [10.0]]
    (found,) = shares(one_cell(a=turns, b=[[20 - one] for (one,) in turns]))
    assert found.sharing is Shared.UNCLEAR


def test_a_single_run_is_told_and_not_judged() -> None:
    (found,) = shares(one_cell(a=[[15.0]], b=[[5.0]]))
    assert found.sharing is Shared.UNTOLD and found.runs == 1
    (said,) = share_sentences(one_cell(a=[[15.0]], b=[[5.0]]))
    assert said == "a v b: a single run (a gets 15.0 and b 5.00 of 20.0 Mbit/s)."


def test_who_wants_less_than_its_share_is_not_starved() -> None:
    """A call of 1 Mbit/s has all that it asks for."""
    cells = {"cell": {"a v b": {"a": about(19.0), "b": against(1.0)}}}
    (found,) = shares(analysis_of(cells, workload="call download 1 Mbit/s for 20 s"))
    assert found.sharing is Shared.UNTOLD
    assert found.names[1].mbit.median == pytest.approx(1.0)


def test_fair_shares_are_those_of_max_min_rates() -> None:
    """A flow over two full links may have less: the fair rates say so."""
    cells = {"cell": {"a v b": {"a": about(5.0), "b": against(15.0)}}}
    (uneven,) = shares(analysis_of(cells))
    assert uneven.sharing is Shared.TAKEN
    made_results = made.competing(cells)
    assert made_results.flows is not None

    fair = pl.when(pl.col("named") == "a").then(5.0).otherwise(15.0)
    flows = made_results.flows.with_columns(fair.alias("fair_mbit"))

    (even,) = shares(analyse(replace(made_results, flows=flows)))
    assert even.sharing is Shared.EVEN


def test_flows_of_a_name_are_ranked_in_every_run() -> None:
    """Whichever of two alike flows has luck, one has 3 of 4 parts in every run."""
    (found,) = shares(analysis_of({"cell": {"two": {"a": [[15.0, 5.0], [5.0, 15.0]] * 4}}}))
    (name,) = found.names
    assert [one.mbit.median for one in name.ranked] == [15.0, 5.0]
    assert name.mbit.median == 10.0 and found.sharing is Shared.TAKEN and not found.taker


def test_what_a_flow_gets_beside_others_is_paired_by_seed() -> None:
    found = {one.one.cell.name: one for one in besides(analyse(results()))}
    assert found["deep"].getting is Getting.MORE and found["shallow"].getting is Getting.LESS
    assert found["deep-fq"].getting is Getting.AS_MUCH
    assert found["deep"].difference.seeds == (1, 2, 3, 4, 5, 6, 7)
    assert {one.named for one in found.values()} == {"cubic"}


def test_runs_in_which_a_flow_failed_are_left_out() -> None:

    failed = results()
    assert failed.flows is not None
    gone = (pl.col("seed") == 1) & (pl.col("named") == "cubic")
    status = pl.when(gone).then(pl.lit("failed")).otherwise(pl.col("status")).alias("status")

    told = shares(analyse(replace(failed, flows=failed.flows.with_columns(status))))
    assert {one.runs for one in told} == {6}


def test_studies_without_flows_say_nothing_of_them() -> None:
    analysis = analyse(made.results(made.grid()))
    assert shares(analysis) == () and share_sentences(analysis) == ()
    assert shares_table(analysis).rows == () and shares_frame([analysis]).is_empty()
    assert SHARES.draw(Subject(analysis, study_styles([analysis]))) is None


def test_the_table_has_every_flow() -> None:
    table = shares_table(analyse(results()))
    assert table.count == 16  # four cells, two contenders, two flows
    rows = [row for group in table.rows for row in group]
    assert ("4 BDP droptail", "bbr3 v cubic", "bbr3", "15.1") in {
        (*row[:3], row[4]) for row in rows
    }
    assert {row[-1] for row in rows} == {"takes", "loses", "even", "uneven", ""}
    frame = shares_frame([analyse(results())])
    assert frame.height == 16 and frame.filter(rank=2, cell="deep")["goodput_mbit"].to_list() == [
        16.5
    ]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_figure_has_every_flows_goodput(width: float) -> None:
    analysis = analyse(results())
    picture = SHARES.draw(Subject(analysis, study_styles([analysis])))
    assert picture is not None
    texts = [one.text for one in picture.drawing(width).shapes if isinstance(one, Text)]
    assert {"15.1", "32.3", "27.9", "18.9", "30.8", "16.5"} <= set(texts)
    assert {"cubic takes", "bbr3 takes", "even", "uneven"} <= set(texts)
    assert "bbr3 v cubic: bbr3 gets 15.1 and cubic 32.3 of 47.4 Mbit/s, cubic takes" in picture.said


def test_the_sum_of_flows_that_compete_is_not_drawn() -> None:
    """It is the link's rate, whoever has it."""
    together = made.competing(CELLS, EXPERIMENT)

    bytes_each = pl.concat_list([pl.lit(1000)] * 20).alias("received_bytes")
    runs = together.runs.with_columns(bytes_each)

    analysis = analyse(replace(together, runs=runs))
    subject = Subject(analysis, study_styles([analysis]))
    assert GOODPUT.draw(subject) is None
    alone = analyse(replace(together, runs=runs, flows=None))
    assert GOODPUT.draw(Subject(alone, study_styles([alone]))) is not None


def test_the_terminal_says_it_first() -> None:
    stream = io.StringIO()
    Report(Path(), results()).print_summary(Console(file=stream, width=80, color_system=None))
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    words = [line.split() for line in lines]
    assert ["bbr3", "v", "cubic", "bbr3", "15.1", "±0.3", "32", "%", "64", "%", "loses"] in words
    table, answer = lines.index("Who got how much [Mbit/s]"), lines.index("Answer")
    metric = next(
        place for place, line in enumerate(lines) if line.startswith("goodput of the first")
    )
    assert table < answer < metric
    assert lines[answer + 1].startswith("- Nobody is starved")


def test_many_cells_are_counted_and_the_terminal_has_those_that_are_not_even() -> None:
    """Sixteen cells, in six of which b loses, all with a queue below 4 BDP or 40 ms."""
    grid, cells = [], {}
    for size in ("1 BDP", "2 BDP", "4 BDP", "8 BDP"):
        for rtt in ("10 ms", "20 ms", "40 ms", "80 ms"):
            name = f"{size} {rtt}"
            grid.append({"name": name, "at": {"path.queue": size, "path.rtt": rtt}})
            loses = size in ("1 BDP", "2 BDP") and rtt != "80 ms"
            least = 4.0 if name == "1 BDP 10 ms" else 6.0 if loses else 9.8
            cells[name] = {"a v b": {"a": against(20 - least), "b": about(least)}}
    told = {"name": "", "metrics": ["first_ratio"], "contenders": {"a v b": {}}, "grid": grid}
    found = made.competing(cells, told)
    rates = {name: float(name.split()[2]) for name in cells}
    rtt = pl.col("cell").replace_strict(rates, return_dtype=pl.Float64).alias("rtt_ms")
    found = replace(found, runs=found.runs.with_columns(rtt))
    (_, said) = share_sentences(analyse(found))
    assert (
        "a takes from b in 6 of 16 conditions (most at queue 1 BDP at RTT 10 ms: a gets 16.0"
        in said
    )
    assert "even in 10 of 16 conditions (the least has 98 % of its fair share)" in said


def test_levels_of_one_axis_are_told_as_a_span() -> None:
    sizes = ("1 BDP", "2 BDP", "4 BDP", "8 BDP")
    grid = [{"name": size, "at": {"path.queue": size}} for size in sizes]
    cells = {
        size: {"a v b": {"a": against(20 - least), "b": about(least)}}
        for size, least in zip(sizes, (4.0, 5.0, 9.8, 9.8), strict=True)
    }
    told = {"name": "", "metrics": ["first_ratio"], "contenders": {"a v b": {}}, "grid": grid}
    (_, said) = share_sentences(analyse(made.competing(cells, told)))
    assert said.startswith("a v b: a takes from b up to queue 2 BDP (most at queue 1 BDP: a gets")
    assert "; even from queue 4 BDP on (" in said


def test_a_long_table_on_the_terminal_leaves_out_what_is_even() -> None:
    cells = {
        f"cell {number:02}": {"a v b": {"a": against(20 - least), "b": about(least)}}
        for number in range(30)
        for least in [4.0 if number < 3 else 9.8]
    }
    stream = io.StringIO()
    Report(Path(), made.competing(cells)).print_summary(
        Console(file=stream, width=80, color_system=None)
    )
    text = " ".join(stream.getvalue().split())
    assert text.count(" takes ") >= 3 and "Left out: 27 of 30, which are even." in text


def test_a_notebook_has_the_shares_as_a_frame(tmp_path: Path) -> None:
    found = results()
    assert found.flows is not None
    made.saved(tmp_path, found.runs.to_dicts(), found.manifest.model_dump(mode="json"))
    found.flows.write_parquet(tmp_path / FLOWS_FILE)
    frame = headway.read(tmp_path).shares
    assert frame.filter(cell="deep", flow="bbr3").select(
        "goodput_mbit", "sharing", "taker"
    ).rows() == [(15.1, "taken from", "cubic")]


def test_starvation_is_what_is_said_first() -> None:
    """By the contender that starves, though another that only takes stands before it."""
    cells = {
        "cell": {
            "a v c": {"a": about(7.0), "c": against(13.0)},
            "b v c": {"b": against(19.0), "c": about(1.0)},
        }
    }
    first, *others = share_sentences(analysis_of(cells))
    assert first == (
        "There is starvation (below 20 % of a fair share): c beside b has 10 % of its fair share "
        "(95 % interval 7 to 13 % in 7 runs)."
    )
    assert others[1].startswith("b v c: b starves c (b gets 19.0 and c 1.00 of 20.0 Mbit/s)")


def test_flows_of_a_kind_do_not_stand_for_those_of_different_kinds() -> None:
    cells = {
        "cell": {
            "a v b": {"a": about(8.0), "b": against(12.0)},
            "a v a": {"a": [[15.0 + step, 5.0 - step] for step in SEVEN]},
        }
    }
    (first, *_) = share_sentences(analysis_of(cells))
    assert "the least, a beside b, has 80 % of its fair share" in first


def test_sizes_and_disciplines_may_be_axes_of_their_own() -> None:
    grid = [
        {
            "name": one["name"],
            "at": {f"path.queue.{key}": value for key, value in one["at"]["path.queue"].items()},
        }
        for one in GRID
    ]
    analysis = analyse(made.competing(CELLS, EXPERIMENT | {"grid": grid}))
    assert "queue 4 BDP, droptail" in {cell.title for cell in analysis.cells}
    first, mixed, *_ = share_sentences(analysis)
    assert "bbr3 beside cubic at queue 4 BDP with droptail, has 64 %" in first
    assert "even with fq_codel (" in mixed


def test_contenders_of_the_same_flows_are_told_apart_by_their_names() -> None:
    """Queues as contenders: what differs is not the company."""
    cells = {
        "cell": {
            "droptail": {"a": about(6.0), "b": against(14.0)},
            "fq_codel": {"a": about(10.0), "b": against(10.0)},
        }
    }
    told = {"name": "", "metrics": ["first_ratio"], "contenders": {"droptail": {}, "fq_codel": {}}}
    said = share_sentences(analyse(made.competing(cells, told)))
    assert "the least, a beside b in droptail, has 60 % of its fair share" in said[0]
    assert said[1].startswith("droptail: b takes from a (a gets 6.00 and b 14.0 of 20.0 Mbit/s)")
    assert said[2].startswith("fq_codel: even (")
    assert said[3].startswith("In fq_codel, a gets 67 % more than in droptail (")
    assert said[4].startswith("In fq_codel, b gets 28.6 % less than in droptail (")


@pytest.mark.parametrize(
    ("beside", "getting"),
    [
        ([6.0, 14.0, 7.0, 13.0, 8.0, 12.0, 11.0], Getting.UNCLEAR),
        ([7.0, 7.1, 6.9, 7.2, 6.8, 7.0, 7.1], Getting.LESS),
        ([13.0, 13.1, 12.9, 13.2, 12.8, 13.0, 13.1], Getting.MORE),
        ([9.8, 10.1, 9.9, 10.2, 9.8, 10.0, 10.1], Getting.AS_MUCH),
        ([8.9, 9.9, 9.0, 9.9, 8.8, 9.9, 9.0], Getting.LESS),
    ],
)
def test_what_a_flow_gets_is_unclear_if_it_may_be_more_or_less(
    beside: list[float], getting: Getting
) -> None:
    """Where the interval of the ratio to 10 Mbit/s lies, which it gets beside another of its kind."""
    cells = {
        "cell": {
            "bbr3 v cubic": {
                "bbr3": [[20.0 - mbit] for mbit in beside],
                "cubic": [[mbit] for mbit in beside],
            },
            "cubic v cubic": {"cubic": [[10.0, 10.0] for _ in beside]},
        }
    }
    experiment = {key: value for key, value in EXPERIMENT.items() if key != "grid"}
    (found,) = besides(analyse(made.competing(cells, experiment)))
    assert found.getting is getting
