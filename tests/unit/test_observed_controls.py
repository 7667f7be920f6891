"""Columns of congestion control say what the kernel said, where it said something."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.diagnosis.controls import observed_controls
from headway.planning.deploy import deploy
from headway.study.setting import Setting

PROXIED: dict[str, Any] = {
    "protocol": "h2",
    "proxy": {"program": "envoy", "congestion_control": "bbr", "upstream": {"protocol": "h3"}},
}


@pytest.mark.parametrize(
    ("raw", "seen", "columns", "error"),
    [
        ({}, None, {"server_cc": "cubic", "cc_observed": None}, None),
        (
            {"server": {"congestion_control": "bbr"}},
            {"server": ["bbr"]},
            {"server_cc": "bbr", "cc_observed": "server"},
            None,
        ),
        (
            {"server": {"congestion_control": "dctcp"}},
            {"server": ["dctcp-reno"]},
            {"server_cc": "dctcp-reno", "cc_observed": "server"},
            "server's TCP used dctcp-reno, not what it was to use",
        ),
        (
            {},
            {"server": ["bbr", "cubic"]},
            {"server_cc": "bbr and cubic", "cc_observed": "server"},
            "server's TCP used bbr and cubic, not what it was to use",
        ),
        # Connections over QUIC are none of the kernel's.
        (
            {"protocol": "h3"},
            {"server": ["bbr"]},
            {"server_cc": "cubic", "cc_observed": None},
            None,
        ),
        (
            PROXIED,
            {"proxy": ["bbr"], "server": []},
            {"proxy_cc": "bbr", "server_cc": "cubic", "cc_observed": "proxy"},
            None,
        ),
    ],
)
def test_what_was_observed_is_told_and_held_against_what_was_asked(
    tmp_path: Path,
    raw: dict[str, Any],
    seen: dict[str, list[str]] | None,
    columns: dict[str, Any],
    error: str | None,
) -> None:
    if seen is not None:
        (tmp_path / "tcp.json").write_text(json.dumps(seen))
    found = observed_controls(deploy(Setting.model_validate(raw)).only, tmp_path)
    assert (found.columns, found.error) == (columns, error)
