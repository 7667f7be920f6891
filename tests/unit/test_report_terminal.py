"""The terminal's summary: at 80 columns, without colour."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from headway.report import Report
from tests.unit import made_results as made


def shown(rows: list[dict[str, Any]], manifest: dict[str, Any] | None = None) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=80, color_system=None)
    Report(Path(), made.results(rows, manifest)).print_summary(console)
    return stream.getvalue()


def test_table_and_sentences() -> None:
    text = shown(made.grid())
    lines = [line.rstrip() for line in text.splitlines()]
    assert max(map(len, lines)) <= 80
    assert lines[0] == "made"
    table = [line.split() for line in lines]
    assert ["1", "MB", "0", "%", "1.00", "1.00", "1.20", "h1/h2", "=", "+20"] in table
    assert any("1/8 failed" in line for line in lines)
    assert "Answer" in lines
    assert "One by one" in lines
    assert "±0.11" in text


def test_too_wide_a_table_puts_spreads_below() -> None:
    names = ("h1", "h2", "h3", "h4", "h5", "h6")
    times = {name: [100.1, 101.7, 103.2, 99.5, 98.1] for name in names}
    text = shown(made.runs(times))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "100" in text


@pytest.mark.parametrize(
    "times",
    [{"h2": [None, None], "h3": [None]}, {"h2": [1.0]}, {"h1": [1.0], "h3": [2.0]}],
    ids=["only failures", "one contender", "no baseline"],
)
def test_odd_studies(times: dict[str, list[float | None]]) -> None:
    assert "Answer" in shown(made.runs(times))


def test_many_factors_share_a_column() -> None:
    rows = []
    for place in range(2):
        for key in ("rate_mbit", "rtt_ms", "loss_pct", "jitter_ms", "server_iw"):
            cell = {"rate_mbit": 1.0, "rtt_ms": 1.0, "loss_pct": 1.0, "jitter_ms": 1.0}
            cell |= {"server_iw": 10, key: 2.0 + place}
            cell["server_iw"] = int(cell["server_iw"])
            rows += made.runs({"h2": [1.0], "h3": [2.0]}, cell=f"{key}-{place}", **cell)
    text = shown(rows)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80


def test_large_studies_are_counted() -> None:
    rows = [
        row
        for rtt in range(50)
        for row in made.runs(
            {"h2": [1.0, 1.0], "h3": [2.0, 2.0]}, cell=f"rtt_{rtt}", rtt_ms=float(rtt)
        )
    ]
    text = shown(rows)
    assert ["h3", "vs", "h2", "0", "50", "+100", "0", "0"] in [
        line.split() for line in text.splitlines()
    ]
    assert "The report says 50 more sentences." in text
    assert len(text.splitlines()) < 20


def many(cells: int) -> list[dict[str, Any]]:
    names = [f"client-{number:02d}-h3" for number in range(14)]
    return [
        row
        for rtt in range(cells)
        for row in made.runs(
            {name: [1.0 + place, 1.0 + place] for place, name in enumerate(names)},
            cell=f"rtt_{rtt}",
            rtt_ms=float(rtt),
        )
    ]


def test_many_contenders_in_few_cells_are_rows() -> None:
    lines = [line.split() for line in shown(many(2)).splitlines()]
    assert ["client-03-h3", "4.00", "+300", "4.00", "+300"] in lines


def test_many_contenders_in_many_cells_are_counted() -> None:
    text = shown(many(9))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "client-13-h3 vs client-00-h3" in text


def test_every_experiment_has_its_summary() -> None:
    rows = [
        row
        for name in ("one", "two")
        for row in made.runs({"h2": [1.0], "h3": [2.0]}, experiment=name, cell=f"{name}-cell")
    ]
    text = shown(rows, made.experiments({"name": "one"}, {"name": "two", "question": "Is two?"}))
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines.index("one") < lines.index("two") < lines.index("Is two?")
    assert lines.count("Answer") == 2


def test_published_values_are_counted_and_not_listed() -> None:
    told = {"contender": "h2", "cell": "cell", "metric": "total_s", "unit": "s", "source": "x"}
    values = [told | {"value": 0.5 + 0.001 * place} for place in range(1000)]
    manifest = made.experiments({"name": "", "published": values})
    text = " ".join(shown(made.runs({"h2": [1.0, 1.0]}), manifest).split())
    # 1 s is within 15 % of 0.870 to 1.176 s.
    assert "1000 published values beside ours (agrees: 307; differs in size: 693)." in text
    assert len(text) < 1500


def test_a_failed_self_test_is_said_first() -> None:
    (check,) = made.MANIFEST["self_test"]
    failed = {"self_test": [check | {"name": "loss", "path": "p", "measured": 1}]}
    assert "The emulation failed its own test: loss (p)." in shown(made.grid(), failed)


@pytest.mark.parametrize(
    ("ticks", "told"),
    [
        (2, "2 runs may not repeat exactly, such as "),
        (0, ""),
    ],
)
def test_runs_that_were_interrupted_are_named(ticks: int, told: str) -> None:
    rows = made.runs({"h2": [1.0], "h3": [2.0]}, forced_ticks=ticks)
    text = " ".join(shown(rows).split())
    assert ("may not repeat" in text) == bool(told)
    assert told in text
    assert ("(2 forced ticks)" in text) == bool(told)


def test_notes_that_follow_from_a_short_form_are_counted() -> None:
    few, other = "of 6 repetitions none", "a recording lacks a file"
    text = shown(
        made.runs({"h2": [1.0, 2.0], "h3": [0.5, 0.7]}),
        {**made.MANIFEST, "notes": [few, other], "of_short_form": [few]},
    )
    assert f"Note: {other}." in text and few not in text
    assert "This is the study's short form; the report has 1 note on that." in text


def test_constants_have_keys_or_units() -> None:
    """Those of flows, of which each has a protocol and programs of its own."""
    rows = made.runs({"both": [1.0, 2.0]}, protocol="tcp, quic", client="headway-perf")
    text = " ".join(shown([row | {"server": "headway-perf"} for row in rows]).split())
    for said in ("protocol tcp, quic", "server headway-perf", "client headway-perf", "server's CC"):
        assert said in text
