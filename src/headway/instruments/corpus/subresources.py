"""Content of a generated page's stylesheets and scripts: what they must have, and filling."""

from __future__ import annotations

from headway.instruments.corpus.keystream import Keystream
from headway.instruments.corpus.plan import PagePlan, Script, Stylesheet

_SMALLEST_COMMENT = len("/**/")
_COLOURS = ("#eef3fb", "#fbf3ee", "#eefbf1", "#f8eefb", "#fbfaee", "#eefafb", "#f3f3f3")
_STARTS = (".amber", ".birch", ".cedar", ".delta", ".ember", ".fjord", ".grove", ".heron")
_RULES = ("margin", "padding", "border-radius", "letter-spacing", "outline-offset", "text-indent")


def stylesheet(plan: PagePlan, sheet: Stylesheet) -> str:
    """What a stylesheet must have: colours of sections, backgrounds of places, fonts of headings."""
    number = plan.stylesheets.index(sheet)
    lines = [
        f"section.t{theme}{{background:{colour};border-top:4px solid #{theme}68}}"
        for theme, colour in enumerate(_COLOURS)
        if theme % len(plan.stylesheets) == number
    ]
    lines += [
        f".b{place}{{background-image:url({plan.images[place]})}}" for place in sheet.backgrounds
    ]
    for font in sheet.fonts:
        lines.append(
            f"@font-face{{font-family:f{font};src:url({plan.fonts[font]});font-display:swap}}"
        )
        lines.append(f"{_FONT_USERS[font % len(_FONT_USERS)]}{{font-family:f{font},sans-serif}}")
    return "".join(f"{line}\n" for line in lines)


_FONT_USERS = ("h1", "header", "h2", "section p", ".intro p")


def script(plan: PagePlan, script: Script) -> tuple[str, str]:
    """What a script must have, before and after its filling, which is a table of numbers.

    It adds up the table, notes the sum on the document's element, and inserts what it has to.
    """
    number = plan.scripts.index(script)
    fills = "".join(f'fill({place},"{plan.images[place]}");\n' for place in script.fills)
    inserts = "".join(f'insert("{url}");\n' for url in script.inserts)
    return (
        '(function () {\n"use strict";\nvar table = [',
        "];\nvar sum = table.reduce(function (all, one) { return (all * 31 + one) % 65521; }, 7);\n"
        f'document.documentElement.setAttribute("data-script-{number + 1}", sum);\n'
        f"{_FILL if fills else ''}{_INSERT if inserts else ''}{fills}{inserts}}})();\n",
    )


_FILL = (
    "function fill(place, url) {\n"
    '  var image = document.createElement("img");\n'
    '  image.alt = "";\n'
    "  image.src = url;\n"
    '  document.getElementById("i" + place).appendChild(image);\n'
    "}\n"
)
_INSERT = (
    "function insert(url) {\n"
    '  var script = document.createElement("script");\n'
    "  script.src = url;\n"
    "  document.body.appendChild(script);\n"
    "}\n"
)


def filled_stylesheet(needed: str, size: int, stream: Keystream) -> str:
    """A stylesheet of exactly that size, with rules for elements that are not there."""
    lines = []
    room = size - len(needed) - _SMALLEST_COMMENT
    while room > 0:
        start, end = stream.choice(_STARTS), stream.below(10**4)
        rule, colour = stream.choice(_RULES), stream.below(16**6)
        line = f"{start}-{end}{{{rule}:{stream.below(32)}px;color:#{colour:06x}}}\n"
        if len(line) > room:
            break
        lines.append(line)
        room -= len(line)
    return f"{needed}{''.join(lines)}/*{'-' * room}*/"


def filled_script(needed: tuple[str, str], size: int, stream: Keystream) -> str:
    """A script of exactly that size, with numbers in its table."""
    before, after = needed
    numbers: list[str] = []
    room = size - len(before) - len(after) - _SMALLEST_COMMENT
    while room >= len("65535,\n"):
        numbers.append(f"{stream.below(2**16)},{'' if len(numbers) % 16 else chr(10)}")
        room -= len(numbers[-1])
    return f"{before}{''.join(numbers)}/*{'-' * room}*/{after}"


def smallest(needed: str | tuple[str, str]) -> int:
    """Bytes that a stylesheet or script has to have at least."""
    return len("".join(needed)) + _SMALLEST_COMMENT
