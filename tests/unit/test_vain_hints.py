"""Hints that name nothing, and a 103 that no browser can follow, are remarked before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.campaign.feasibility import all_remarks, checked_plan
from headway.study.load import parse_study
from headway.study.source import Source

STUDY = """
name = "s"
protocol = "PROTOCOL"
client.program = "chromium"
server.program = "headway-server"
path = { rate = "5 Mbit/s", rtt = "28 ms" }
[workload]
kind = "page"
site = "SITE"
waits = { median = "5 ms", document = "300 ms" }
"""
EARLY = 'server.knobs.early_hints = "on"\n'


def remarks(site: str, hints: str, early: str = "", protocol: str = "h2") -> list[str]:
    text = early + STUDY.replace("SITE", site).replace("PROTOCOL", protocol) + hints
    study = parse_study(Source("s.toml", text, Path.cwd()))
    return [text for text in all_remarks(study, checked_plan(study, "s")) if "hints" in text]


@pytest.mark.parametrize(
    ("site", "hints", "early", "protocol", "word"),
    [
        ("sander-05", 'hints = { preload = ["font"] }', "", "h2", "font"),
        ("sander-20", "hints = { preconnect = true }", "", "h2", "preconnect"),
        ("sander-20", "", EARLY, "h2", "early_hints"),
        ("sander-20", 'hints = { preload = ["style"] }', EARLY, "h1", "HTTP/1.1"),
    ],
)
def test_what_brings_nothing_is_remarked_once(
    site: str, hints: str, early: str, protocol: str, word: str
) -> None:
    (remark,) = remarks(site, hints, early, protocol)
    assert word in remark


@pytest.mark.parametrize("hints", ['preload = ["style", "script"]', "preconnect = true"])
def test_what_names_something_is_not(hints: str) -> None:
    assert remarks("sander-13", f"hints = {{ {hints} }}", EARLY) == []
