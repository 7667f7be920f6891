"""Styles of contenders: colours by version of HTTP, dashes through proxies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle

from headway.analysis import Analysis, Pairing
from headway.report.theme import CONTENDERS, FAMILIES, SHAPES, TRANSPORTS, Colour, Marker, Style


@dataclass(frozen=True)
class _Making:
    """What decides on a contender's style: its protocol and programs, and whether it is proxied."""

    protocol: str
    programs: tuple[str, ...]
    proxied: bool


def study_styles(analyses: Iterable[Analysis]) -> dict[str, Style]:
    """A style for each contender of a study, the same in all its figures.

    A contender has a colour of its version of HTTP, or any if all speak the same, or one of none if it speaks several; the same
    programs behind a proxy have the same colour with dashes. Contenders of bulk flows differ in
    colour as far as that goes. No two styles are the same while they last.
    """
    recipes = _makings(analyses)
    alike = len({making.protocol for making in recipes.values()}) == 1
    styles: dict[str, Style] = {}
    colours: dict[tuple[str, tuple[str, ...]], Colour] = {}
    for name, making in recipes.items():
        key = (making.protocol, making.programs)
        dashed = making.proxied and making.protocol not in TRANSPORTS
        sibling = colours.get(key) if dashed else None
        wanted = _candidates(making.protocol, sibling, alike)
        taken = set(styles.values())
        styles[name] = next((style for style in wanted if style not in taken), _LAST)
        colours.setdefault(key, styles[name].colour)
    return styles


def pairing_styles(styles: Mapping[str, Style], pairings: Sequence[Pairing]) -> dict[str, Style]:
    """For each comparison its contender's style; where one has several of them, dashes differ."""
    apart = told_apart([styles[pairing.contender] for pairing in pairings])
    return dict(zip(map(str, pairings), apart, strict=True))


def told_apart(styles: Sequence[Style]) -> list[Style]:
    """The styles, with other dashes and dots where one comes again."""
    result: list[Style] = []
    for style in styles:
        others = (Style(style.colour, *shape) for shape in SHAPES)
        result.append(
            next((candidate for candidate in (style, *others) if candidate not in result), style)
        )
    return result


def dots_apart(styles: Mapping[str, Style]) -> dict[str, Style]:
    """The styles with other dots for each, as far as there are: where lines do not tell them apart."""
    markers = zip(styles.items(), cycle(Marker), strict=False)
    return {name: replace(style, marker=marker) for (name, style), marker in markers}


_LAST = Style(CONTENDERS[0], *SHAPES[-1])


def _candidates(protocol: str, sibling: Colour | None, alike: bool) -> Iterator[Style]:
    """Styles in the order of preference; that of a sibling without proxy, dashed, comes first."""
    if sibling:
        yield Style(sibling, *SHAPES[1])
    family = TRANSPORTS.get(protocol) or FAMILIES.get(protocol) or _family_of_several(protocol)
    others = [colour for colour in reversed(CONTENDERS) if colour not in family]
    groups = [[*family, *others]] if alike else [family, others]
    for group in groups:
        for shape in SHAPES[1:] if sibling else SHAPES:
            for colour in group:
                yield Style(colour, *shape)


def _family_of_several(protocol: str) -> tuple[Colour, ...]:
    """Colours of contenders that each speak several versions, in different cells: not the first one of any version."""
    if " / " not in protocol:
        return ()
    pairs = zip(reversed(FAMILIES["h3"][1:]), reversed(FAMILIES["h2"][1:]), strict=True)
    return tuple(chain.from_iterable(pairs))


def _makings(analyses: Iterable[Analysis]) -> dict[str, _Making]:
    """What makes each contender, where it first occurs; those without proxy first."""
    recipes: dict[str, _Making] = {}
    for analysis in analyses:
        traits = {trait.name: trait.values for trait in analysis.traits}
        nothing = ("none",) * len(analysis.contenders)
        columns = [traits.get(name, nothing) for name in ("protocol", "client", "server", "proxy")]
        for name, protocol, client, server, proxy in zip(
            analysis.contenders, *columns, strict=True
        ):
            recipes.setdefault(name, _Making(protocol, (client, server), proxy != "none"))
    return dict(sorted(recipes.items(), key=lambda entry: entry[1].proxied))
