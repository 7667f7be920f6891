"""Studies of several experiments: contenders, explicit cells, exclusions, published values."""

from __future__ import annotations

import re
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
VALUE = BASE + '[[published]]\ncontender = "h2"\nvalue = 1\nsource = "x"\n'
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


names = st.text("abcdefgh", min_size=1, max_size=6)


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            BASE + '[workload2]\nkind = "x"',
            r"s.toml:4: workload2: unknown key; did you mean 'workload'",
        ),
        (
            'name = "s"\n[workload]\nkind = "paralel"\nsize = "1 MB"',
            r"s.toml:3: workload.*'paralel' is not one of download, parallel, .*, page; did you mean 'parallel'",
        ),
        ('name = "s"\n[workload]\nkind = "parallel"\nsize = "1 MB"', r"workload.count: is missing"),
        (
            'name = "s"\n[workload]\nkind = "parallel"\nsize = "1 MB"\ncount = 0',
            r"s.toml:5: workload.count: must be 1 or more, not 0",
        ),
        (
            'name = "s"\n[workload]\nkind = "migration"\nsize = "1 MB"\nafter = "2 MB"',
            r"s.toml:2: workload: the address would change after the end",
        ),
        (
            'name = "s"\n[workload]\nsize = "1 MB"\ncount = 3',
            r"s.toml:4: workload.count: unknown key",
        ),
        (
            BASE + '[axes]\nprotocol = ["h2"]\n[contenders]\na = {}\nb = { protocol = "h3" }',
            r"s.toml:5: axes.protocol: contender 'b' states its protocol, and so does the axis; leave out",
        ),
        (
            BASE + '[[cells]]\nprotocol = "h3"\n[contenders]\nb = { protocol = "h3" }',
            r"s.toml:5: cells.protocol: contender 'b' states its protocol",
        ),
        (
            BASE + '[axes]\nprotocol = ["h2", "h3"]\n[[cells]]\nprotocol = "h3"',
            r"s.toml:7: cells.protocol: without contenders, .* write them as axes.protocol",
        ),
        (
            'contenders = ["a"]\n' + BASE + '[axes]\nprotocol = ["h2"]',
            r"s.toml:1: contenders: must be a table",
        ),
        (
            BASE + '[[cells]]\nprotocol = "h3"',
            r"s.toml:5: cells.protocol: without contenders, .* write them as axes.protocol",
        ),
        (
            BASE + '[contenders]\na = { protocol = "h7" }',
            r"s.toml:5: contenders.a.protocol: 'h7' is not one of h1, h2, h3",
        ),
        (
            BASE + '[contenders]\na = { client = { programm = "x" } }',
            r"contenders.a.*programm: unknown key; did you mean 'program'",
        ),
        (
            'baseline = "x"\n' + BASE + "[contenders]\na = {}",
            r"s.toml.*baseline 'x' is not a contender; contenders: a",
        ),
        (
            'comparisons = [["a", "b"]]\n' + BASE + "[contenders]\na = {}",
            r"'b' is not a contender; contenders: a",
        ),
        ('comparisons = [["a"]]\n' + BASE + "[contenders]\na = {}", r"s.toml:1: comparisons: "),
        (
            'metrics = ["total"]\n' + BASE,
            r"s.toml:1: metrics: 'total' is no metric; did you mean 'total_s'\? Of \d+ known, the nearest: total_s, ",
        ),
        ("metrics = []\n" + BASE, r"s.toml:1: metrics: .*at least 1"),
        ("repetitions = 0\n" + BASE, r"s.toml:1: repetitions: must be 1 or more, not 0"),
        ("seed = -1\n" + BASE, r"s.toml:1: seed: "),
        ('name = "A B"\n', r"s.toml:1: name: "),
        (BASE + "[experiments]\na = 3", r"s.toml:4: experiments: an experiment must be a table"),
        (
            BASE + '[experiments.a.axes]\npath.los = ["1 %"]',
            r"s.toml:5: experiments.a.axes.path.los: unknown key; did you mean 'loss'",
        ),
        (
            BASE + '[experiments.a.path]\nrate = "ten"',
            r"s.toml:5: experiments.a.path.rate: 'ten' is not a number with a unit",
        ),
        (BASE + '[experiments."A b"]\n', r"experiments.A b"),
        (
            BASE + '[[cells]]\npath.los = "1 %"',
            r"s.toml:5: cells.path.los: unknown key; did you mean 'loss'",
        ),
        ("cells = 3\n" + BASE, r"s.toml:1: cells: must be a list of tables, such as \[\[cells\]\]"),
        ('exclude = ["a"]\n' + BASE, r"s.toml:1: exclude: must be a list of tables"),
        (
            BASE + '[axes]\npath.rtt = ["1 ms"]\n[[exclude]]\npath.rt = "1 ms"',
            r"s.toml:7: exclude.path.rt: is not an axis; did you mean 'path.rtt'",
        ),
        (
            BASE + '[axes]\npath.rtt = ["1 ms"]\n[[exclude]]\npath.rtt = "1 ms"',
            r"s.toml.*exclude: no cell is left",
        ),
        (
            BASE + '[axes]\npath.rtt = ["1 ms"]\n[[cells]]\npath.rtt = "1 ms"',
            r"s.toml:6: cells: .*twice",
        ),
        (BASE + '[contenders]\n"a b" = {}\nab = {}', r"contenders: 'a b' and 'ab' .*same"),
        (
            BASE + '[[published]]\ncontender = "h3"\nvalue = 1\nsource = "x"',
            r"'h3' is not a contender; contenders: h2",
        ),
        (BASE + '[[published]]\nvalue = 1\nsource = "x"', r"published.contender: is missing"),
        (
            BASE
            + '[axes]\npath.rtt = ["1 ms"]\n[[published]]\ncontender = "h2"\nvalue = 1\nsource = "x"',
            r"s.toml:6: published.where: no value for path.rtt",
        ),
        (
            BASE
            + '[axes]\npath.rtt = ["1 ms"]\n[[published]]\ncontender = "h2"\nvalue = 1\nsource = "x"\nwhere = { path.rt = "1 ms" }',
            r"'path.rt' is not an axis; did you mean 'path.rtt'",
        ),
        (
            BASE + '[[published]]\ncontender = "h2"\nvalue = 1\nunit = "min"\nsource = "x"',
            r"s.toml:4: published: the unit must be 's' or 'ms', not 'min'",
        ),
        (
            VALUE + 'at = "5 s"',
            r's.toml:4: published: `at` is now `from`, `to` and `origin`: at = "5 s" was from = "4.5 s"',
        ),
        (
            VALUE + 'from = "4 s"\nto = "5 s"\norigin = "start"',
            r"s.toml:4: published: from, to and origin are for goodput_mbit, .*; total_s has one a run",
        ),
        (VALUE + 'origin = "first byte"', r"published: from, to and origin .* are given together"),
        (
            GOODPUT + 'from = "4 s"\nto = "5 s"',
            r'published: from, to and origin \(which is "start" or "first byte"\) are given together',
        ),
        (
            GOODPUT + 'from = "5 s"\nto = "5 s"\norigin = "start"',
            r"published: to \(5 s\) must be later than from \(5 s\)",
        ),
        (
            GOODPUT + 'from = "4 s"\nto = "5 s"\norigin = "first data"',
            r"s.toml:11: published.origin: 'first data' is not one of start, first byte",
        ),
        (
            GOODPUT + 'from = "4"\nto = "5 s"\norigin = "start"',
            r"s.toml:9: published.from: 4 has no unit",
        ),
        (
            VALUE + 'form = "4 s"',
            r"s.toml:8: published.form: unknown key; did you mean 'from'",
        ),
        (VALUE + 'since = "4 s"', r"s.toml:8: published.since: unknown key"),
        (
            VALUE + 'statistic = "mode"',
            r"s.toml:8: published.statistic: 'mode' is not one of mean, median",
        ),
        (VALUE + "n = 0", r"s.toml:8: published.n: must be 1 or more, not 0"),
        (VALUE + "sd = -1", r"s.toml:8: published.sd: must be 0.0 or more, not -1"),
        (VALUE + 'statistic = "median"\nsd = 1', r"published: sd is the spread of a mean"),
        (VALUE + "q1 = 0.5\nq3 = 2", r"published: q1 and q3 are the spread of a median"),
        (VALUE + 'statistic = "median"\nq1 = 0.5', r"published: q1 and q3 are given together"),
        (
            VALUE + 'statistic = "median"\nq1 = 2\nq3 = 3',
            r"published: the median \(1\) must lie between q1 and q3",
        ),
        (
            BASE + '[[published]]\ncontender = "h2"\nmetric = "ttfb_s"\nvalue = 1\nsource = "x"',
            r"s.toml:6: published.metric: ttfb_s is not one of the experiment's metrics: total_s",
        ),
        (
            BASE + '[proxy]\nprogram = "envoy"\nupstream.protocol = "h9"',
            r"s.toml:6: proxy.upstream.protocol: 'h9' is not one of",
        ),
        (
            BASE + '[proxy]\nprogram = "envoy"\nupstream = { protocol = "h2", tls = false }',
            r"h2 needs TLS",
        ),
        (
            BASE + "[capture]\nqlogs = true",
            r"s.toml:5: capture.qlogs: unknown key; did you mean 'qlog'",
        ),
        (BASE + "[limits]\ncpu = 5", r"s.toml:5: limits.cpu: 5 has no unit"),
        (
            BASE + '[limits]\nwall = "5 s"',
            r"s.toml:4: limits: `wall` is no limit, .*; `cpu` limits",
        ),
        (BASE + "[client]\ninitial_window = 0", r"s.toml:5: client.initial_window: "),
        (BASE + "quick = 3", r"unknown key|quick"),
    ],
)
def test_one_line_names_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(WrongInputError) as caught:
        parse(text)
    said = str(caught.value)
    assert re.search(message, said), said
    assert "\n" not in said and caught.value.exit_status == 2


def test_a_study_without_a_quick_form_says_so() -> None:
    with pytest.raises(WrongInputError, match=r"s.toml: has no quick form"):
        parse(BASE, quick=True)
