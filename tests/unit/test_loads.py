"""What stands beside loads of processors."""

from __future__ import annotations

from typing import Any

from headway.analysis import analyse
from headway.analysis.loads import load_sentences
from tests.unit import made_results as made


def sentences(metric: str, protocols: tuple[str, str] = ("h2", "h3"), **more: Any) -> str:
    rows = [
        made.run(name, seed, 1.0, server_busy_share=0.02, **more)
        for name in protocols
        for seed in (1, 2)
    ]
    return " ".join(load_sentences(analyse(made.results(rows), metric=metric)))


def test_a_ratio_of_loads_says_what_its_model_leaves_out() -> None:
    told = sentences("server_busy_share", server_kernel="tuned, processor server-core")
    assert "costs nothing" in told and "upper bound" in told
    assert "upper bound" not in sentences("server_busy_share", ("h1", "h2"))
    charged = "tuned, processor server-core, computing 1"
    assert "costs nothing" not in sentences("server_busy_share", server_kernel=charged)


def test_the_load_of_a_proxy_stands_beside_the_servers() -> None:
    assert "proxy_busy_share" not in sentences("server_busy_share")
    assert "h2 0.300 and h3 0.300" in sentences("server_busy_share", proxy_busy_share=0.3)


def test_other_metrics_have_no_such_sentences() -> None:
    assert not sentences("total_s", proxy_busy_share=0.3)
