"""Text of an exact length from a small list of words."""

from __future__ import annotations

from headway.instruments.corpus.keystream import Keystream

_LIST = """
amber anchor apple april arrow autumn bakery balcony barley basket beacon bicycle birch blanket
boat bridge bright brook butter cabin candle canvas carpet castle cedar chalk cherry chimney
cinder circle clay cloud clover coast copper coral cotton cradle crane creek crystal daisy dawn
desert dew dock door drift dune eagle early ember evening falcon farm feather fern ferry field
finch flame flax forest fountain fox garden gate ginger glacier glass golden granite grape grass
gravel green grove harbour hazel heather hedge heron hill honey horizon iron island ivory ivy jade
kettle kite ladder lake lamp lantern lark laurel lavender leaf lemon lighthouse lilac linen maple
marble market meadow mill mint mirror mist moon moss mountain needle nest north oak oat ocean
olive orange orchard otter paper path pebble pepper pine plum pond poppy quarry quiet quilt rain
raven reed ridge river robin rope rose rye sail salt sand shell silver slate small snow south
sparrow spring spruce stone stream summer sun swan thistle thyme tide timber tower valley velvet
village violet walnut water wheat white willow wind window winter wool yellow
"""
_WORDS = tuple(_LIST.split())
_PARAGRAPH_CHARACTERS = 600
_BREAK = "</p>\n<p>"


def words(stream: Keystream, count: int) -> str:
    """That many words, the first with a capital letter."""
    return " ".join(stream.choice(_WORDS) for _ in range(count)).capitalize()


def text(stream: Keystream, characters: int) -> str:
    """Sentences of exactly that many characters together, all of them ASCII."""
    sentences: list[str] = []
    length = 0
    while length < characters:
        sentences.append(words(stream, stream.between(5, 14)) + ". ")
        length += len(sentences[-1])
    cut = "".join(sentences)[: max(0, characters - 1)]
    if cut.endswith((" ", ".")):
        cut = f"{cut[:-1]}s"
    return cut + "."[:characters]


def paragraphs(stream: Keystream, characters: int) -> str:
    """What stands between ``<p>`` and ``</p>``: several paragraphs, exactly that many characters."""
    parts = []
    while characters > 2 * _PARAGRAPH_CHARACTERS:
        parts.append(text(stream, _PARAGRAPH_CHARACTERS) + _BREAK)
        characters -= len(parts[-1])
    return "".join(parts) + text(stream, characters)
