"""The image that labs boot: a User Mode Linux kernel, a root tree, own programs, and extras."""

from headway.image.extras import (
    EXTRAS,
    Extra,
    ExtraStatus,
    InstalledExtra,
    add_extra,
    extra_status,
    find_extra,
    installed_extras,
    remove_extras,
)
from headway.image.guestcode import compiled_guest_code
from headway.image.image import Image
from headway.image.infos import ImageInfo, KernelInfo, NativeInfo, RootInfo
from headway.image.options import ImageOptions
from headway.image.progress import (
    BuildProgress,
    PlainProgress,
    SilentProgress,
)
from headway.image.stored import ImageStatus, find, remove, status
from headway.image.toolchain import Toolchain
from headway.image.watching import shown_progress

__all__ = [
    "EXTRAS",
    "BuildProgress",
    "Extra",
    "ExtraStatus",
    "Image",
    "ImageInfo",
    "ImageOptions",
    "ImageStatus",
    "InstalledExtra",
    "KernelInfo",
    "NativeInfo",
    "PlainProgress",
    "RootInfo",
    "SilentProgress",
    "Toolchain",
    "add_extra",
    "compiled_guest_code",
    "extra_status",
    "find",
    "find_extra",
    "installed_extras",
    "remove",
    "remove_extras",
    "shown_progress",
    "status",
]
