"""The image that labs boot: a User Mode Linux kernel and a root tree of Debian packages."""

from headway.lab.image.builder import build
from headway.lab.image.guestcode import compiled_guest_code
from headway.lab.image.image import (
    Image,
    ImageInfo,
    ImageStatus,
    KernelInfo,
    RootInfo,
    find,
    remove,
    status,
)
from headway.lab.image.options import ImageOptions
from headway.lab.image.progress import (
    BuildProgress,
    PlainProgress,
    SilentProgress,
    shown_progress,
)

__all__ = [
    "BuildProgress",
    "Image",
    "ImageInfo",
    "ImageOptions",
    "ImageStatus",
    "KernelInfo",
    "PlainProgress",
    "RootInfo",
    "SilentProgress",
    "build",
    "compiled_guest_code",
    "find",
    "remove",
    "shown_progress",
    "status",
]
