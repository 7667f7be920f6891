"""Every key of a setting does something, or a list says why it cannot.

`settings/every.toml` and `paths/every.toml` have studies in which each key occurs. By day each occurs, and some get another
value; by night all do. Then labs get other orders, or the study's user is told something else.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any, Literal, get_origin

import pytest

from headway.sites.site import Exchange, Site
from headway.sites.warc import write_archive
from headway.study.outsidefile import read_programs
from headway.study.setting import Setting
from tests.made_film import FILES, USUAL, write_film
from tests.unit.study_keys import (
    LABELS,
    Key,
    all_keys,
    differing,
    effect,
    is_said,
    leaves,
    others,
    stated,
    with_value,
    without,
)
from tests.unit.test_every_key import PATHS, over

STUDIES: list[dict[str, Any]] = tomllib.loads(
    (File(__file__).parent / "settings" / "every.toml").read_text(encoding="utf-8")
)["study"]
DRAWN = 3
"""So many keys of a study are changed by day."""

OF_FILES = {
    ("TraceRate", "trace"): "names a file",
    ("TraceRate", "opportunities_ms"): "what that file has",
    ("TraceRate", "known"): "what is told of it where it is not read",
    ("TraceRate", "unit"): "of that file's numbers",
    ("Queue", "bursts"): "before such a file's trace",
    ("Page", "versions"): "needs a recording that says which versions hosts spoke",
    ("Computing", "costs"): "the others need a recording that tells what its resources cost",
    ("Video", "mpd"): "names a file",
    ("Setting", "programs"): "the file of programs from outside",
}
"""Keys that need a file: tests below write some."""
READ_FROM_IMAGES = {
    *(("BroughtImage", key) for key in ("source", "container", "digest", "env", "begins_in")),
    *(("BroughtFile", key) for key in ("place", "source", "executable", "sha256")),
    *(("OutsideProgram", key) for key in ("declared", "files", "image", "where", "lacks", "name")),
    ("OutsideProgram", "environment"),
}
"""What reading a file of programs finds out of what it names: nobody writes these keys."""
OF_PROGRAMS = ("ServerDeclaration", "ClientDeclaration", "DeclaredKnob", "ResultForm")
"""Tables of a file of programs from outside."""
REFUSED = {
    ("Pep", "kernel"): "is the hop's",
    ("ReverseProxy", "kernel"): "is the hop's",
}
"""Keys that a part has from another one, and that are refused in it."""


def changes(raw: dict[str, Any], keys: list[tuple[Key, Any]]) -> Iterator[tuple[Key, Any, Any]]:
    """Each key, what else it may be, and the study with that; at last the study without it."""
    for key, value in keys:
        name = next(step for step in reversed(key) if isinstance(step, str))
        for other in others(value, name):
            yield key, other, with_value(raw, key, other)
        yield key, None, without(raw, key)


def noticed(raw: dict[str, Any], keys: list[tuple[Key, Any]]) -> Iterator[tuple[Key, Any, bool]]:
    """Keys with another value that is not refused and asks for something else, and whether anybody notices."""
    base = effect(raw)
    assert not base.refused, base.refused
    for key, other, made in changes(raw, keys):
        found = effect(made)
        if not found.refused and found.settings != base.settings:
            seen = (found.orders, found.notes) != (base.orders, base.notes)
            yield key, other, seen or is_said(raw, key, base)


def vain(raw: dict[str, Any], keys: list[tuple[Key, Any]]) -> list[str]:
    """The keys of which nobody notices any other value. To leave a key out may be to ask for its usual value."""
    seen: dict[Key, bool] = {}
    for key, other, is_noticed in noticed(raw, keys):
        if other is not None:
            seen[key] = seen.get(key, False) or is_noticed
    return [".".join(map(str, key)) for key, ever in seen.items() if not ever]


def asked(raw: dict[str, Any]) -> list[tuple[Key, Any]]:
    return [(key, value) for key, value in leaves(raw) if LABELS.keys().isdisjoint(map(str, key))]


def name_of(raw: dict[str, Any]) -> str:
    return str(raw["name"])


@pytest.mark.parametrize("raw", STUDIES, ids=name_of)
def test_some_keys_of_a_study_have_an_effect(raw: dict[str, Any]) -> None:
    keys = asked(raw)
    drawn = random.Random(raw["name"]).sample(keys, min(DRAWN, len(keys)))
    assert vain(raw, drawn) == []


@pytest.mark.nightly
@pytest.mark.parametrize("raw", STUDIES, ids=name_of)
def test_all_keys_of_a_study_have_an_effect(raw: dict[str, Any]) -> None:
    assert vain(raw, asked(raw)) == []


def needed() -> set[tuple[str, str]]:
    """All keys but those of the lists above, and those that only say which part it is."""
    model = all_keys(Setting)
    kinds = {
        place
        for place, part in model.items()
        if place[1] == "kind" and get_origin(part.model_fields["kind"].annotation) is Literal
    }
    listed = OF_FILES.keys() | READ_FROM_IMAGES | REFUSED.keys() | kinds
    return {one for one in model.keys() - listed if one[0] not in OF_PROGRAMS}


def every_study() -> list[dict[str, Any]]:
    return [*STUDIES, *(over(path) for path in PATHS if "trace" not in str(path.get("rate")))]


def test_every_key_occurs() -> None:
    there = {key for raw in every_study() for one in effect(raw).settings for key in stated(one)}
    assert needed() - there == set()


@pytest.mark.nightly
def test_every_key_has_an_effect_somewhere() -> None:
    effective: set[tuple[str, str]] = set()
    for raw in every_study():
        base = effect(raw)
        for _, _, made in changes(raw, asked(raw)):
            found = effect(made)
            if found.refused or (found.orders, found.notes) == (base.orders, base.notes):
                continue
            for pair in zip(base.settings, found.settings, strict=True):
                effective |= {*differing(*pair)}
    labels = {one for one in needed() if one[1] in LABELS}
    assert needed() - labels - effective == set()


def test_the_lists_name_keys_that_are_there() -> None:
    assert OF_FILES.keys() | READ_FROM_IMAGES | REFUSED.keys() <= all_keys(Setting).keys()


@pytest.mark.parametrize("program", ["quic_pep", "proxy"])
def test_a_kernel_within_a_hops_program_is_refused(program: str) -> None:
    own = {"program": "headway-quic-pep" if program == "quic_pep" else "nginx"}
    hop = {"name": "edge", program: {**own, "kernel": {"coalescing": "1 us"}}}
    assert REFUSED["Pep", "kernel"] in effect({"name": "s", "hops": [hop]}).refused


def both(*studies: dict[str, Any]) -> None:
    """Two studies that differ in a key ask for different labs."""
    first, second = map(effect, studies)
    assert not first.refused and not second.refused, (first.refused, second.refused)
    assert first.settings != second.settings
    assert first.orders != second.orders


def test_a_trace_is_what_its_file_has(tmp_path: File) -> None:
    for name, text in (("a", "1\n5\n"), ("b", "1\n7\n")):
        (tmp_path / name).write_text(text)
    both(*(over({"rate": {"trace": str(tmp_path / name)}, "rtt": "9 ms"}) for name in "ab"))


def test_a_trace_is_in_the_unit_that_is_said(tmp_path: File) -> None:
    (tmp_path / "a").write_text("".join(f"{time}\n" for time in range(100, 100_000, 100)))
    trace = str(tmp_path / "a")
    both(*(over({"rate": {"trace": trace, "unit": unit}, "rtt": "9 ms"}) for unit in ("ms", "us")))


def test_a_queue_before_a_trace_has_room_for_bursts(tmp_path: File) -> None:
    (tmp_path / "a").write_text("1\n" * 40 + "500\n")
    queues = ({"size": "1 BDP"}, {"size": "1 BDP", "bursts": True})
    path = {"rate": {"trace": str(tmp_path / "a")}, "rtt": "9 ms"}
    both(*(over({**path, "queue": queue}) for queue in queues))


def test_a_video_is_what_its_mpd_says(tmp_path: File) -> None:
    mpds = [write_film(tmp_path / name, USUAL, FILES | {"low/1.m4s": size}) for name, size in SIZES]
    both(*({"name": "s", "workload": {"kind": "video", "mpd": str(one)}, **VIDEO} for one in mpds))


SIZES = (("a", 900), ("b", 1900))
VIDEO: dict[str, Any] = {
    "client": {"program": "headway-client"},
    "server": {"program": "headway-server"},
}


def test_hosts_speak_what_they_were_recorded_over(tmp_path: File) -> None:
    page = Exchange("GET", "https://a.test/", 200, (), b"x", protocol="h2")
    other = Exchange("GET", "https://b.test/", 200, (), b"x", protocol="http/1.1")
    file = tmp_path / "site.warc.gz"
    write_archive(Site("site", "https://a.test/", (page, other)), file)
    workload = {"kind": "page", "site": str(file), "frames": False}
    programs = {"client": {"program": "chromium"}, "server": {"program": "nginx"}}
    both(
        *(
            {"name": "s", "workload": {**workload, "versions": how}, **programs}
            for how in ("any", "recorded")
        )
    )


PROGRAMS = """
[server.own]
argv = ["./own", "{address}:{port}", "{certificate}", "{key}", "{root}", "{window}", "{congestion_control}", "{options}"]
protocols = ["h3"]
options.h3 = ["-3"]
mount = ["data"]
env = { MODE = "a" }
knobs.window = { default = "1", meaning = "how much", choices = ["1", "2"] }
congestion_controls = ["cubic", "reno"]
version = "1.0"
virtual_tsc = true
memory_mib = 600
finishes = true

