"""Which packages a root tree gets, and of which suite."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headway.errors import HeadwayError, WrongInputError
from headway.image import SilentProgress
from headway.image.apt import PackageVersion, PrivateApt
from headway.image.packagelist import ForeignPackage, PackageList, sections
from headway.image.process import Runner
from headway.image.selection import Chosen, select


def test_package_list() -> None:
    text = "# all\n\nnginx  # a server\ncurl\ncurl\nh2o @trixie\n-perl-base  # not run\n"
    wanted = PackageList.parse(text)
    assert wanted.asked == ("curl", "nginx")
    assert wanted.foreign == (ForeignPackage("trixie", "h2o"),)
    assert wanted.left_out == ("perl-base",)
    assert wanted.names == ("curl", "h2o", "nginx")
    assert PackageList.parse("\n".join(wanted.lines())) == wanted


def test_sections_keep_the_numbers_of_lines() -> None:
    text = "curl  # all\n\n[web: browser shell]  # large\nchromium\n[none]\n[tail: ]\nnginx x\n"
    found = sections(text)
    assert list(found) == ["", "web", "none", "tail"]
    assert (found["web"].words, found["none"].words, found["tail"].words) == (
        ("browser", "shell"),
        (),
        (),
    )
    assert PackageList.parse(found[""].text).asked == ("curl",)
    assert PackageList.parse(found["web"].text).asked == ("chromium",)
    assert PackageList.parse(found["none"].text) == PackageList(())
    with pytest.raises(WrongInputError, match="line 7 of the package list"):
        PackageList.parse(found["tail"].text)


@pytest.mark.parametrize("line", ["curl nginx", "curl @", "-curl @trixie", "Curl", "@trixie"])
def test_line_that_is_none_is_named(line: str) -> None:
    with pytest.raises(WrongInputError, match=f"line 2 of the package list: .*'{line}'"):
        PackageList.parse(f"nginx\n{line}\n")


@dataclass
class FakeApt:
    """A suite: what each of its packages depends on."""

    suite: str
    version: str
    depends: dict[str, tuple[str, ...]]
    asked: list[str] = field(default_factory=list)

    def update(self, advance: Callable[[float], None]) -> None:
        self.asked = []

    def names(self) -> frozenset[str]:
        return frozenset(self.depends)

    def closure(self, names: Sequence[str]) -> list[PackageVersion]:
        self.asked += names
        found = {name: self.depends[name] for name in names}
        while further := {d for needs in found.values() for d in needs} - found.keys():
            found |= {name: self.depends[name] for name in further}
        return [PackageVersion(name, self.version, "amd64") for name in sorted(found)]


def names(chosen: Chosen) -> list[str]:
    return [package.name for package in chosen.packages]


NEW = {"curl": ("libquic",), "libquic": ("libc",), "libc": (), "perl": (), "ssh": ()}
OLD = {"h2o": ("libquic", "libold"), "libquic": ("libc",), "libold": ("perl",), "libc": ()}
OLD |= {"perl": (), "curl": (), "ssh": ()}
WANTED = PackageList(("curl",), (ForeignPackage("old", "h2o"), ForeignPackage("old", "ssh")))


def test_other_suites_give_only_what_the_own_one_lacks() -> None:
    own, other = FakeApt("new", "2", NEW), FakeApt("old", "1", OLD)
    chosen = select(own, [other], WANTED, SilentProgress())  # type: ignore[list-item, arg-type]
    assert [part.apt for part in chosen] == [own, other]
    assert names(chosen[0]) == ["curl", "libc", "libquic", "perl"]
    # What is asked of the other suite comes from there, even if the own one has it.
    assert names(chosen[1]) == ["h2o", "libold", "ssh"]


def test_own_suite_may_be_the_one_that_is_stated() -> None:
    own = FakeApt("old", "1", OLD)
    (chosen,) = select(own, [], WANTED, SilentProgress())  # type: ignore[arg-type]
    assert names(chosen) == ["curl", "h2o", "libc", "libold", "libquic", "perl", "ssh"]


def test_nothing_is_asked_of_a_suite_that_gives_nothing() -> None:
    own, other = FakeApt("new", "2", NEW), FakeApt("old", "1", OLD)
    beside = PackageList((), beside=(ForeignPackage("old", "curl"),))
    (chosen,) = select(own, [other], beside, SilentProgress())  # type: ignore[list-item, arg-type]
    assert (chosen.apt, names(chosen), chosen.beside) == (other, ["curl"], True)
    assert own.asked == []
    assert select(own, [], PackageList(()), SilentProgress()) == []  # type: ignore[arg-type]


@pytest.fixture
def apt(tmp_path: Path) -> PrivateApt:
    """With one package that is there, and one that is left out."""
    there = "Package: libc\nVersion: 2\nStatus: install ok installed\n\n"
    return PrivateApt(
        tmp_path, "http://mirror.test", "sid", Runner(tmp_path / "log"), ("llvm",), there
    )


def says(monkeypatch: pytest.MonkeyPatch, *lines: str) -> list[str]:
    """Have apt say this; the words it was asked with."""
    asked: list[str] = []

    def run(_: Runner, argv: Sequence[str], on_line: Callable[[str], None], **__: object) -> None:
        asked.extend(map(str, argv[-2:]))
        for line in lines:
            on_line(line)

    monkeypatch.setattr(Runner, "run", run)
    return asked


def test_what_is_there_is_not_chosen_again(
    apt: PrivateApt, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(
        monkeypatch,
        "Inst libc [2] (2 Debian:sid [amd64])",
        "Inst llvm [999999] (1:21 Debian:sid [amd64])",
        "Inst web (5 Debian:sid [amd64]) []",
    )
    assert apt.closure(["web"]) == [PackageVersion("web", "5", "amd64")]
    apt.update(lambda _: None)
    assert "Package: libc\nVersion: 2\n" in (apt.directory / "status").read_text()


def test_a_mirror_that_has_moved_on_is_told(
    apt: PrivateApt, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, "Inst libc [2] (3 Debian:sid [amd64])", "Inst web (5 Debian:sid [amd64])")
    with pytest.raises(HeadwayError, match=r"web of sid needs libc 3 \(there is 2\).*--renew"):
        apt.closure(["web"])


def test_sizes_of_downloads_are_asked_for(apt: PrivateApt, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = says(monkeypatch, "'http://m/a.deb' a.deb 1000 SHA256:0", "'http://m/b.deb' b.deb 24 X")
    packages = [PackageVersion("a", "1", "all"), PackageVersion("b", "2", "amd64")]
    assert apt.download_bytes(packages) == 1024
    assert asked == ["a=1", "b=2"]


def test_left_out_packages_look_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runner, "run", lambda *_, **__: None)
    apt = PrivateApt(tmp_path, "http://mirror.test/debian", "sid", Runner(tmp_path / "log"), ("a",))
    apt.update(lambda _: None)
    assert "Package: a\nStatus: install ok installed\n" in (tmp_path / "status").read_text()


def apt_cache(directory: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Have a shell's script for apt-cache."""
    program = directory / "bin" / "apt-cache"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def test_names_are_those_that_apt_knows(
    apt: PrivateApt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f'[ "$*" = "-c {tmp_path}/apt.conf pkgnames" ] && printf "llvm-9\\nllvm-21\\nllvm\\ncurl\\n"'
    apt_cache(tmp_path, monkeypatch, script)
    assert apt.names() == {"llvm-9", "llvm-21", "llvm", "curl"}
    assert apt.newest(re.compile(r"llvm-(\d+)")) == ("llvm-21", (21,))
    assert apt.newest(re.compile(r"gcc-(\d+)")) is None


def test_an_apt_that_fails_knows_not_just_a_part(
    apt: PrivateApt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt_cache(tmp_path, monkeypatch, "echo llvm-9; exit 100")
    with pytest.raises(subprocess.CalledProcessError):
        apt.names()
