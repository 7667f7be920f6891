"""The JSON Schemas that editors get: right files pass, and most wrong ones do not."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from headway.planning.keyrules import all_rules_of_keys
from headway.study.library import builtin_files
from headway.study.schema import programs_schema, study_schema
from tests.doc_examples import PAGES, ROOT, blocks, studies
from tests.refusals.cases import cases

Check = Callable[[dict[str, Any]], Any]


def compiled(schema: dict[str, Any]) -> Check:
    checked: Check = fastjsonschema.compile(json.loads(json.dumps(schema)), use_default=False)
    return checked


@cache
def study_check() -> Check:
    return compiled(study_schema(all_rules_of_keys()))


@cache
def programs_check() -> Check:
    return compiled(programs_schema())


FILES = {
    **{file.name: file.read_text() for file in builtin_files().values()},
    **{
        str(file.relative_to(ROOT)): file.read_text()
        for file in sorted([*ROOT.glob("examples/**/*.toml"), *ROOT.glob("tests/unit/*.toml")])
        if file.name != "programs.toml"
    },
}


def accepted(check: Check, raw: dict[str, Any]) -> bool:
    try:
        check(raw)
    except fastjsonschema.JsonSchemaValueException:
        return False
    return True


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_a_study_passes(text: str) -> None:
    study_check()(tomllib.loads(text))


@pytest.mark.parametrize("raw", studies().values(), ids=studies())
def test_a_study_of_the_documentation_passes(raw: dict[str, Any]) -> None:
    study_check()(raw)


def declared() -> dict[str, str]:
    files = [*ROOT.glob("tests/lab/**/programs.toml"), *ROOT.glob("examples/**/programs.toml")]
    told = {str(file.relative_to(ROOT)): file.read_text() for file in files}
    for page in PAGES:
        for number, text in enumerate(blocks(page, "toml programs.toml")):
            told[f"{page.name} {number}"] = text
    return told


@pytest.mark.parametrize("text", declared().values(), ids=declared())
def test_a_file_of_programs_passes(text: str) -> None:
    programs_check()(tomllib.loads(text))


STUDIES_THAT_ARE_WRONG = """
nam = "s"
repetitions = 1.5
repetitions = "10"
protocol = "h4"
tls = "yes"
questoin = "?"
metrics = ["total"]
workload.size = "1"
workload.size = "1 mb"
workload.size = 1000000
workload = { kind = "downlaod" }
path.rtt = "40,5 ms"
path.rtt = "-5 ms"
path.rtt = 40
path.rat = "1 Mbit/s"
path.rate = "1 Mbps"
path.loss = "2"
path.loss = { mean = "1 %", bursts = 5 }
path.queue = "1 bdp"
path.queue = { size = "1 BDP", discipline = "codle" }
path.down.rtt = "1 ms"
path.blackouts = [["1 s"]]
server.program = 3
server.programm = "nginx"
server.congestion_control = "bbr2"
server.congestion_control.quick = "bbr"
server.initial_window = 0
server.knobs = "on"
axes.path.rtt = "20 ms"
axes.path.rtt = ["20"]
axes.path.rt = ["20 ms"]
axes.protocol = ["h1", "h9"]
axes.server.congestion_control = ["bbr", "cubi"]
contenders.a.server.programm = "nginx"
contenders.a.path.rtt = "20"
experiments.a.path.rt = "20 ms"
experiments.a = 3
quick.repetition = 2
quick.only = "a"
hops = [{ path = { rt = "1 ms" } }]
fault = "lose sideways 3"
faults.lose = "down"
claims = [{ says = "x" }]
claims = [{ says = "x", place = "y", rule = { kind = "odrer" } }]
published = [{ contender = "h2", value = 1 }]
limits.virtual = "10"
capture.packets = 1
clock = "virtua"
""".strip().splitlines()


@pytest.mark.parametrize("line", STUDIES_THAT_ARE_WRONG)
def test_a_wrong_study_is_refused(line: str) -> None:
    right = tomllib.loads('name = "s"')
    study_check()(right)
    assert not accepted(study_check(), right | tomllib.loads(line))


def test_a_study_has_a_name() -> None:
    assert not accepted(study_check(), {})


OF_ONE_KEY = (
    "unknown key",
    "has no unit",
    "is not a number with",
    "is not a unit of",
    "is not one of",
)
OF_OTHERS = ("budget.", "cells.", ".metric: ", "workload.count: ", "workload.site: ")
"""Keys that mean what others say: the metric of a budget, an axis of a cell, the kind of a workload, a site by its name."""


def test_what_is_wrong_with_a_key_by_itself_is_refused() -> None:
    """What it accepts of what Headway refuses is wrong as a whole: each key by itself could be."""
    refusals = [case for case in cases() if case.tables and not case.is_command]
    accept = [case.message for case in refusals if accepted(study_check(), case.tables)]
    assert 0 < len(accept) < len(refusals)
    of_one_key = [text for text in accept if any(words in text for words in OF_ONE_KEY)]
    assert [text for text in of_one_key if not any(key in text for key in OF_OTHERS)] == []


@pytest.mark.parametrize(
    "line",
    [
        "[servers.a]",
        "[server.A]\nargv = ['x']\nprotocols = ['h1']",
        "[server.a]\nargv = ['x']",
        "[server.a]\nargv = []\nprotocols = ['h1']",
        "[server.a]\nargv = ['x']\nprotocols = ['h9']",
        "[server.a]\nargv = ['x']\nprotocols = ['h1']\nresult = 'curl'",
        "[client.a]\nargv = ['x']\nprotocols = ['h1']\nresult = 'wget'",
        "[client.a]\nargv = ['x']\nprotocols = ['h1']\noptions = { h4 = ['x'] }",
        "[client.a]\nargv = ['x']\nprotocols = ['h1']\nmemory_mib = -1",
    ],
)
def test_a_wrong_file_of_programs_is_refused(line: str) -> None:
    assert not accepted(programs_check(), tomllib.loads(line))


def test_quantities_are_explained_to_who_writes_them() -> None:
    path = study_schema(all_rules_of_keys())["definitions"]["Path"]["properties"]
    assert path["rtt"]["examples"] == ["100 ms"]
    assert path["rtt"]["description"].startswith('a duration, such as "100 ms"; units: ns, us,')
    step = study_schema(all_rules_of_keys())["definitions"]["RateStep"]["properties"]["rate"]
    assert "units: bit/s, kbit/s, Mbit/s, Gbit/s" in step["description"]


def test_the_command_prints_it(tmp_path: Path) -> None:
    for words, made in (([], study_schema(all_rules_of_keys())), (["programs"], programs_schema())):
        file = tmp_path / "schema.json"
        for more in ([], ["-o", str(file)]):
            command = [Path(sys.executable).with_name("headway"), "schema", *words, *more]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            assert json.loads(done.stdout or file.read_text()) == json.loads(json.dumps(made))
