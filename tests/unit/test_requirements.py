"""Requirements of settings on programs: what is refused names those that can, and those are not refused."""

from __future__ import annotations

from typing import Any

import pytest

from headway.errors import WrongInputError
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.planning.placing import KNOWN
from headway.planning.requirements import REQUIREMENTS
from headway.study.setting import Setting

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"client": {"program": "wget2"}, "dns": {}}, "client"),
    ({"client": {"program": "headway-client"}, "dns": {"transport": "https"}}, "client"),
    ({"client": {"program": "curl"}, "dns": {"https": True}}, "client"),
    ({"client": {"program": "wget2"}, "discovery": {}}, "client"),
    ({"server": {"program": "haproxy"}, "discovery": {}, "protocol": "h3"}, "server"),
    ({"client": {"program": "wget2"}, "dual_stack": {}}, "client"),
    ({"server": {"program": "caddy"}, "dual_stack": {}}, "server"),
    (
        {
            "server": {"program": "ngtcp2"},
            "workload": {"kind": "upload", "size": "1 MB"},
            "protocol": "h3",
        },
        "server",
    ),
]


@pytest.mark.parametrize(("keys", "place"), REFUSED)
def test_who_is_named_is_not_refused_for_it(keys: dict[str, Any], place: str) -> None:
    with pytest.raises(WrongInputError, match=r"these .* can: ") as raised:
        check_programs(deploy(Setting.model_validate(keys)))
    named = raised.value.message.partition("can: ")[2].split(", ")
    assert named
    for name in named:
        check_programs(deploy(Setting.model_validate(keys | {place: {"program": name}})))


def test_each_is_of_programs_of_which_some_are_able_and_some_are_not() -> None:
    for requirement in REQUIREMENTS:
        able = {
            (role, name)
            for value in requirement.among
            for role in requirement.of.roles
            for name in requirement.those_able(KNOWN[role], value)
        }
        everybody = {(role, name) for role in requirement.of.roles for name in KNOWN[role]}
        assert not requirement.among or able, requirement.what
        assert able < everybody, requirement.what


def test_none_is_asked_twice_in_the_same_words() -> None:
    listed = [
        (requirement.what, requirement.of.roles)
        for requirement in REQUIREMENTS
        if requirement.among
    ]
    assert len(set(listed)) == len(listed)
