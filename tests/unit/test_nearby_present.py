"""What nearby takes for present: layers that are there, and own programs, which are compiled when something needs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.nearby.trial import Present
from headway.planning.runs import plan
from headway.study.load import parse_study
from headway.study.source import Source


@pytest.mark.parametrize(
    ("client", "lack"), [("headway-client", ""), ("curl", ""), ("wget2", "wget2")]
)
def test_own_programs_are_never_lacking(
    client: str, lack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    text = f'name = "s"\nprotocol = "h2"\nclient.program = "{client}"\nworkload.size = "1 kB"'
    runs = plan(parse_study(Source("s.toml", text, tmp_path)))
    said = Present().lacks(runs)
    assert lack in said and bool(said) is bool(lack)
