"""What the contenders were, in the paragraph for a paper."""

from __future__ import annotations

import polars as pl

from headway.analysis import analyse
from headway.analysis.result_loading import StudyResults
from headway.report.definitions import definitions
from headway.report.paragraph import methods_paragraph
from tests.unit import made_results as made


def defined(results: StudyResults) -> str:
    return definitions(results, analyse(results)).text


def test_contenders_are_told_by_protocol_programs_and_control() -> None:
    said = defined(made.results(made.grid()))
    assert (
        "All contenders had TLS, the client curl, the server nginx and the server's own initial"
        in said
    )
    assert "h2 was HTTP/2 over TCP with the client's congestion control cubic" in said
    assert (
        "h3 was HTTP/3 over QUIC" in said and "the server's congestion control nginx's own" in said
    )


def test_what_differs_is_of_each_and_what_does_not_of_all() -> None:
    rows = [
        made.run(name, seed, 1.0, protocol="h3", server=server, server_cc=cc, server_iw=iw)
        for name, server, cc, iw in (("a", "caddy", "bbr3", 32), ("b", "nginx", "bbr3", 10))
        for seed in (1, 2)
    ]
    told = made.experiments({"name": "", "contenders": {"a": {}, "b": {}}})
    said = defined(made.results(rows, told))
    assert "All contenders had HTTP/3 over QUIC, TLS, the client curl" in said
    assert "the server's congestion control bbr3" in said.partition(". ")[0]
    assert "a had the server caddy and the server's initial window of 32 packets" in said
    assert "b had the server nginx and the server's initial window of 10 packets." in said


def test_what_only_the_study_tells_apart_is_told_as_it_has_it() -> None:
    rows = made.runs({"a": [1.0], "b": [1.0]}, protocol="h2")
    given = {"a": {}, "b": {"server": {"knobs": {"scheduler": "fifo"}}}}
    said = defined(made.results(rows, made.experiments({"name": "", "contenders": given})))
    assert "b had the settings in the study server scheduler fifo" in said
    assert "a had none of these" in said


def flows() -> StudyResults:
    cells = {
        "cell": {
            "two": {"cubic": [[5.0, 5.0]] * 2},
            "mixed": {"bbr": [[6.0]] * 2, "cubic": [[4.0]] * 2},
        }
    }
    told = {
        "name": "",
        "metrics": ["first_ratio", "jain_index"],
        "contenders": {"two": {}, "mixed": {}},
    }
    found = made.competing(cells, told, server_iw=10, client="headway-perf")
    assert found.flows is not None

    is_bbr = pl.col("named") == "bbr"
    return StudyResults(
        found.runs,
        found.manifest,
        found.flows.with_columns(
            pl.when(is_bbr).then(pl.lit("quic")).otherwise(pl.lit("tcp")).alias("protocol"),
            pl.when(is_bbr).then(pl.lit("bbr3")).otherwise(pl.lit("cubic")).alias("server_cc"),
            # Two flows of a name have names of their own.
            (pl.col("named") + pl.int_range(pl.len()).over("run_id", "named").cast(str)).alias(
                "flow"
            ),
        ),
    )


def test_flows_are_defined_and_contenders_by_them() -> None:
    said = defined(flows())
    assert "bbr was QUIC with the server's congestion control bbr3" in said
    assert "cubic was TCP with the server's congestion control cubic" in said
    assert "the server's initial window of 10 packets and the workload bulk download 20 s" in said
    assert "two was 2 flows of cubic; mixed was a flow of bbr and a flow of cubic." in said


def test_a_flow_that_is_another_in_another_contender_is_told_with_it() -> None:
    found = flows()
    assert found.flows is not None

    other = (pl.col("named") == "cubic") & (pl.col("contender") == "mixed")
    changed = pl.when(other).then(pl.lit("reno")).otherwise(pl.col("server_cc")).alias("server_cc")
    said = defined(StudyResults(found.runs, found.manifest, found.flows.with_columns(changed)))
    assert "cubic was TCP; bbr was QUIC with the server's congestion control bbr3." in said
    assert said.endswith(
        "Of the contenders, two was 2 flows of cubic with the server's congestion control cubic; mixed was a flow of "
        "bbr and a flow of cubic with the server's congestion control reno."
    )


def test_the_paragraph_has_definitions_metrics_and_the_rule() -> None:
    found = flows()
    said = methods_paragraph(found, [analyse(found)])
    assert (
        "compared by goodput of the first flow over the others' and Jain's fairness index" in said
    )
    assert "Of the contenders, two was 2 flows of cubic" in said
    assert "below 90 % of its fair share, and starves it below 20 %" in said
    assert "The same in all cells were: " in said
    assert "client cubic, server" not in said


def test_contenders_of_the_same_flows_are_defined_by_their_settings() -> None:
    both = {"a": [[5.0]] * 2, "b": [[5.0]] * 2}
    queues = {name: {"path": {"queue": {"discipline": name}}} for name in ("droptail", "codel")}
    told = {"name": "", "metrics": ["first_ratio"], "contenders": queues}
    said = defined(made.competing({"cell": {"droptail": both, "codel": both}}, told))
    assert "droptail was a flow of a and a flow of b (queue discipline droptail);" in said
    assert "codel was a flow of a and a flow of b (queue discipline codel)." in said


def test_a_background_is_told_as_a_flow_and_not_as_a_key() -> None:
    both = {"a": [[5.0]] * 2, "b": [[5.0]] * 2}
    flows = {
        name: {"flows": {"b": {"background": name == "behind"}}} for name in ("behind", "beside")
    }
    told = {"name": "", "metrics": ["first_ratio"], "contenders": flows}
    found = made.competing({"cell": {"behind": both, "beside": both}}, told)
    assert found.flows is not None
    behind = (pl.col("named") == "b") & (pl.col("contender") == "behind")
    said = methods_paragraph(
        StudyResults(found.runs, found.manifest, found.flows.with_columns(background=behind)),
        [analyse(found)],
    )
    assert (
        "behind was a flow of a and a flow of b in the background; beside was a flow of a" in said
    )
    assert "flows.b" not in said and "True" not in said
    assert said.count("behind") == said.count("beside") == 1
