"""An image and a machine that are ready for use: from the cache, or made first."""

from __future__ import annotations

from collections.abc import Iterable

from headway.image import (
    Image,
    ImageOptions,
    compiled_guest_code,
    find,
    installed_extras,
    shown_progress,
)
from headway.lab.machine import Machine


def ready_image(options: ImageOptions | None = None, layers: Iterable[str] = ()) -> Image:
    """The cached image, built first if there is none; a build is shown on standard error.

    Args:
        options: where the image comes from; by default what the environment says.
        layers: names of layers that its root tree has.

    Raises:
        HeadwayError: it cannot be built, or may not be downloaded.
    """
    options = options or ImageOptions.from_environment()
    if cached := find(options, layers):
        return cached
    # Imported here because an image is built once, and found every time.
    from headway.image.builder import build

    with shown_progress() as progress:
        return build(options, progress, layers)


def ready_machine(image: Image) -> Machine:
    """A machine that boots an image, with the extras that are installed."""
    extras = {name: extra.directory for name, extra in installed_extras().items()}
    return Machine(image, compiled_guest_code(image), extras)
