"""Programs that Python packages bring, as entry points; what is wrong with one is said in a line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.programs.ngtcp2_server import Ngtcp2Server
from headway.records.provenance import _version
from tests.stub_lab import stub_image

MODULE = '''
from pathlib import Path

from headway.contract.program import Program
from headway.errors import WrongInputError
from headway.programs.base import Knob, Server, Started, served_on
from headway.study.host import Protocol


class Brought(Server):
    """A server of another package."""

    name = "brought"
    protocols = frozenset({Protocol.H1})
    shows = {"brought": Path(__file__).parent}
    knobs = (Knob("threads", "1", "how many it has"), Knob("pinned", "off", "to a core each", ("on", "off")))

    def check(self, host, workload):
        if self.knob("pinned", host) == "on" and self.knob("threads", host) == "1":
            raise WrongInputError("one thread is pinned anyway: set threads", where="knobs.pinned")

    def serve(self, listener, host, capture):
        argv = ("/lab/extras/brought/server",)
        program = Program("brought", listener.namespace, argv, service=True, listens=served_on(listener))
        return Started((program,))


class Nginx(Brought):
    name = "nginx"


class Other:
    pass
'''


def headway(directory: Path, entry: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The command where a package is installed that has this entry point."""
    (directory / "brought.py").write_text(MODULE)
    info = directory / "brought-2.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 2.5\n")
    (info / "entry_points.txt").write_text(f"[headway.programs]\nit = {entry}\n")
    return subprocess.run(
        [Path(sys.executable).with_name("headway"), *words],
        env=os.environ | {"PYTHONPATH": str(directory), "COLUMNS": "200"},
        cwd=directory,
        capture_output=True,
        text=True,
    )


def listed(directory: Path, entry: str) -> subprocess.CompletedProcess[str]:
    return headway(directory, entry, "list", "programs", "brought")


def test_it_says_itself_what_it_cannot_do(tmp_path: Path) -> None:
    study = (
        'name = "mine"',
        'protocol = "h1"',
        'server = { program = "brought", knobs = { pinned = "on" } }',
    )
    (tmp_path / "mine.toml").write_text("\n".join(study))
    done = headway(tmp_path, "brought:Brought", "validate", "mine.toml")
    assert done.returncode == 2
    told = "mine.toml:3: server.knobs.pinned: one thread is pinned anyway: set threads"
    assert done.stderr.splitlines() == [f"headway: {told}"]


def test_a_packages_program_is_one_of_all(tmp_path: Path) -> None:
    done = listed(tmp_path, "brought:Brought")
    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    place = lines.index("brought (server)")
    assert lines[place + 1] == "protocols: h1"
    assert lines[-1] == "installed: brought 2.5"


def test_its_version_tells_of_another_binary(tmp_path: Path) -> None:
    adapter = Ngtcp2Server()
    adapter.version = "brought 2.5"
    adapter.shows = {"brought": tmp_path}
    (tmp_path / "server").write_text("old")
    old = _version(adapter, stub_image())
    assert old.startswith("brought 2.5 (files ")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "brought.pyc").touch()
    assert _version(adapter, stub_image()) == old
    (tmp_path / "server").write_text("new")
    assert _version(adapter, stub_image()) != old


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("brought:Gone", "cannot be loaded: AttributeError: "),
        ("gone:It", "cannot be loaded: ModuleNotFoundError: No module named 'gone'"),
        ("brought:Other", "brought:Other is no kind of Adapter"),
        ("brought:Nginx", "nginx is a program that comes with Headway"),
    ],
)
def test_what_is_wrong_with_one_is_said_in_a_line(tmp_path: Path, entry: str, said: str) -> None:
    done = listed(tmp_path, entry)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("headway: entry point it of headway.programs (brought 2.5): ")
    assert said in line
