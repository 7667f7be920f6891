"""Pages of so many images of so many bytes, after Kakhki et al. 2017, section 3.3."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from headway.errors import WrongInputError
from headway.instruments.corpus.geometry import GAP, ImageSize, grid_cell
from headway.instruments.corpus.png import MIN_PNG_BYTES, png
from headway.instruments.corpus.response import CONTENT_TYPES, response
from headway.sites.site import Exchange, Site
from headway.study.units import Size, UnitError

MOST_OBJECTS = 1000
MOST_BYTES = 500_000_000
"""Most bytes of all images of a page together: a site is held in memory."""

_NAME = re.compile(r"objects-([1-9][0-9]*)x([1-9][0-9]*[A-Za-z]+)")
_EXAMPLE = "objects-20x100kB"
_AREA_WIDTH, _AREA_HEIGHT = 1320, 680
_LARGEST = ImageSize(320, 240)


@dataclass(frozen=True)
class ObjectsPage:
    """What the name of such a page says.

    Attributes:
        name: as ``objects-20x100kB``.
        count: number of images.
        size: of each image; a KB of the paper is 1000 bytes, as its 10,000 KB are its 10 MB.
    """

    name: str
    count: int
    size: Size

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """The page of that name; None if the name has another form.

        Raises:
            WrongInputError: the name has the form, but the page cannot be.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        try:
            page = cls(name, int(match[1]), Size.parse(match[2]))
        except UnitError as error:
            raise WrongInputError(f"{error}; write as {_EXAMPLE!r}", where=name) from error
        page._check()
        return page

    def _check(self) -> None:
        if self.count > MOST_OBJECTS:
            raise WrongInputError(f"at most {MOST_OBJECTS} objects", where=self.name)
        if self.size < MIN_PNG_BYTES:
            raise WrongInputError(f"an object has at least {MIN_PNG_BYTES} B", where=self.name)
        if self.count * self.size > MOST_BYTES:
            raise WrongInputError(
                f"all objects together can have at most {Size(MOST_BYTES)}", where=self.name
            )

    def site(self) -> Site:
        """The page: static HTML with images of fixed width and height, nothing else."""
        origin = f"https://{self.name.lower()}.test"
        urls = [f"{origin}/{number:04}.png" for number in range(1, self.count + 1)]
        document = self._document().encode()
        images = (self._image(url) for url in urls)
        return Site(
            self.name,
            f"{origin}/",
            (response(f"{origin}/", CONTENT_TYPES["html"], document, document=True), *images),
            f"{self.count} images of {self.size} each, after Kakhki et al. 2017",
        )

    def _image(self, url: str) -> Exchange:
        return response(url, CONTENT_TYPES["png"], png(self.size, url))

    def _document(self) -> str:
        cell = grid_cell(self.count, _AREA_WIDTH, _AREA_HEIGHT)
        width, height = min(cell.width, _LARGEST.width), min(cell.height, _LARGEST.height)
        images = "\n".join(
            f'<img src="/{number:04}.png" width="{width}" height="{height}" alt="">'
            for number in range(1, self.count + 1)
        )
        title = f"Objects: {self.count} x {self.size}"
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<title>{title}</title>\n<link rel="icon" href="data:,">\n<style>'
            "body{margin:8px;font:16px sans-serif;background:#fff}"
            "h1{margin:0 0 8px;font-size:24px;line-height:40px}"
            f"main{{display:flex;flex-wrap:wrap;gap:{GAP}px}}img{{background:#ddd}}"
            f"</style>\n</head>\n<body>\n<h1>{title}</h1>\n<main>\n{images}\n</main>\n"
            "</body>\n</html>\n"
        )
