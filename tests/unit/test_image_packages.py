"""Which packages a root tree gets, and of which suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.image import SilentProgress
from headway.image.apt import PackageVersion, PrivateApt
from headway.image.packagelist import ForeignPackage, PackageList
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


def test_left_out_packages_look_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runner, "run", lambda *_, **__: None)
    apt = PrivateApt(tmp_path, "http://mirror.test/debian", "sid", Runner(tmp_path / "log"), ("a",))
    apt.update(lambda _: None)
    assert "Package: a\nStatus: install ok installed\n" in (tmp_path / "status").read_text()
