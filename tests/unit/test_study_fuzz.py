"""Mutated study files: each is refused in words, or means what it says; nothing else happens."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.feasibility import checked_plan
from headway.errors import WrongInputError
from headway.study import load
from headway.study.consistency import MOST_RUNS
from headway.study.library import builtin_files, builtin_names
from headway.study.load import Source, parse_study

ROOT = Path(__file__).parents[2]
MUTANTS, PARTS, ALWAYS = 10_000, 10, 2
MUTANTS_OF_A_PAPER, ALWAYS_OF_A_PAPER = 60, 20
PAPERS = sorted(set(builtin_names()) - {"quickstart"})
"""Their studies are large: a mutant takes half a second."""
MOST_PLANNED = 2_000
"""Runs of a mutant that is planned, too; the largest study has more."""

BYTES = "\0\t\n \"#'+,-.0123456789=EN[]_aeinstx{}\u00e9\ufeff"
VALUES = (
    *("0", "-1", "1.5", "1e308", "nan", "inf", "true", '""', "[]", "{}", "[[]]", "1979-05-27"),
    *('"0 %"', '"100 %"', '"1e308 ms"', '"-1 s"', '"1e30 Mbit/s"', '"1.5 B"', '"40,5 ms"'),
    *('"1 BDP"', '"0 packets"', '"h3"', '"bbr"', '"envoy"', '"\\u0000"', "1000000000"),
    *('{ mean = "60 %", burst = 1 }', '["10 ms", "10.0 ms"]', '"objects-1x1kB"', '"geo"'),
    "99999999999999999999999",
)
KEYS = ("path", "rate", "rtt", "loss", "queue", "workload", "kind", "site", "proxy", "hops", "x_")
TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z0-9_.+-]+|[^\sA-Za-z0-9_]')


def corpus() -> list[str]:
    """Studies of the documentation, which have every part of the format, and a built-in one."""
    pages = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    examples = [
        text
        for page in pages
        for text in re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)
        if "name" in tomllib.loads(text)
    ]
    return [*examples, builtin_files()["quickstart"].read_text()]


def mutant(text: str, draw: random.Random) -> str:
    """A study's text after one to three changes of bytes, tokens or lines."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        match draw.randrange(6):
            case 0:
                at = draw.randrange(len(text))
                text = text[:at] + draw.choice(BYTES) + text[at + draw.randrange(2) :]
            case 1:
                at = draw.randrange(len(text))
                text = text[:at] + text[at + draw.randint(1, 8) :]
            case 2 | 3:
                tokens = list(TOKEN.finditer(text))
                token = draw.choice(tokens)
                new = draw.choice((*VALUES, *KEYS, draw.choice(tokens)[0]))
                text = text[: token.start()] + new + text[token.end() :]
            case 4:
                lines = text.splitlines(keepends=True)
                lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
                text = "".join(lines)
            case _:
                lines = text.splitlines(keepends=True)
                del lines[draw.randrange(len(lines))]
                text = "".join(lines) or "\n"
    return text


def mutants(texts: list[str], seed: object) -> Iterator[str]:
    draw = random.Random(f"mutants {seed}")
    while True:
        yield mutant(draw.choice(texts), draw)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many settings a study was validated by, at most the bound; as a measure of work."""
    counted: list[int] = []
    real = load.check_number

    def counting(experiments: list[load.Experiment], source: Source) -> None:
        real(experiments, source)
        counted.append(
            sum(len(list(islice(e.grid(), MOST_RUNS))) * len(e.contenders) for e in experiments)
        )

    monkeypatch.setattr(load, "check_number", counting)
    return counted


def by_night(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.nightly)


@pytest.mark.parametrize("part", [*range(ALWAYS), *map(by_night, range(ALWAYS, PARTS))])
def test_a_mutant_is_refused_in_words_or_planned(part: int, made: list[int]) -> None:
    _try(islice(mutants(corpus(), part), MUTANTS // PARTS), ROOT, made)


@pytest.mark.parametrize(
    ("first", "end"), [(0, ALWAYS_OF_A_PAPER), by_night(ALWAYS_OF_A_PAPER, MUTANTS_OF_A_PAPER)]
)
@pytest.mark.parametrize("paper", PAPERS)
def test_a_mutant_of_a_papers_study_is_refused_in_words_or_planned(
    paper: str, first: int, end: int, made: list[int]
) -> None:
    file = builtin_files()[paper]
    _try(islice(mutants([file.read_text()], paper), first, end), file.parent, made)


def _try(texts: Iterator[str], directory: Path, made: list[int]) -> None:
    accepted = 0
    for text in texts:
        try:
            study = parse_study(Source("s.toml", text, directory), both=True)
            if sum(e.repetitions.most for e in study.experiments) * made[-1] <= MOST_PLANNED:
                checked_plan(study, "s.toml")
            accepted += 1
        except WrongInputError as error:
            said = str(error)
            assert "\n" not in said, (said, text)
            assert re.match(r"s\.toml(:\d+)?: ", said), (said, text)
            assert not re.search(r"Input should|pydantic|Traceback|NoneType", said), (said, text)
        assert not made or made[-1] <= MOST_RUNS
    assert accepted


def keys(tables: object, prefix: str = "") -> Iterator[str]:
    if isinstance(tables, dict):
        for key, value in tables.items():
            yield f"{prefix}{key}"
            yield from keys(value, f"{prefix}{key}.")
    elif isinstance(tables, list):
        for value in tables:
            yield from keys(value, prefix)


def with_key(tables: object, place: list[object]) -> None:
    """Put a key that nobody knows into the table at a place."""
    for step in place:
        tables = tables[step]  # type: ignore[index]
    tables["unheard_of"] = "1 ms"  # type: ignore[index]


def places(tables: object, place: list[object]) -> Iterator[list[object]]:
    """Every table of a study but those whose keys are names."""
    if isinstance(tables, dict):
        if not place or place[-1] not in ("experiments", "contenders", "knobs", "where"):
            yield place
        steps: list[object] = list(tables)
    else:
        steps = list(range(len(tables))) if isinstance(tables, list) else []
    for step in steps:
        yield from places(tables[step], [*place, step])  # type: ignore[index]


@pytest.mark.parametrize("number", range(len(corpus())))
def test_no_unknown_key_is_passed_over_wherever_it_stands(number: int) -> None:
    text = corpus()[number]
    for place in places(tomllib.loads(text), []):
        tables = tomllib.loads(text)
        with_key(tables, place)
        with pytest.raises(WrongInputError, match="unheard_of"):
            load.study_from(tables, both=True)


def test_built_in_studies_are_part_of_what_is_mutated() -> None:
    assert "quickstart" in builtin_names() and len(corpus()) > 15