[client.mine]
argv = ["./own", "{url}", "{window}", "{congestion_control}", "{options}"]
protocols = ["h3"]
options.h3 = ["-3"]
mount = ["data"]
env = { MODE = "a" }
knobs.window = { default = "1", meaning = "how much", choices = ["1", "2"] }
congestion_controls = ["cubic", "reno"]
version = "1.0"
virtual_tsc = true
memory_mib = 600
"""
OWN: dict[str, Any] = {
    "name": "s",
    "protocol": "h3",
    "client": {"program": "mine"},
    "server": {"program": "own"},
}
DECLARED = {
    "argv": ('"./own", "{', '"./own", "-v", "{'),
    "options": ('["-3"]', '["-4"]'),
    "mount": ('["data"]', '["more"]'),
    "env": ('MODE = "a"', 'MODE = "b"'),
    "knobs": ("knobs.window = { d", "knobs.other = {}\nknobs.window = { d"),
    "default": ('default = "1"', 'default = "2"'),
    "congestion_controls": ('["cubic", "reno"]', '["bbr"]'),
    "virtual_tsc": ("tsc = true", "tsc = false"),
    "memory_mib": ("600", "4000"),
    "finishes": ("finishes = true", "finishes = false"),
}
"""Keys of a program from outside, what the file above says, and something else."""
ELSEWHERE = {
    "protocols": "which studies a program is for: others are refused (test_outside.py)",
    "version": "what records call it",
    "meaning": "what lists say of a knob",
    "choices": "which values of a knob are refused (test_outside.py)",
    "result": "how a client's output is read (test_outside.py), as the keys of that table",
    **dict.fromkeys(("form", "regex", "keys", "source"), "keys of `result`"),
    "image": "where its files come from (test_outside_image.py)",
    "packages": "the same (test_outside_image.py)",
}
"""Keys of a program from outside that order nothing from a lab by themselves."""


def test_every_key_of_a_program_from_outside_is_in_a_list() -> None:
    keys = {key for part, key in all_keys(Setting) if part in OF_PROGRAMS}
    assert DECLARED.keys() | ELSEWHERE.keys() == keys
    assert not DECLARED.keys() & ELSEWHERE.keys()


def programs(directory: File, text: str) -> Any:
    directory.mkdir()
    for name in ("own", "data", "more"):
        (directory / name).write_text(f"#!/bin/sh\n# {name}\n")
        (directory / name).chmod(0o755)
    (directory / "programs.toml").write_text(text)
    return read_programs(directory / "programs.toml")


@pytest.mark.parametrize("role", ["server", "client"])
@pytest.mark.parametrize("key", DECLARED)
def test_a_key_of_a_program_from_outside_has_an_effect(tmp_path: File, key: str, role: str) -> None:
    if (key, role) == ("finishes", "client"):
        pytest.skip("of servers")
    before, after = DECLARED[key]
    server, _, client = PROGRAMS.partition("[client.mine]")
    parts = {"server": server, "client": client}
    assert before in parts[role]
    parts[role] = parts[role].replace(before, after)
    if key == "knobs":
        parts[role] = parts[role].replace('"{window}"', '"{window}", "{other}"')
    changed = "[client.mine]".join(parts.values())
    first = effect(OWN, programs(tmp_path / "a", PROGRAMS))
    second = effect(OWN, programs(tmp_path / "b", changed))
    assert not first.refused and not second.refused, (first.refused, second.refused)
    assert first.orders != second.orders
