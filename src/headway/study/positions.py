"""Lines of a TOML text's keys: what tomllib does not tell, for messages."""

from __future__ import annotations

import re
from collections.abc import Iterator

Key = tuple[str, ...]
"""A key's parts, from the document down; tables in lists by their number."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY_PART = re.compile(r"""[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_WORD = re.compile(r"[^,\]}\n#]*")
"""A number, a date, true or false."""


def positions(text: str) -> list[tuple[Key, int, str]]:
    """Every key with the line in which it stands and its value as written, in the order of the text.

    What stands inside texts, comments and keys in quotes is no key. Tables have the line of their header or of
    their brace, values of lists that of their first character; a dotted key is given for each of its parts.

    Args:
        text: of a valid TOML document; of another one, what was read until it is not.
    """
    return list(_KeyReader(text).document())


class _KeyReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counted_to, self._line = 0, 1
        self._newest: dict[Key, int] = {}
        """Number of the newest table of each list of tables."""

    def document(self) -> Iterator[tuple[Key, int, str]]:
        table: Key = ()
        while self._skip_blanks():
            start = self._at
            if self._took("["):
                of_list = self._took("[")
                key = self._key()
                table = self._header(key, of_list=of_list)
                line = self._line_at(start)
                yield from ((table[:end], line, "") for end in range(1, len(table) + 1))
                self._took("]")
                self._took("]")
            else:
                yield from self._pair(table)
            if self._at == start:
                return

    def _header(self, key: Key, *, of_list: bool) -> Key:
        """A header's table: one below a list belongs to the list's newest table."""
        texts: Key = ()
        for part in key:
            if texts in self._newest:
                texts += (str(self._newest[texts]),)
            texts += (part,)
        if of_list:
            self._newest[texts] = self._newest.get(texts, -1) + 1
            texts += (str(self._newest[texts]),)
        elif texts in self._newest:
            texts += (str(self._newest[texts]),)
        return texts

    def _pair(self, table: Key) -> Iterator[tuple[Key, int, str]]:
        start = self._at
        key = self._key()
        whole = (*table, *key)
        line = self._line_at(start)
        for end in range(len(table) + 1, len(whole)):
            yield whole[:end], line, ""
        if self._took("="):
            yield from self._value(whole, line)

    def _value(self, key: Key, line: int) -> Iterator[tuple[Key, int, str]]:
        self._skip_blanks()
        start = self._at
        if self._took("["):
            yield key, line, ""
            number = 0
            while self._skip_blanks() and not self._took("]"):
                before = self._at
                yield from self._value((*key, str(number)), self._line_at(before))
                number += 1
                self._skip_blanks()
                if not self._took(",") and self._at == before:
                    return
        elif self._took("{"):
            yield key, line, ""
            while self._skip_blanks() and not self._took("}"):
                before = self._at
                yield from self._pair(key)
                self._skip_blanks()
                if not self._took(",") and self._at == before:
                    return
        else:
            match = _STRING.match(self._text, start) or _WORD.match(self._text, start)
            self._at = match.end() if match else start
            yield key, line, self._text[start : self._at].strip()

    def _key(self) -> Key:
        parts: list[str] = []
        while match := _KEY_PART.match(self._text, self._at):
            self._at = match.end()
            parts.append(next(group for group in match.groups() if group is not None))
            if not self._took("."):
                break
        return tuple(parts)

    def _took(self, sign: str) -> bool:
        """Go behind a sign, if it is the next."""
        taken = self._text.startswith(sign, self._at)
        self._at += len(sign) if taken else 0
        return taken

    def _skip_blanks(self) -> bool:
        """Go behind blanks, ends of lines and comments; returns whether anything is left."""
        match = _BLANK.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at < len(self._text)

    def _line_at(self, place: int) -> int:
        """Places only grow."""
        self._line += self._text.count("\n", self._counted_to, place)
        self._counted_to = place
        return self._line
