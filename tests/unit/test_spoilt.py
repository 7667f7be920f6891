"""What a lab left and cannot be read: the program's doing only if it is the content that is wrong."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from headway.contract.artifact import SpoiltError
from headway.contract.outcome import Outcome
from headway.contract.text import load
from headway.errors import HeadwayError
from headway.lab.spoilt import spoilt_by_program
from headway.planning.deploy import deploy
from headway.planning.deployment import Deployment
from headway.study.outsidefile import read_programs
from headway.study.setting import Setting

SPOILT = "a program has spoilt the run's directory: "
OF_CONTENT = [
    json.JSONDecodeError("no JSON", "{", 1),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    IsADirectoryError(21, "Is a directory", "qlog"),
    csv.Error("line contains NUL"),
    HeadwayError("samples.jsonl is of another version"),
    RecursionError("too deep"),
]
OF_CODE = [TypeError("no number"), AttributeError("no such"), KeyError("error"), AssertionError()]


@pytest.fixture
def brought(tmp_path: Path) -> Deployment:
    """A run whose client is from outside."""
    (tmp_path / "own").write_text("#!/bin/sh\n")
    (tmp_path / "own").chmod(0o755)
    (tmp_path / "programs.toml").write_text(
        '[client.own]\nargv = ["./own", "{url}"]\nprotocols = ["h2"]\n'
    )
    setting = Setting.model_validate({"protocol": "h2", "client": {"program": "own"}})
    programs = read_programs(tmp_path / "programs.toml")
    return deploy(setting.model_copy(update={"programs": programs}))


@pytest.mark.parametrize("error", OF_CONTENT, ids=lambda error: type(error).__name__)
def test_wrong_content_is_the_programs_doing(
    error: Exception, brought: Deployment, tmp_path: Path
) -> None:
    assert spoilt_by_program(error, brought, tmp_path).startswith(SPOILT)


@pytest.mark.parametrize("error", OF_CODE, ids=lambda error: type(error).__name__)
def test_what_no_content_raises_may_be_a_defect_and_says_where(
    error: Exception, brought: Deployment, tmp_path: Path
) -> None:
    """It fails its run, and the study goes on; but no program is blamed."""
    try:
        raise error
    except Exception as raised:
        reason = spoilt_by_program(raised, brought, tmp_path)
    assert not reason.startswith(SPOILT)
    assert type(error).__name__ in reason
    assert "(test_spoilt.py:" in reason


@pytest.mark.parametrize("error", [*OF_CODE, ValueError("nothing")])
def test_without_a_program_from_outside_it_is_headways(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(type(error)):
        spoilt_by_program(error, deploy(Setting.model_validate({"protocol": "h2"})), tmp_path)
    spoilt = SpoiltError("load.json", "is no file")
    known = deploy(Setting.model_validate({"protocol": "h2"}))
    assert spoilt_by_program(spoilt, known, tmp_path).startswith(SPOILT)


@pytest.mark.parametrize("text", ["[]", "5", '{"status": 5}', '{"unknown": 5}'])
def test_another_value_than_a_record_is_wrong_content(text: str) -> None:
    with pytest.raises(ValueError, match="no Outcome: "):
        load(Outcome, text)
