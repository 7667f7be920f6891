"""Layers on the root tree: made when they are asked for, each once, and seen as one tree with what is below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.errors import HeadwayError, WrongInputError
from headway.image import ImageOptions, find, status
from headway.image.builder import build, renew
from headway.image.keys import OWN_PROGRAMS, RootInputs
from headway.image.layers import known_layers, layer_of, layers_in, layers_of_outside
from headway.programs.registry import CLIENTS, PROXIES, SERVERS
from headway.study.outsidefile import read_programs
from tests.unit.test_image_build import OPTIONS, Fakes, Recorded, fakes

__all__ = ["fakes"]


def tree_of(layers: list[str]) -> Path:
    image = find(OPTIONS, layers)
    assert image
    return image.root


def test_a_layer_is_made_once_and_seen_with_the_root_tree(fakes: Fakes) -> None:
    base = build(OPTIONS)
    grown = build(OPTIONS, layers=["caddy"])
    assert (fakes.kernels, fakes.roots, fakes.natives, fakes.layers) == (1, 1, 1, ["caddy"])
    assert sorted(one.name for one in (grown.root / "bin").iterdir()) == ["caddy", "curl"]
    assert (grown.root / "sbin").readlink() == Path("bin")
    # Without layers nothing is seen of them.
    assert find(OPTIONS) == base
    assert not (base.root / "bin" / "caddy").exists()
    assert (base.root / "both").read_text() == "root"
    assert grown.info.packages == {"caddy": "1", "curl": "8.22.0-1"}
    assert base.key == grown.key
    assert (list(base.layers), list(grown.layers)) == ([], ["caddy"])
    assert build(OPTIONS, layers=["caddy"]) == grown
    # Files are not stored twice.
    assert (grown.root / "bin" / "curl").samefile(base.root / "bin" / "curl")
    assert not (grown.root / "var/lib/dpkg/status").samefile(base.root / "var/lib/dpkg/status")


def test_layers_in_any_order_are_one_tree(fakes: Fakes) -> None:
    several = build(OPTIONS, layers=["wget", "caddy"])
    assert build(OPTIONS, layers=["caddy", "wget"]) == several
    assert sorted(fakes.layers) == ["caddy", "wget"]
    told = (several.root / "var/lib/dpkg/status").read_text()
    assert told == "Package: curl 8.22.0-1\n\nPackage: caddy\n\nPackage: wget\n"
    assert tree_of(["caddy"]) != several.root


def test_a_layer_that_fails_leaves_what_was_there_usable(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(OPTIONS, layers=["caddy"])

    def fail() -> None:
        raise HeadwayError("downloading packages failed: no route")

    fakes.in_every_part = fail
    with pytest.raises(HeadwayError, match="no route"):
        build(OPTIONS, layers=["caddy", "wget"])
    assert find(OPTIONS) and find(OPTIONS, ["caddy"])
    assert find(OPTIONS, ["caddy", "wget"]) is None
    fakes.in_every_part = lambda: None
    fakes.layers.clear()
    assert build(OPTIONS, layers=["caddy", "wget"])
    assert fakes.layers == ["wget"]


def test_layers_of_another_root_tree_are_not_used(fakes: Fakes) -> None:
    build(OPTIONS, layers=["caddy"])
    fakes.version = "9.0.0-1"
    renew(OPTIONS)
    assert (fakes.roots, fakes.layers) == (2, ["caddy", "caddy"])
    renewed = find(OPTIONS, ["caddy"])
    assert renewed and renewed.info.packages == {"caddy": "1", "curl": "9.0.0-1"}
    assert (renewed.root / "bin" / "curl").read_text() == "9.0.0-1"


def test_a_renewal_that_fails_leaves_the_old_tree(fakes: Fakes) -> None:
    before = build(OPTIONS, layers=["caddy"])

    def fail() -> None:
        raise HeadwayError("no route")

    fakes.in_every_part = fail
    with pytest.raises(HeadwayError, match="no route"):
        renew(OPTIONS)
    assert find(OPTIONS, ["caddy"]) == before
    assert (before.root / "bin" / "curl").read_text() == "8.22.0-1"


def test_equal_packages_keep_their_layers(fakes: Fakes) -> None:
    """As when the root tree alone was removed."""
    build(OPTIONS, layers=["caddy"])
    layer = status(OPTIONS).layers["caddy"]
    (layer.root.entry / "info.json").unlink()
    assert layer.info() is None
    build(OPTIONS, layers=["caddy"])
    assert (fakes.roots, fakes.layers) == (2, ["caddy"])


def test_offline_nothing_is_made_and_the_missing_is_named(fakes: Fakes) -> None:
    offline = ImageOptions(mirror=OPTIONS.mirror, offline=True)
    with pytest.raises(HeadwayError, match=r"lacks kernel, root tree.*`headway image build` makes"):
        build(offline)
    build(OPTIONS)
    assert build(offline) == find(OPTIONS)
    lacks = r"lacks the layer caddy, the layer wget; `headway image build caddy wget` makes it"
    with pytest.raises(HeadwayError, match=lacks):
        build(offline, Recorded(), ["wget", "caddy"])
    with pytest.raises(HeadwayError, match="lacks root tree"):
        renew(offline)
    assert fakes.layers == []


@pytest.mark.parametrize(("value", "offline"), [("1", True), ("", False), (None, False)])
def test_the_environment_may_say_so(value: str | None, offline: bool) -> None:
    told = {} if value is None else {"HEADWAY_OFFLINE": value}
    assert ImageOptions.from_environment(told).offline is offline


def test_every_program_is_in_the_root_tree_or_in_a_layer() -> None:
    in_the_tree = RootInputs.of_package().packages.programs
    layers = {
        adapter.package: layer_of(adapter.package)
        for known in (CLIENTS, SERVERS, PROXIES)
        for adapter in known.values()
        if not adapter.version and not adapter.extra
    }
    assert {package for package, layer in layers.items() if layer is None} <= in_the_tree
    assert (layers["haproxy"], layers["caddy"]) == ("haproxy", "caddy")
    own = {package for package, layer in layers.items() if layer == OWN_PROGRAMS}
    assert own == {package for package in layers if package.startswith("headway")} > set()


@pytest.mark.parametrize(
    ("command", "layers"),
    [
        (["curl", "-s", "https://server.test/1000.bin"], set()),
        (["caddy", "version"], {"caddy"}),
        (["sh", "-c", "haproxy -v && /usr/bin/wget -q x"], {"haproxy", "wget"}),
        (["wget2", "x"], {"wget2"}),
        (["sh", "-c", "headway-client --help"], {OWN_PROGRAMS}),
        (["headway-agent"], set()),
        (["python3", "-m", "aioquic.tls"], {"aioquic"}),
        (["cat", "not-caddy-but-this"], set()),
    ],
)
def test_layers_of_a_command(command: list[str], layers: set[str]) -> None:
    assert layers_in(command) == layers


def test_an_unknown_layer_is_refused() -> None:
    assert known_layers(["caddy"], "--with") == {"caddy"}
    with pytest.raises(WrongInputError, match=r"--with: there is no layer 'cady'; did you mean"):
        known_layers(["caddy", "cady"], "--with")


def outside(place: Path, text: str, **files: str) -> Any:
    for name, content in files.items():
        (place / name.replace("_", ".")).write_text(content)
        (place / name.replace("_", ".")).chmod(0o755)
    (place / "programs.toml").write_text(f'[server.own]\nprotocols = ["h3"]\n{text}')
    (program,) = read_programs(place / "programs.toml")
    return program


def test_layers_of_programs_from_outside(tmp_path: Path) -> None:
    script = "#!/usr/bin/python3\nimport aioquic\n"
    of_script = outside(tmp_path, 'argv = ["./own.py"]\n', own_py=script)
    assert layers_of_outside(of_script) == {"aioquic"}
    mounted = 'argv = ["python3", "{files}/own.py"]\nmount = ["own.py"]\n'
    assert layers_of_outside(outside(tmp_path, mounted)) == {"aioquic"}
    assert layers_of_outside(outside(tmp_path, 'argv = ["caddy", "run"]\n')) == {"caddy"}
    assert layers_of_outside(outside(tmp_path, 'argv = ["nginx"]\n')) == set()
    own = outside(tmp_path, 'argv = ["caddy"]\npackages = ["caddy"]\n')
    assert layers_of_outside(own) == set()
