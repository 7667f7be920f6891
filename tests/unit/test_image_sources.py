from __future__ import annotations

from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.image.options import ImageOptions
from headway.image.sources import (
    AptSource,
    configured_sources,
    parse_deb822,
    parse_one_line,
)

DEB822 = """\
# A comment
Types: deb deb-src
URIs: http://mirror.test/debian/
Suites: bookworm
 bookworm-updates
# A comment inside
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.test/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Enabled: no
Types: deb
URIs: http://off.test/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://source.test/debian
Suites: bookworm
Components: main
"""

ONE_LINE = """\
# deb http://off.test/debian bookworm main
deb [ arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg ] http://mirror.test/x trixie main # why
deb-src http://source.test/debian bookworm main
deb http://mirror.test/debian-security bookworm-security main
deb [arch=amd64] https://browser.test/linux/deb/ stable main
deb https://containers.test/linux/debian bookworm stable
deb https://runtime.test/node bookworm main
deb http://archive.test/ubuntu jammy main
"""


def debian(sources: list[AptSource]) -> list[str]:
    return [source.uri for source in sources if source.is_debian]


def test_deb822() -> None:
    sources = list(parse_deb822(DEB822))
    assert sources[0] == AptSource(
        "http://mirror.test/debian",
        ("bookworm", "bookworm-updates"),
        ("main", "contrib"),
        "/usr/share/keyrings/debian-archive-keyring.gpg",
    )
    assert len(sources) == 2
    assert debian(sources) == ["http://mirror.test/debian"]


def test_deb822_with_an_embedded_key() -> None:
    text = (
        "Types: deb\nURIs: mirror+file:///etc/apt/mirrors/debian.list\nSuites: trixie\n"
        "Components: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n"
    )
    assert debian(list(parse_deb822(text))) == ["mirror+file:///etc/apt/mirrors/debian.list"]


def test_one_line() -> None:
    sources = list(parse_one_line(ONE_LINE))
    assert sources[0] == AptSource(
        "http://mirror.test/x",
        ("trixie",),
        ("main",),
        "/usr/share/keyrings/debian-archive-keyring.gpg",
    )
    assert len(sources) == 6
    assert debian(sources) == ["http://mirror.test/x"]


def test_both_forms_in_the_order_of_apt(tmp_path: Path) -> None:
    (tmp_path / "a.sources").write_text(DEB822)
    (tmp_path / "b.list").write_text("deb http://second.test/debian sid main\n")
    (tmp_path / "c.list.disabled").write_text("deb http://third.test/debian sid main\n")
    found = list(configured_sources(tmp_path / "sources.list", tmp_path))
    assert debian(found) == ["http://mirror.test/debian", "http://second.test/debian"]


def test_snapshot_archives_are_debian() -> None:
    sources = list(
        parse_one_line("deb http://mirror.test/archive/debian/20260101T000000Z sid main")
    )
    assert len(debian(sources)) == 1


def test_options_of_the_environment() -> None:
    environment = {"HEADWAY_MIRROR": "http://mirror.test/debian/", "HEADWAY_SUITE": "trixie"}
    options = ImageOptions.from_environment(environment)
    assert options == ImageOptions("http://mirror.test/debian", "trixie")
    assert options.kernel_suites[:2] == ("trixie", "testing")


def test_options_by_default() -> None:
    assert ImageOptions.from_environment({"HEADWAY_MIRROR": ""}) == ImageOptions(None, "testing")


@pytest.mark.parametrize(
    "environment",
    [
        {"HEADWAY_MIRROR": "mirror.test/debian"},
        {"HEADWAY_MIRROR": "http://mirror.test/a b"},
        {"HEADWAY_SUITE": "../etc"},
    ],
)
def test_wrong_options_name_the_variable(environment: dict[str, str]) -> None:
    with pytest.raises(WrongInputError, match=next(iter(environment))):
        ImageOptions.from_environment(environment)
