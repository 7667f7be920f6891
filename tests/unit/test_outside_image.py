"""Root trees that programs from outside have in place of the lab's."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from headway.campaign.feasibility import checked_plan
from headway.cli import main
from headway.contract.orders import View
from headway.errors import HeadwayError, WrongInputError
from headway.image.apt import PackageVersion, PrivateApt
from headway.image.fit import check_fit
from headway.image.outsideroot import outside_root, package_versions
from headway.lab.assemble import orders_for
from headway.planning.deploy import deploy
from headway.planning.runs import Run
from headway.records.runkey import run_key
from headway.study.load import load_study
from headway.study.outsidefile import read_programs, with_build
from headway.study.setting import Setting
from headway.study.user_programs import OutsideProgram
from tests.container_images import Entry, Made, directory, link, write_archive, write_directory
from tests.unit.test_outside import elf

SHELL = (Entry("usr/bin/sh", b"#!/usr/bin/sh\n", 0o755), link("bin", "usr/bin"))
OWN = Entry("opt/own", b"#!/bin/sh\n", 0o755)
START = {"Entrypoint": ["own", "{port}"], "Env": ["PATH=/opt:/bin", "A=1"], "WorkingDir": "/srv"}
IMAGE = Made(((*SHELL, OWN, directory("srv")),), START)
SERVER = '[server.own]\nprotocols = ["h3"]\nimage = "own.tar"\n'
PACKAGES = '[server.own]\nprotocols = ["h3"]\npackages = ["own"]\nargv = ["own"]\n'
STUDY = 'name = "s"\nprotocol = "h3"\nserver.program = "own"\npath.rtt = "10 ms"\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))


def read(place: Path, text: str = SERVER, made: Made = IMAGE) -> OutsideProgram:
    place.mkdir(exist_ok=True)
    write_archive(place / "own.tar", made.saved())
    (place / "programs.toml").write_text(text)
    (program,) = read_programs(place / "programs.toml")
    return program


def setting(program: OutsideProgram) -> Setting:
    raw = {"protocol": "h3", program.role: {"program": "own"}, "capture": {"qlog": True}}
    return Setting.model_validate(raw).model_copy(update={"programs": (program,)})


def test_an_image_says_how_its_program_is_started(tmp_path: Path) -> None:
    program = read(tmp_path)
    check_fit(program, None)
    orders = orders_for(deploy(setting(program)))
    server = orders.programs[0]
    assert server.argv == ("own", "{port}")
    assert server.env == {"PATH": "/opt:/bin", "A": "1"}
    assert orders.views == (View("server", "", {}, "/lab/extras/own-server.root", "/srv"),)


def test_a_file_says_otherwise(tmp_path: Path) -> None:
    more = 'argv = ["/opt/own", "{port}", "{qlog}"]\nenv = { A = "{port}" }\n'
    program = read(tmp_path, SERVER + more)
    check_fit(program, None)
    orders = orders_for(deploy(setting(program)))
    server = orders.programs[0]
    assert server.argv == ("/opt/own", "443", "/lab/run/qlog/server")
    assert server.env["A"] == "443"
    # There need be no shell that would make the directory.
    assert orders.views[0].files == {"/lab/run/qlog/server/.made": ""}


def test_a_file_of_this_machine_may_be_started_there(tmp_path: Path) -> None:
    (tmp_path / "start").write_text("#!/bin/sh\n")
    (tmp_path / "start").chmod(0o755)
    program = read(tmp_path, SERVER + 'argv = ["./start", "/opt/own"]\n')
    check_fit(program, None)
    server = orders_for(deploy(setting(program))).programs[0]
    assert server.argv == ("/lab/extras/own-server/own", "/opt/own")


def test_a_tree_has_what_labs_mount_and_look_up(tmp_path: Path) -> None:
    odd = (link("tmp", "/var/tmp"), Entry("dev", b"a file"), link("etc/hosts", "/etc/passwd"))
    root = outside_root(read(tmp_path, made=Made(((*odd, OWN, Entry("etc/passwd", b"x")),), START)))
    for name in ("proc", "sys", "dev", "tmp", "lab"):
        assert (root / name).is_dir() and not (root / name).is_symlink()
    assert (root / "etc" / "hosts").read_text() == "127.0.0.1 localhost\n"
    assert (root / "etc" / "passwd").read_text() == "x"
    assert "nogroup" in (root / "etc" / "group").read_text()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('argv = ["gone"]', "its image has no program 'gone' in /opt:/bin"),
        ('argv = ["/opt/gone"]', "its image has no program '/opt/gone'"),
        ('argv = ["/srv"]', "its image has no program '/srv'"),
        ('argv = ["/opt/perl"]', "its first line asks for /usr/bin/perl, which its image lacks"),
        ('argv = ["/opt/arm"]', "it is built for Arm (64 bits), and labs are x86-64"),
        (
            'argv = ["musl"]',
            "it asks for the loader /lib/ld-musl-x86_64.so.1, which its image lacks",
        ),
        ('argv = ["/opt/text"]', "its file is neither an ELF program nor a script"),
        ('argv = ["own"]\nenv.PATH = "/bin"', "its image has no program 'own' in /bin"),
    ],
)
def test_what_an_image_cannot_start_is_refused(tmp_path: Path, more: str, message: str) -> None:
    added = (
        Entry("opt/perl", b"#!/usr/bin/perl\n", 0o755),
        Entry("opt/arm", elf(183), 0o755),
        Entry("opt/musl", elf(62, b"/lib/ld-musl-x86_64.so.1\0"), 0o755),
        Entry("opt/text", b"text", 0o755),
    )
    program = read(tmp_path, f"{SERVER}{more}\n", Made((*IMAGE.layers, added), START))
    with pytest.raises(WrongInputError) as refused:
        check_fit(program, None)
    assert f"own cannot be started: {message}" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SERVER.replace("own.tar", "gone.tar"), "programs.toml:3: server.own.image: there is no "),
        (SERVER.replace("own.tar", "programs.toml"), "is neither a directory nor a tar archive"),
        (SERVER.replace("own.tar", "empty"), "/empty: is an empty directory"),
    ],
)
def test_what_cannot_be_right_is_refused_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    write_directory(tmp_path / "tree", {"bin/own": b""})
    with pytest.raises(WrongInputError) as refused:
        read(tmp_path, text).check_whole()
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_another_image_is_another_program(tmp_path: Path) -> None:
    programs = {
        "old": read(tmp_path / "old"),
        "copy": read(tmp_path / "copy"),
        "new": read(tmp_path / "new", made=Made(((*SHELL, OWN, Entry("srv/new")),), START)),
    }
    old, copy, new = programs.values()
    assert old == copy != new

    def key(program: OutsideProgram) -> str:
        one = setting(program)
        return run_key(Run("x", "test", "", "cell", "h3", 1, 1, one))

    assert key(old) == key(copy) != key(new)
    # As `headway check` has it: a build is an image.
    assert with_build(old, tmp_path / "new" / "own.tar") == new
    assert outside_root(old) == outside_root(copy) != outside_root(new)


def test_a_root_tree_may_be_a_directory(tmp_path: Path) -> None:
    write_directory(tmp_path / "tree", {"bin/own": b"#!/bin/own\n"})
    (tmp_path / "tree" / "bin" / "own").chmod(0o755)
    text = SERVER.replace("own.tar", "tree") + 'argv = ["own"]\n'
    program = read(tmp_path, text)
    check_fit(program, None)
    (tmp_path / "tree" / "bin" / "new").touch()
    (changed,) = read_programs(tmp_path / "programs.toml")
    assert changed != program
    assert not (outside_root(program) / "bin" / "new").exists()
    assert (outside_root(changed) / "bin" / "new").exists()


def test_an_image_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    program = read(tmp_path)
    read(tmp_path, made=Made(((*SHELL, OWN),), START))
    with pytest.raises(WrongInputError, match="has changed meanwhile; begin again"):
        outside_root(program)


def test_it_is_listed_with_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = read(tmp_path)
    assert program.image
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["headway", "list", "programs"])
    with pytest.raises(SystemExit):
        main()
    assert f"image {program.image.digest[:23]}" in " ".join(capsys.readouterr().out.split())


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A Debian package, whose library stands where those of before merged directories have theirs."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("there is no dpkg-deb")
    files = {
        "DEBIAN/control": b"Package: own\nVersion: 1:2-3\nArchitecture: amd64\n"
        b"Maintainer: nobody\nDescription: own\n",
        "usr/bin/own": b"#!/bin/sh\n",
        "bin/sh": b"#!/bin/sh\n",
        "lib/own.so": b"library",
    }
    place = write_directory(tmp_path / "package", files)
    for name in ("usr/bin/own", "bin/sh"):
        (place / name).chmod(0o755)
    made = tmp_path / "own.deb"
    command = ["dpkg-deb", "--root-owner-group", "--build", place, made]
    subprocess.run(command, check=True, capture_output=True)
    return made


def offer(monkeypatch: pytest.MonkeyPatch, archive: Path) -> None:
    """Have apt find a package."""

    def update(self: PrivateApt, advance: Callable[[float], None]) -> None: ...

    def closure(self: PrivateApt, names: Sequence[str]) -> list[PackageVersion]:
        assert names == ("coreutils", "dash", "own")
        return [PackageVersion("own", "1:2-3", "amd64")]

    def download(
        self: PrivateApt, packages: Sequence[PackageVersion], advance: Callable[[float], None]
    ) -> list[Path]:
        return [archive]

    for method in (update, closure, download):
        monkeypatch.setattr(PrivateApt, method.__name__, method)
    monkeypatch.setattr("headway.image.outsideroot.ensure", lambda *_: None)
    monkeypatch.setenv("HEADWAY_MIRROR", "file:/nowhere")


def test_packages_are_a_root_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, archive: Path
) -> None:
    offer(monkeypatch, archive)
    program = read(tmp_path, PACKAGES)
    (tmp_path / "study.toml").write_text(STUDY)
    assert checked_plan(load_study(str(tmp_path / "study.toml")), "study.toml")
    root = outside_root(program)
    assert (root / "lib").is_symlink()
    assert (root / "usr" / "lib" / "own.so").read_text() == "library"
    assert package_versions(program) == {"own": "1:2-3"}
    info = json.loads((root.parent / "info.json").read_text())
    assert info["packages"] == {"own": "1:2-3"}
    assert not (root.parent / "apt").exists()


def test_packages_that_cannot_be_had_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("apt-get") is None:
        pytest.skip("there is no apt")
    monkeypatch.setenv("HEADWAY_MIRROR", f"file:{tmp_path}/nowhere")
    program = read(tmp_path, PACKAGES)
    with pytest.raises(HeadwayError) as refused:
        outside_root(program)
    message = f"{tmp_path}/programs.toml:4: server.own.argv: packages: reading the package list of"
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)
