"""Studies of several experiments: contenders, explicit cells, exclusions, published values."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import WrongInputError
from headway.planning.cells import cell_at, cells
from headway.planning.runs import Run, plan
from headway.study.experiment import Study
from headway.study.host import HTTP, Protocol
from headway.study.load import Source, parse_study
from headway.study.units import Size
from headway.study.workload import Download, Migration, Parallel

BASE = 'name = "s"\n[workload]\nsize = "1 MB"\n'
GOODPUT = (
    'name = "s"\nmetrics = ["goodput_mbit"]\n[[published]]\ncontender = "h2"\nvalue = 1\n'
    'source = "x"\nmetric = "goodput_mbit"\nunit = "Mbit/s"\n'
)
TWO = """\
name = "s"
repetitions = 2

[path]
rate = "10 Mbit/s"

[proxy]
congestion_control = "bbr"

[contenders]
direct = { protocol = "h2" }
proxied = { protocol = "h3", proxy = { program = "envoy" } }

[experiments.small]
workload.size = "1 kB"
axes.path.rtt = ["10 ms", "20 ms"]

[experiments.large]
repetitions = 3
workload.size = "1 MB"
axes.path.loss = ["0 %", "1 %", "2 %"]
"""


def parse(text: str, *, quick: bool = False) -> Study:
    return parse_study(Source("s.toml", text, Path()), quick=quick)


def test_experiments_inherit_what_the_study_says() -> None:
    study = parse(TWO)
    small, large = study.experiments
    assert (small.name, large.name) == ("small", "large")
    assert (small.repetitions.most, large.repetitions.most) == (2, 3)
    runs = plan(study)
    assert len(runs) == 2 * 2 * 2 + 3 * 2 * 3
    assert {run.setting.path.links[0].down.first_rate for run in runs} == {10**7}
    assert {run.experiment for run in runs} == {"small", "large"}


def test_a_proxy_is_there_for_those_who_name_its_program() -> None:
    for run in plan(parse(TWO)):
        proxy = run.setting.proxy
        assert (proxy is not None) == (run.contender == "proxied")
        if proxy:
            assert (proxy.program, str(proxy.congestion_control)) == ("envoy", "bbr")


def test_cells_are_added_and_left_out() -> None:
    text = BASE + (
        '[axes]\npath.rtt = ["10 ms", "20 ms"]\npath.loss = ["0 %", "1 %"]\n'
        'protocol = ["h2", "h3"]\n'
        '[[cells]]\npath.rtt = "300 ms"\npath.loss = "5 %"\n'
        '[[exclude]]\npath.rtt = "20 ms"\npath.loss = ["1 %"]\n'
        '[[exclude]]\npath.rtt = "10 ms"\ncontender = "h3"\n'
    )
    runs = plan(parse(text))
    met = {
        (run.setting.path.rtt.ms, run.setting.path.links[0].down.loss.mean, run.contender)
        for run in runs
    }
    assert met == {
        (10, 0, "h2"),
        (10, 0.01, "h2"),
        (20, 0, "h2"),
        (20, 0, "h3"),
        (300, 0.05, "h2"),
        (300, 0.05, "h3"),
    }


def test_comparisons_are_with_the_baseline_unless_listed() -> None:
    text = BASE + '[axes]\nprotocol = ["h1", "h2", "h3"]\n'
    assert parse(text).experiments[0].pairs == (("h1", "h2"), ("h3", "h2"))
    assert parse('baseline = "h1"\n' + text).experiments[0].pairs == (("h2", "h1"), ("h3", "h1"))
    listed = parse('comparisons = [["h3", "h1"]]\n' + text).experiments[0].pairs
    assert listed == (("h3", "h1"),)


def test_contenders_are_crossed_with_protocols_that_they_leave_open() -> None:
    axes = '[axes]\nprotocol = ["h2", "h3"]\npath.loss = ["0 %", "1 %"]\n'
    made = "[contenders]\nbefore = {}\nafter = { server = { program = 'caddy' } }\n"
    (experiment,) = parse(BASE + made + axes).experiments
    assert list(experiment.contenders) == ["before", "after"]
    assert experiment.pairs == (("after", "before"),)
    found = {
        (run.cell, run.contender): run.setting.protocol for run in plan(parse(BASE + made + axes))
    }
    assert found == {
        (f"protocol_{spoken}-loss_{loss}pct", name): spoken
        for spoken in ("h2", "h3")
        for loss in (0, 1)
        for name in ("before", "after")
    }


def test_the_quick_form_changes_what_it_says() -> None:
    text = (
        TWO
        + '[quick]\nrepetitions = 1\n[quick.experiments.large]\nrepetitions = 1\naxes.path.loss = ["1 %"]\n'
    )
    assert len(plan(parse(text))) == len(plan(parse(TWO)))
    assert len(plan(parse(text, quick=True))) == 2 * 2 + 2


def test_published_values_have_a_statistic_a_spread_and_a_time() -> None:
    (one,) = (
        parse(GOODPUT + 'from = "4 s"\nto = "5 s"\norigin = "first byte"\nn = 100\nsd = 0.5')
        .experiments[0]
        .published
    )
    assert (one.statistic, one.origin, one.n, one.sd) == ("mean", "first byte", 100, 0.5)
    told = one.model_dump(mode="json")
    assert (told["from"], told["to"], told["origin"]) == ("4 s", "5 s", "first byte")


def test_published_values_find_their_cell() -> None:
    text = TWO + (
        '[[experiments.large.published]]\ncontender = "direct"\nwhere = { path.loss = "2 %" }\n'
        'value = 3.5\nsource = "Figure 1"\n'
    )
    (experiment,) = [one for one in parse(text).experiments if one.published]
    assert cell_at(experiment, experiment.published[0].where) == "large-loss_2pct"
    assert cell_at(experiment, {"path.loss": "3 %"}) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('size = "0 B"', Download(size=Size(0))),
        ('kind = "parallel"\ncount = 20\nsize = "1 MB"', Parallel(size=Size(10**6), count=20)),
        (
            'kind = "migration"\nsize = "5 MB"\nafter = "2 MB"',
            Migration(size=Size(5 * 10**6), after=Size(2 * 10**6)),
        ),
    ],
)
def test_workloads(text: str, kind: object) -> None:
    (run,) = plan(parse(f'name = "s"\n[workload]\n{text}'))
    assert str(run.setting.workload) == str(kind)


@given(
    sizes=st.lists(st.integers(0, 10**7), min_size=1, max_size=4, unique=True),
    rtts=st.lists(st.integers(0, 500), min_size=1, max_size=4, unique=True),
    protocols=st.lists(st.sampled_from(sorted(HTTP)), min_size=1, max_size=3, unique=True),
    repetitions=st.integers(1, 4),
    seed=st.integers(0, 2**31),
)
def test_a_grid_is_the_product_of_its_axes(
    sizes: list[int], rtts: list[int], protocols: list[Protocol], repetitions: int, seed: int
) -> None:
    axes = {
        "workload.size": [f"{size} B" for size in sizes],
        "path.rtt": [f"{rtt} ms" for rtt in rtts],
        "protocol": [str(protocol) for protocol in protocols],
    }
    listed = "\n".join(f"{axis} = {values}" for axis, values in axes.items())
    study = parse(f'name = "s"\nseed = {seed}\nrepetitions = {repetitions}\n[axes]\n{listed}')
    runs = plan(study)
    assert len(runs) == len(sizes) * len(rtts) * len(protocols) * repetitions
    assert len({run.run_id for run in runs}) == len(runs)
    met = {(int(r.setting.workload.size), r.setting.path.rtt.ms, r.contender, r.rep) for r in runs}
    assert len(met) == len(runs)
    assert {run.cell for run in runs} == set(cells(study.experiments[0]))
    for rep, batch in _by_repetition(runs).items():
        assert {run.seed for run in batch} == {seed + rep - 1}
        assert len(batch) == len(sizes) * len(rtts) * len(protocols)
    assert [run.rep for run in runs] == sorted(run.rep for run in runs)


def _by_repetition(runs: tuple[Run, ...]) -> dict[int, list[Run]]:
    found: dict[int, list[Run]] = {}
    for run in runs:
        found.setdefault(run.rep, []).append(run)
    return found


@given(
    excluded=st.sets(
        st.tuples(st.sampled_from(["10 ms", "20 ms"]), st.sampled_from(["0 %", "1 %"]))
    )
)
def test_exclusions_leave_the_rest(excluded: set[tuple[str, str]]) -> None:
    rules = "".join(
        f'[[exclude]]\npath.rtt = "{rtt}"\npath.loss = "{loss}"\n' for rtt, loss in sorted(excluded)
    )
    text = BASE + '[axes]\npath.rtt = ["10 ms", "20 ms"]\npath.loss = ["0 %", "1 %"]\n' + rules
    if len(excluded) == 4:
        with pytest.raises(WrongInputError, match="no cell is left"):
            parse(text)
    else:
        assert len(plan(parse(text))) == 4 - len(excluded)


def test_a_study_without_a_quick_form_says_so() -> None:
    with pytest.raises(WrongInputError, match=r"s.toml: has no quick form"):
        parse(BASE, quick=True)
