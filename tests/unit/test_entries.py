"""The order of commands in the help: those of instruments stand among the core's."""

from __future__ import annotations

from headway.cli.entries import with_instruments
from headway.cli.listed import PATH, RESULTS, Listed

CORE = {
    "report": Listed(RESULTS, "cli.a.report", ""),
    "export": Listed(RESULTS, "cli.a.export", ""),
    "exec": Listed(PATH, "cli.a.exec", ""),
}


def order(**added: Listed) -> list[str]:
    return list(with_instruments(CORE, added))


def result(after: str = "") -> Listed:
    return Listed(RESULTS, "instruments.a.cli.a", "", after)


def test_a_command_stands_behind_the_one_that_it_names() -> None:
    assert order(states=result("report")) == ["report", "states", "export", "exec"]


def test_that_one_may_be_another_instruments() -> None:
    assert order(controllers=result("states"), states=result("report")) == [
        *("report", "states", "controllers", "export", "exec"),
    ]


def test_without_it_the_command_is_the_last_of_its_part() -> None:
    assert order(states=result()) == ["report", "export", "states", "exec"]
    # The instrument that it names is missing, or lists its command in another part.
    assert order(states=result("census")) == ["report", "export", "states", "exec"]
    assert order(states=result("exec")) == ["report", "export", "states", "exec"]


def test_two_that_name_each_other_are_listed() -> None:
    assert order(b=result("a"), a=result("b")) == ["report", "export", "a", "b", "exec"]
