"""An image and a machine that are ready for use: from the cache, or made first."""

from __future__ import annotations

from headway.image import (
    Image,
    ImageOptions,
    compiled_guest_code,
    find,
    installed_extras,
    shown_progress,
)
from headway.lab.machine import Machine


def ready_image(options: ImageOptions | None = None) -> Image:
    """The cached image, built first if there is none; a build is shown on standard error.

    Args:
        options: where the image comes from; by default what the environment says.

    Raises:
        HeadwayError: it cannot be built.
    """
    options = options or ImageOptions.from_environment()
    if cached := find(options):
        return cached
    # Imported here because an image is built once, and found every time.
    from headway.image.builder import build

    with shown_progress() as progress:
        return build(options, progress)


def ready_machine(image: Image) -> Machine:
    """A machine that boots an image, with the extras that are installed."""
    extras = {name: extra.directory for name, extra in installed_extras().items()}
    return Machine(image, compiled_guest_code(image), extras)
