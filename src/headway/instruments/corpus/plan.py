"""The plan of a generated page: its objects, where they come from, and what leads to each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from headway.instruments.corpus.keystream import Keystream
from headway.instruments.corpus.model import PageModel

_THIRD_PARTIES = ("static", "img", "cdn", "tags", "media", "ads", "social", "widgets", "stats")


@dataclass(frozen=True)
class Script:
    """A script of a page.

    Attributes:
        url: absolute.
        inserts: URLs of the scripts that it inserts.
        fills: places of the images that it inserts.
    """

    url: str
    inserts: tuple[str, ...] = ()
    fills: tuple[int, ...] = ()


@dataclass(frozen=True)
class Stylesheet:
    """A stylesheet of a page.

    Attributes:
        url: absolute.
        backgrounds: places of the images that are its backgrounds.
        fonts: numbers of the fonts that it uses.
    """

    url: str
    backgrounds: tuple[int, ...] = ()
    fonts: tuple[int, ...] = ()


@dataclass(frozen=True)
class PagePlan:
    """All objects of a page but their content; images by their place, in order down the page.

    Attributes:
        model: what was planned for.
        stylesheets: those that block first.
        scripts: those that block first, then the others of the document, then inserted ones.
        images: URLs.
        fonts: URLs.
    """

    model: PageModel
    stylesheets: tuple[Stylesheet, ...]
    scripts: tuple[Script, ...]
    images: tuple[str, ...]
    fonts: tuple[str, ...]

    @cached_property
    def document_scripts(self) -> tuple[Script, ...]:
        return self.scripts[: len(self.scripts) - self.model.inserted_scripts]

    @cached_property
    def background_places(self) -> frozenset[int]:
        """Places of images that are backgrounds."""
        return frozenset(place for sheet in self.stylesheets for place in sheet.backgrounds)

    @cached_property
    def filled_places(self) -> frozenset[int]:
        """Places of images that scripts insert."""
        return frozenset(place for script in self.scripts for place in script.fills)


def plan_page(model: PageModel) -> PagePlan:
    """Give every object a URL and something that leads to it."""
    stream = Keystream(f"plan/{model.name}/{model.seed}")
    counts = {
        "css": model.stylesheets.count,
        "js": model.scripts.count,
        "png": model.images.count,
        "ttf": model.fonts.count,
    }
    urls = _urls(model, counts, stream)
    places = stream.shuffled(range(model.images.count))
    backgrounds = places[: model.background_images]
    filled = places[model.background_images :][: model.inserted_images]
    sheets = len(urls["css"])
    return PagePlan(
        model,
        tuple(
            Stylesheet(
                url,
                tuple(sorted(backgrounds[number::sheets])),
                tuple(range(number, model.fonts.count, sheets)),
            )
            for number, url in enumerate(urls["css"])
        ),
        _scripts(model, urls["js"], filled),
        urls["png"],
        urls["ttf"],
    )


def _urls(
    model: PageModel, counts: dict[str, int], stream: Keystream
) -> dict[str, tuple[str, ...]]:
    """URLs of all objects but the document, by kind."""
    paths = [(kind, number) for kind, count in counts.items() for number in range(count)]
    hosts = dict.fromkeys(paths, f"{model.name}.test")
    outside = stream.shuffled(paths)[: model.third_party_objects]
    older, newer = outside[: model.older_objects], outside[model.older_objects :]
    others = model.third_parties - model.older_parties
    for first, count, group in (
        (0, model.older_parties, older),
        (model.older_parties, others, newer),
    ):
        for number, path in enumerate(group):
            hosts[path] = _third_party(model, first + _party(number, count, stream))
    return {
        kind: tuple(f"https://{hosts[kind, n]}/{kind}/{n + 1:03}.{kind}" for n in range(count))
        for kind, count in counts.items()
    }


def older_hosts(model: PageModel) -> frozenset[str]:
    """Hosts of the third parties with an older version of HTTP."""
    return frozenset(_third_party(model, party) for party in range(model.older_parties))


def _party(number: int, parties: int, stream: Keystream) -> int:
    """Whose a third-party object is: each party has one, the rest is spread as 1, 1/2, 1/3..."""
    party = number
    if number >= parties:
        weights = [10**6 // (rank + 1) for rank in range(parties)]
        party, drawn = 0, stream.below(sum(weights))
        while drawn >= weights[party]:
            drawn -= weights[party]
            party += 1
    return party


def _third_party(model: PageModel, party: int) -> str:
    """Host of a third party."""
    round_, label = divmod(party, len(_THIRD_PARTIES))
    return f"{_THIRD_PARTIES[label]}{round_ + 1 if round_ else ''}.{model.name}.test"


def _scripts(model: PageModel, urls: tuple[str, ...], filled: list[int]) -> tuple[Script, ...]:
    blocking = model.blocking_scripts
    others = len(urls) - blocking
    inserts = _insertions(others - model.inserted_scripts, others, model.script_depth)
    return (
        *(Script(url) for url in urls[:blocking]),
        *(
            Script(
                urls[blocking + number],
                tuple(urls[blocking + child] for child in inserts[number]),
                tuple(sorted(filled[number::others])),
            )
            for number in range(others)
        ),
    )


def _insertions(in_document: int, others: int, depth: int) -> list[list[int]]:
    """By the number of each script that does not block: the numbers of those that it inserts.

    Inserted scripts are dealt out to the levels below the document's, and those of a level to
    the scripts of the level above.
    """
    inserts: list[list[int]] = [[] for _ in range(others)]
    levels = [list(range(in_document))]
    levels += [list(range(in_document + level, others, depth - 1)) for level in range(depth - 1)]
    for parents, children in pairwise(levels):
        for number, child in enumerate(children):
            inserts[parents[number % len(parents)]].append(child)
    return inserts
