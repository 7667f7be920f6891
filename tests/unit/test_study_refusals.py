"""Studies that cannot mean anything: where each is refused, and in which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.campaign.feasibility import checked_plan
from headway.study.load import Source, load_study, parse_study

BASE = 'name = "s"\n[workload]\nsize = "1 MB"\n'
UPLOAD = (
    'name = "s"\nserver.program = "headway-server"\n[workload]\nkind = "upload"\nsize = "1 MB"\n'
)
DUAL_STACK_PAGE = (
    'name = "s"\ndual_stack = {}\nserver.program = "headway-server"\nclient.program = "chromium"\n'
    '[workload]\nkind = "page"\nsite = "sander-01"\n'
)


@pytest.mark.parametrize(
    "text",
    [
        'metrics = ["goodput_mbit"]\n' + UPLOAD,
        'metrics = ["goodput_mbit"]\naxes.workload.status = [200, 413]\n' + UPLOAD,
        'metrics = ["content_sent_bytes"]\n' + UPLOAD,
        'metrics = ["content_sent_bytes"]\naxes.protocol = ["h2", "h3"]\n' + UPLOAD,
        'metrics = ["content_sent_bytes"]\nprotocol = "h3"\nclient.program = "headway-client"\n'
        + UPLOAD,
        'metrics = ["fallback_s"]\nclient.knobs.net_log = "counts"\n' + DUAL_STACK_PAGE,
    ],
)
def test_metrics_that_some_run_has_are_not_refused(text: str) -> None:
    assert checked_plan(parse_study(Source("s.toml", text, Path())), "s.toml")


def test_a_byte_order_mark_is_no_part_of_a_study(tmp_path: Path) -> None:
    file = tmp_path / "windows.toml"
    file.write_text(BASE, encoding="utf-8-sig")
    assert load_study(str(file)).name == "s"
