"""A Headway without what the census needs works, and says how to get it."""

from __future__ import annotations

import sys

import pytest

from headway import cli


def test_a_line_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("headway.instruments.census.installed.NEEDED", ("json", "nosuchpackage"))
    monkeypatch.setattr(sys, "argv", ["headway", "census", "sample"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "nosuchpackage is not installed; `make census` installs them" in said
    assert said.count("\n") == 1
