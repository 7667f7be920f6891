"""Headway's own programs: a lab shows those that the image has, and finds them by their name."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from headway.contract.names import NATIVE_DIRECTORY
from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.image import Image
from headway.lab.machine import Machine
from headway.study.units import Duration

pytestmark = pytest.mark.lab


def output(machine: Machine, script: str, directory: Path) -> str:
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("script", "client", ("sh", "-c", script)),),
        limit_ns=60 * 10**9,
    )
    outcome = machine.boot(orders, directory, seed=1, cpu_limit=Duration(120 * 10**9))
    assert outcome.status == "ok"
    return (directory / "script.out").read_text()


def test_a_program_is_shown_and_found(machine: Machine, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "headway-greeter").write_text("#!/bin/sh\necho hello\n")
    (programs / "headway-greeter").chmod(0o755)
    shutil.copy(machine.image.native / "headway-agent", programs)
    image = SimpleNamespace(kernel=machine.image.kernel, root=machine.image.root, native=programs)
    script = f"headway-greeter; {NATIVE_DIRECTORY}/headway-greeter; ls {NATIVE_DIRECTORY}"
    said = output(replace(machine, image=image), script, tmp_path / "run")
    assert said == "hello\nhello\nheadway-agent\nheadway-greeter\n"


def test_the_images_programs_are_shown(machine: Machine, tmp_path: Path) -> None:
    assert isinstance(machine.image, Image)
    said = output(machine, f"ls {NATIVE_DIRECTORY}", tmp_path / "run")
    assert tuple(said.split()) == machine.image.info.native.programs
