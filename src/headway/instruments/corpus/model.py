"""The model that a generated page is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from headway.errors import WrongInputError


@dataclass(frozen=True)
class Objects:
    """How many objects of one kind a page has, and how many bytes they have together."""

    count: int = 0
    total_bytes: int = 0


@dataclass(frozen=True)
class PageModel:
    """The structure of a page; together with its seed, it decides every byte.

    Attributes:
        name: of the site; its page is ``https://NAME.test/``.
        seed: of all draws.
        html_bytes: size of the document.
        stylesheets: linked from the document; the first of them in its head.
        scripts: linked from the document or inserted by other scripts.
        images: in the document, in stylesheets as backgrounds, or inserted by scripts.
        fonts: used by stylesheets.
        size_sigma: standard deviation of the natural logarithm of the sizes of a kind's objects.
        blocking_stylesheets: in the head, so that nothing is painted before they are there; the
            others are at the end of the body.
        blocking_scripts: in the head, run before the body is parsed; the others are asynchronous.
        inserted_scripts: scripts that other scripts insert.
        script_depth: requests, one after the other, from the document to the last script: 1
            without inserted scripts, 2 if those of the document insert the rest, and so on.
        background_images: images that are found only when a stylesheet is there.
        inserted_images: images that are found only when a script has run.
        above_fold_images: images within a window of 1366x768 pixels.
        third_parties: origins besides the page's.
        third_party_objects: objects that come from them, in parts as 1, 1/2, 1/3 and so on.
        older_parties: of the third parties, those with an older version of HTTP than the page.
        older_objects: objects that come from these, likewise in parts.
        heavy_older: whether their images are the largest of the page.
    """

    name: str
    seed: int
    html_bytes: int
    stylesheets: Objects = field(default_factory=Objects)
    scripts: Objects = field(default_factory=Objects)
    images: Objects = field(default_factory=Objects)
    fonts: Objects = field(default_factory=Objects)
    size_sigma: float = 1.0
    blocking_stylesheets: int = 0
    blocking_scripts: int = 0
    inserted_scripts: int = 0
    script_depth: int = 1
    background_images: int = 0
    inserted_images: int = 0
    above_fold_images: int = 0
    third_parties: int = 0
    third_party_objects: int = 0
    older_parties: int = 0
    older_objects: int = 0
    heavy_older: bool = False

    def __post_init__(self) -> None:
        """Refuse a page that cannot be.

        Raises:
            WrongInputError: which attribute does not go with the others, and why.
        """
        if urlsplit(f"https://{self.name}.test/").hostname != f"{self.name}.test":
            self._refuse("name", "must be fit for a host name, in lower case")
        if self.fonts.count and not self.stylesheets.count:
            self._refuse("fonts", "need a stylesheet that uses them")
        for attribute, (low, high, why) in self._limits().items():
            value = getattr(self, attribute)
            if not low <= value <= high:
                self._refuse(attribute, f"must be {low} to {high} ({why}), not {value}")

    def _limits(self) -> dict[str, tuple[int, int, str]]:
        """Least and most of each count, and what they depend on."""
        unblocking = self.scripts.count - self.blocking_scripts
        deeper = self.script_depth - 1
        return {
            "blocking_stylesheets": (0, self.stylesheets.count, "the number of stylesheets"),
            "blocking_scripts": (0, self.scripts.count, "the number of scripts"),
            "script_depth": (1, max(1, unblocking), "the number of scripts that do not block"),
            "inserted_scripts": (
                deeper,
                unblocking - 1 if deeper else 0,
                "one or more per level of script_depth below the first",
            ),
            "background_images": (
                0,
                self.images.count if self.stylesheets.count else 0,
                "the number of images, if there is a stylesheet",
            ),
            "inserted_images": (
                0,
                self.images.count - self.background_images if unblocking else 0,
                "the number of other images, if there is a script that does not block",
            ),
            "above_fold_images": (0, self.images.count, "the number of images"),
            "third_parties": (0, self.third_party_objects, "third-party objects"),
            "third_party_objects": (
                0,
                self.resources - 1 if self.third_parties else 0,
                "objects besides the document, if there are third parties",
            ),
            "older_parties": (0, min(self.third_parties, self.older_objects), "older objects"),
            "older_objects": (
                0,
                self.third_party_objects - (self.third_parties - self.older_parties)
                if self.older_parties
                else 0,
                "third-party objects, one for each newer third party left",
            ),
        }

    def _refuse(self, attribute: str, why: str) -> None:
        raise WrongInputError(why, where=f"page {self.name}: {attribute}")

    @property
    def resources(self) -> int:
        """Number of all objects, the document among them."""
        kinds = (self.stylesheets, self.scripts, self.images, self.fonts)
        return 1 + sum(kind.count for kind in kinds)

    @property
    def total_bytes(self) -> int:
        """Bytes of all objects together."""
        kinds = (self.stylesheets, self.scripts, self.images, self.fonts)
        return self.html_bytes + sum(kind.total_bytes for kind in kinds)
