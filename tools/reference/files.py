"""The pages of files of others, and of what a recorded site replays of its header fields."""

from __future__ import annotations

from collections.abc import Iterable

from headway.foreign.kinds.every import every_kind
from headway.foreign.kinds.model import FileKind, Identity
from headway.sites.cleanup import CHANGED, DROPPED, FieldRule

_SITE_HEADERS = """\
# Header fields of recorded sites

Generated from `src/headway/sites/cleanup.py` by `make docs`. Headway changes these header fields when
it reads a recording, alike for archives of all tools. It replays all other fields as they were
recorded. More on [sites](sites.md).

## Not replayed

| field | why |
|---|---|
{dropped}

## Replayed otherwise than recorded

| field | how |
|---|---|
{changed}
"""

_FILES = """\
# Files of others

Generated from `src/headway/foreign/kinds/` by `make docs`. Headway recognises a file by its content, and not by its name.
`headway look FILE` says what it is, who made it, what it holds and which command takes it:

```text
$ headway look driving.trace
driving.trace: a trace of Mahimahi's form
  length             39.8 s, then again from its beginning
  mean rate          1.08 Mbit/s
  highest rate       21.6 Mbit/s over a second
  first opportunity  1 ms
  longest gap        30 s
  largest burst      3 packets in a millisecond, 4.5 kB
  opportunities      3,598 of 1500 bytes
  |▆  ▆▆        ▂                                             █| rate
  0                                                       39.8 s
  name it in a study: `path.rate = {{ trace = "driving.trace" }}`
```

`headway look --json` prints a JSON object for each file. It ends with status 2 if a file cannot be read, is empty, damaged or
unknown. `validate` and `plan` print a line about each file that a study names. If a command gets
a file of another kind, its message names the kind, and the command that takes it.

Files may be compressed with gzip, once or more, and texts may begin with a byte order mark. [Bounds](recording.md#bounds-of-files) limit
the content of a file.

## Read

| file | what is read | what takes it |
|---|---|---|
{read}

[Files that are not read](files-not-read.md) lists other kinds that Headway recognises.
"""

_FILES_NOT_READ = """\
# Files that are not read

Headway recognises these files of others, but does not read them. Generated from `src/headway/foreign/kinds/` by `make docs`;
[files that are read](files.md).

| file | what to do |
|---|---|
{known}
"""


def files() -> dict[str, str]:
    """The texts of docs/files.md and of its page of files that are not read, by name."""
    kinds = [kind for kind in every_kind() if not kind.is_defect]
    read = [f"| {_noun(kind)} | {kind.reads} | {_way(kind)} |" for kind in kinds if kind.is_read]
    ways: dict[str, list[str]] = {}
    for noun, way in sorted((_noun(kind), _way(kind)) for kind in kinds if not kind.is_read):
        ways.setdefault(way or "nothing", []).append(noun)
    known = [f"| {'; '.join(nouns)} | {way} |" for way, nouns in ways.items()]
    return {
        "files.md": _FILES.format(read="\n".join(read)),
        "files-not-read.md": _FILES_NOT_READ.format(known="\n".join(known)),
    }


def _noun(kind: FileKind) -> str:
    return str(Identity(kind)).replace(" ()", "").replace(" )", ")")


def _way(kind: FileKind) -> str:
    return kind.way.format(file="FILE")


def site_headers() -> str:
    """The text of docs/site-headers.md."""
    return _SITE_HEADERS.format(dropped=_rules(DROPPED), changed=_rules(CHANGED))


def _rules(rules: Iterable[FieldRule]) -> str:
    return "\n".join(
        f"| {', '.join(f'`{name}`' for name in rule.fields)} | {rule.why}. |" for rule in rules
    )
