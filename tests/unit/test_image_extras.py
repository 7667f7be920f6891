"""Extras: found, compiled once, or the reason why not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from headway import cli
from headway.errors import HeadwayError, WrongInputError
from headway.image import EXTRAS, Extra, extras, golang
from headway.image.extras import (
    add_extra,
    extra_status,
    find_extra,
    installed_extras,
    remove_extras,
)

# Stands in for Go: tells a version, lists two packages, and "compiles" by writing its arguments.
_GO = """#!/bin/sh
case "$1" in
env) echo go{version} ;;
mod) if [ "$GOPROXY" = off ]; then echo "module lookup disabled by GOPROXY=off" >&2; exit 1; fi ;;
list) printf 'one\\ntwo\\n' ;;
build)
    {fails}
    for word; do [ "$previous" = -o ] && program=$word; previous=$word; done
    echo "$CGO_ENABLED $*" > "$program" ;;
esac
"""


@pytest.fixture
def extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Extra:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "go.mod").write_text(
        "module m\n\ngo 1.24.1\n\nrequire (\n\tm.test/quic v0.65.0\n\tm.test/net v1.2.3\n)\n"
    )
    (sources / "main.go").write_text("package main\n")
    made = Extra("fast", "a client", "m.test/quic", sources)
    monkeypatch.setattr(extras, "EXTRAS", {"fast": made})
    return made


def put_go(directory: Path, version: str = "1.24.10", fails: str = ":") -> None:
    go = directory / "go"
    go.write_text(_GO.format(version=version, fails=fails))
    go.chmod(0o755)


def test_extra_without_go(bin_directory: Path, extra: Extra) -> None:
    found = extra_status(extra)
    assert (found.installed, found.obstacle) == (
        None,
        "no go in PATH; Go 1.24.1 or later is needed",
    )
    with pytest.raises(HeadwayError, match="fast cannot be compiled: no go in PATH"):
        add_extra(extra)


@pytest.mark.parametrize("version", ["1.19.8", "1.24"])
def test_extra_with_an_old_go(bin_directory: Path, extra: Extra, version: str) -> None:
    put_go(bin_directory, version)
    assert extra_status(extra).obstacle == f"go {version} is older than 1.24.1"
    with pytest.raises(HeadwayError, match=f"go {version} is older than 1.24.1"):
        add_extra(extra)


def test_extra_is_compiled_once(bin_directory: Path, extra: Extra) -> None:
    put_go(bin_directory)
    assert extra_status(extra).obstacle is None
    assert installed_extras() == {}
    added = add_extra(extra)
    program = added.directory / "fast"
    assert "0 build" in program.read_text()
    assert "-trimpath" in program.read_text()
    assert added.go_version == "1.24.10"
    # It stays, whatever becomes of Go.
    (bin_directory / "go").unlink()
    assert add_extra(extra) == added == extra_status(extra).installed
    assert installed_extras() == {"fast": added}
    assert extra.version == "0.65.0"
    assert extra.guest_program == "/lab/extras/fast/fast"


def test_extra_follows_its_sources(bin_directory: Path, extra: Extra) -> None:
    put_go(bin_directory)
    first = add_extra(extra)
    (extra.sources / "main.go").write_text("package main // changed\n")
    assert extra_status(extra).installed is None
    assert add_extra(extra).directory != first.directory


def test_failed_compilation_leaves_nothing(bin_directory: Path, extra: Extra) -> None:
    put_go(bin_directory, fails="echo 'main.go:1:1: undefined: x'; exit 1")
    with pytest.raises(HeadwayError, match=r"compiling fast failed: main\.go:1:1: undefined: x"):
        add_extra(extra)
    assert installed_extras() == {}


def test_offline_brings_no_module(
    bin_directory: Path, extra: Extra, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_go(bin_directory)
    monkeypatch.setenv("HEADWAY_OFFLINE", "1")
    with pytest.raises(HeadwayError, match="disabled by GOPROXY=off"):
        add_extra(extra)
    monkeypatch.delenv("HEADWAY_OFFLINE")
    assert add_extra(extra)


def test_remove_extras(bin_directory: Path, extra: Extra) -> None:
    assert remove_extras() == 0
    put_go(bin_directory)
    add_extra(extra)
    assert remove_extras() > 0
    assert installed_extras() == {}


def test_extra_that_does_not_exist() -> None:
    with pytest.raises(WrongInputError, match="no extra 'quic-go'; there is quic-go-client"):
        find_extra("quic-go")


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=list(EXTRAS))
def test_shipped_extras_are_complete(extra: Extra) -> None:
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?", golang.needed_go_version(extra.sources))
    assert f"{extra.module} v{extra.version} h1:" in (extra.sources / "go.sum").read_text()


def test_added_on_the_command_line(
    bin_directory: Path,
    extra: Extra,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    put_go(bin_directory)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["headway", "image", "add", "fast"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    assert "fast 0.65.0 is ready, compiled with go 1.24.10" in capsys.readouterr().out


def test_a_release_shares_sources_and_replaces_some(
    tmp_path: Path, bin_directory: Path, extra: Extra
) -> None:
    """What is shared is compiled with the release's own files, and its key depends on both."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "go.mod").write_text((extra.sources / "go.mod").read_text().replace("0.65.0", "0.54.1"))
    older = Extra("fast-0.54", "the same", extra.module, own, shared=extra.sources)
    assert [one.parent.name for one in older.files] == ["own", "sources"]
    assert older.version == "0.54.1"
    before = older.key
    put_go(bin_directory)
    assert add_extra(older).directory.name.startswith("fast-0.54-")
    (extra.sources / "main.go").write_text("package main // changed\n")
    assert older.key != before
