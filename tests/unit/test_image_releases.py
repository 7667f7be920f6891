"""Releases of Python packages beside Debian's: pinned, fetched by pip, in a layer of their own."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from headway.errors import HeadwayError, WrongInputError
from headway.image import pinned, releases
from headway.image.keys import all_layers
from headway.image.process import Runner
from headway.image.releases import Release, install_release, parse_release
from headway.programs.aioquic import Aioquic, Aioquic0925, AioquicServer172
from headway.programs.registry import CLIENTS
from headway.study.setting import Setting
from tests.deployed import flow_of

HASH = f"--hash=sha256:{'0' * 64}"


def test_a_release_is_pinned_with_what_it_needs() -> None:
    found = parse_release("quic-1.2.3", f"# old\nquic==1.2.3 {HASH}\nneeded==4.0 {HASH}  # newer\n")
    assert found == Release(
        "quic-1.2.3", "quic", "1.2.3", (f"quic==1.2.3 {HASH}", f"needed==4.0 {HASH}")
    )
    assert (found.package, found.guest_directory) == ("quic@1.2.3", "/opt/quic-1.2.3")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nquic==1.2.3\n", r"line 2 of the list of releases: .*NAME==VERSION --hash"),
        (f"quic==1.2.4 {HASH}\n", r"\[quic-1\.2\.3\] must begin with the release that it names"),
        ("", r"\[quic-1\.2\.3\] must begin with the release that it names"),
    ],
)
def test_a_list_that_pins_something_else_is_named(text: str, told: str) -> None:
    with pytest.raises(WrongInputError, match=told):
        parse_release("quic-1.2.3", text)


def test_each_release_has_a_layer_whose_key_depends_on_its_hash() -> None:
    layer = all_layers()["aioquic-0.9.25"]
    assert layer.programs == {"aioquic@0.9.25"}
    assert layer.release is not None
    assert len(layer.release.requirements) == 1
    newest = all_layers()["aioquic-1.7.2"].release
    assert newest is not None and len(newest.requirements) == 2  # Debian's QPACK is too old.


def test_a_layer_has_the_release_that_an_adapter_names() -> None:
    for adapter in (Aioquic0925, AioquicServer172):
        assert adapter.name.replace("-", "@") == adapter.package
        assert adapter.also == (Aioquic.package,)
        assert any(adapter.package in layer.programs for layer in all_layers().values())


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("aioquic", "/lab/code"),
        ("aioquic-0.9.25", "/opt/aioquic-0.9.25:/lab/code"),
        ("aioquic-1.7.2", "/opt/aioquic-1.7.2:/lab/code"),
    ],
)
def test_python_seeks_a_release_before_debians(name: str, places: str) -> None:
    program = {"program": name}
    flow = flow_of(
        Setting.model_validate({"protocol": "h3", "client": program, "server": program}), "10.0.2.2"
    )
    (client,) = CLIENTS[name].start(flow).programs
    assert client.env["PYTHONPATH"] == places


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A wheel in a directory that pip looks for wheels in; its hash."""
    directory = tmp_path / "index"
    directory.mkdir()
    file = directory / "quic-1.2.3-py3-none-any.whl"
    info = "quic-1.2.3.dist-info"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("quic/__init__.py", "release = 'old'\n")
        made.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: quic\nVersion: 1.2.3\n")
        made.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        made.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    monkeypatch.setattr(releases, "compile_command", lambda *_: [sys.executable, "-c", "pass"])
    return hashlib.sha256(file.read_bytes()).hexdigest()


def install(tmp_path: Path, line: str) -> Path:
    release = parse_release(line.partition(" ")[0].replace("==", "-"), line)
    tree = tmp_path / "tree"
    install_release(release, tmp_path, tree, Runner(tmp_path / "pip.log"))
    return tree / "opt"


def test_the_tree_gets_the_whole_wheel(tmp_path: Path, wheel: str) -> None:
    place = install(tmp_path, f"quic==1.2.3 --hash=sha256:{wheel}")
    assert [one.name for one in place.iterdir()] == ["quic-1.2.3"]
    assert (place / "quic-1.2.3/quic/__init__.py").read_text() == "release = 'old'\n"


def test_another_wheel_than_the_pinned_one_is_refused(tmp_path: Path, wheel: str) -> None:
    with pytest.raises(HeadwayError, match=r"downloading quic@1\.2\.3 failed"):
        install(tmp_path, f"quic==1.2.3 {HASH}")


def test_a_python_without_pip_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(HeadwayError, match="ensurepip"):
        install(tmp_path, f"quic==1.2.3 {HASH}")


def test_an_index_without_it_is_named(tmp_path: Path, wheel: str) -> None:
    with pytest.raises(HeadwayError, match="the package index that pip is configured with"):
        install(tmp_path, f"other==1.2.3 {HASH}")
