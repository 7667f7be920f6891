"""References of style sheets (CSS Syntax 3, CSS Cascade 5, CSS Fonts 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tinycss2

from headway.sites.mediaquery import Matching, matching
from headway.sites.referring import Reference, UrlPlace

_HINTS = ("url(", "@import", "image-set(")
_SETS = frozenset(("image-set", "-webkit-image-set"))
_BEFORE_IMPORTS = frozenset(("charset", "layer", "import"))
_OLD_FORMATS = frozenset(("embedded-opentype", "eot", "svg"))
"""Formats of fonts that no browser of today reads."""
_GROUPS = frozenset(("media", "supports", "layer", "container", "scope", "starting-style"))
_DEEPEST_GROUP = 32
_FOREIGN = frozenset(("namespace", "-moz-document"))
"""Rules whose URLs are names."""


def css_references(text: str, base: str, charset: str = "utf-8") -> Iterator[Reference]:
    """What a style sheet refers to: other ones certainly, images and fonts if they are used.

    Browsers ignore imports that come after other rules (CSS Cascading and Inheritance Level 5,
    section 2).

    Args:
        text: of the style sheet.
        base: its URL.
        charset: in which queries are sent.
    """
    if not any(hint in text.lower() for hint in _HINTS):
        return
    place = UrlPlace(base, charset)
    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    may_import = True
    for rule in rules:
        name = getattr(rule, "lower_at_keyword", "")
        is_statement = name != "layer" or rule.content is None
        may_import = may_import and name in _BEFORE_IMPORTS and is_statement
        if name == "import":
            yield from _imported(rule.prelude, place) if may_import else ()
        elif rule.type != "error":
            yield from _of_rule(name, rule, place)


def css_imports(text: str, base: str, charset: str = "utf-8") -> Iterator[Reference]:
    """What a style sheet imports, which some browsers fetch before they look whether it applies.

    Args:
        text: of the style sheet.
        base: its URL.
        charset: in which queries are sent.
    """
    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    for rule in rules:
        if getattr(rule, "lower_at_keyword", "") not in _BEFORE_IMPORTS:
            return
        if rule.lower_at_keyword == "import":
            for reference in _imported(rule.prelude, UrlPlace(base, charset)):
                yield Reference(reference.url, False)


def style_references(text: str, place: UrlPlace) -> Iterator[Reference]:
    """What the declarations of an element refer to.

    Args:
        text: value of its ``style``.
        place: where it stands.
    """
    if any(hint in text.lower() for hint in _HINTS):
        yield from _urls(tinycss2.parse_component_value_list(text, skip_comments=True), place)


def _imported(prelude: Sequence[Any], place: UrlPlace) -> Iterator[Reference]:
    tokens = [token for token in prelude if token.type not in ("whitespace", "comment")]
    if not tokens:
        return
    url = tokens[0].value if tokens[0].type == "string" else _url(tokens[0])
    conditions = tokens[1:]
    if conditions and getattr(conditions[0], "lower_value", "") == "layer":
        conditions = conditions[1:]
    functions = [
        condition
        for condition in conditions
        if condition.type == "function" and condition.lower_name != "layer"
    ]
    media = [condition for condition in conditions if condition.type != "function"]
    # Chromium fetches those for other media, too, and those whose conditions do not hold.
    shown = matching(" ".join(value.serialize() for value in media))
    if url is not None:
        is_certain = shown is Matching.ALWAYS and not functions
        yield from place.references(url, is_certain=is_certain)


def _of_rule(name: str, rule: Any, place: UrlPlace, depth: int = 0) -> Iterator[Reference]:
    content = rule.content or ()
    if name == "font-face":
        yield from _font(content, place)
    elif name in _FOREIGN or (name == "media" and _is_never(rule.prelude)):
        return
    elif name in _GROUPS and depth < _DEEPEST_GROUP:
        for inner in tinycss2.parse_blocks_contents(content, True, True):
            inner_name = getattr(inner, "lower_at_keyword", "")
            if inner.type == "at-rule":
                yield from _of_rule(inner_name, inner, place, depth + 1)
            else:
                yield from _urls(_values(inner), place)
    else:
        yield from _urls(content, place)


def _is_never(prelude: Iterable[Any]) -> bool:
    return matching(tinycss2.serialize(prelude)) is Matching.NEVER


def _values(inner: Any) -> Sequence[Any]:
    return getattr(inner, "content", None) or getattr(inner, "value", None) or ()


def _font(content: Sequence[Any], place: UrlPlace) -> Iterator[Reference]:
    """The file of a font: the first that browsers read, of the last list; others only if that fails."""
    declarations = tinycss2.parse_blocks_contents(content, True, True)
    sources = [
        declaration.value
        for declaration in declarations
        if declaration.type == "declaration" and declaration.lower_name == "src"
    ]
    for source in _split(sources[-1] if sources else ()):
        url = next((address for token in source if (address := _url(token)) is not None), None)
        formats = {
            getattr(inner, "value", "").lower()
            for token in source
            if token.type == "function" and token.lower_name == "format"
            for inner in token.arguments
            if inner.type in ("string", "ident")
        }
        if url is not None and not formats & _OLD_FORMATS:
            yield from place.references(url, is_certain=False)
            return


def _split(tokens: Iterable[Any]) -> list[list[Any]]:
    parts: list[list[Any]] = [[]]
    for token in tokens:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _url(token: Any) -> str | None:
    """The URL that a token is: quoted or not."""
    if token.type == "url":
        return str(token.value)
    if token.type == "function" and token.lower_name in ("url", "src"):
        strings = [argument.value for argument in token.arguments if argument.type == "string"]
        return str(strings[0]) if strings else None
    return None


def _urls(tokens: Iterable[Any], place: UrlPlace) -> Iterator[Reference]:
    """All URLs in tokens, however deep; without recursion, since others nest as deep as they like."""
    pending = [(token, False) for token in reversed(list(tokens))]
    while pending:
        token, is_in_set = pending.pop()
        url = token.value if is_in_set and token.type == "string" else _url(token)
        if url is not None:
            yield from place.references(url, is_certain=False)
            continue
        is_set = token.type == "function" and token.lower_name in _SETS
        inner = getattr(token, "arguments", None) or _values(token)
        if isinstance(inner, list):
            pending += [(value, is_set) for value in reversed(inner)]
