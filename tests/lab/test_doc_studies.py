"""The documentation's studies are carried out in their short form, and end as their page says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from headway.campaign.feasibility import checked_plan
from headway.errors import HeadwayError
from headway.study.load import Source, parse_study
from tests.doc_examples import ROOT, as_toml, carry_out, complaints, prose, short, studies
from tests.lab.conftest import brought

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("machine")]

BROWSER = "a browser's loads take minutes; tests/lab/test_pages.py has some"
NOT_CARRIED_OUT = {
    "README.md:page": BROWSER,
    "docs/browser.md:page-by-protocol": BROWSER,
    "docs/findings/page-beside-download.md:page-beside": BROWSER,
    "docs/findings/first-flight-loss.md:a-packet-of-the-first-flight": BROWSER,
    "docs/findings/perna2022.md:waiting-servers": BROWSER,
    "docs/findings/qpack.md:tables": BROWSER,
    "docs/findings/broken-ipv6.md:broken-ipv6": BROWSER,
    "docs/findings/discovery.md:first-visit": BROWSER,
    "docs/findings/first-images.md:orders": BROWSER,
    "docs/findings/kakhki-small-objects.md:handshakes": BROWSER,
    "docs/report.md:sizes-and-rates": BROWSER,
    "docs/study-flows.md:page-beside-a-download": BROWSER,
    "docs/study-discovery.md:third-visit": BROWSER,
    "docs/page-loads.md:a-page-again": BROWSER,
    "docs/page-loads.md:slow-application": BROWSER,
}
"""Examples that are planned only (`tests/unit/test_docs.py`), and why."""


@dataclass(frozen=True)
class Ending:
    """How a study ends that has something to say.

    Attributes:
        status: the command's.
        lines: a part of each line that it says on standard error.
        page: what its page says of that.
    """

    status: int
    lines: tuple[str, ...]
    page: str


ENDINGS = {
    "docs/findings/same-controller.md:bursts": Ending(
        0,
        ("losses come in bursts in both directions",),
        "Bursts in both directions make single pairs differ by up to 9 times",
    ),
    "docs/findings/nginx-ignores-loss.md:lossy": Ending(
        0,
        ("the study asks nginx's QUIC for no", "the study asks nginx's QUIC for no"),
        "Both commands note that the study asks nginx's QUIC for no congestion control",
    ),
    "docs/findings/nginx-stuck-handshake.md:lost-server-hello": Ending(
        1,
        ("it uses reno; TCP", "it uses reno; TCP", "1 of 6 runs failed, such as cell-nginx"),
        "is Reno. It ends with status 1, because one of 6 runs failed",
    ),
    "docs/budgets.md:page-budget": Ending(
        0,
        ("contenders 'base' and 'head' are the same",),
        "Until then a note says that both contenders are the same",
    ),
    "docs/changed-addresses.md:who-migrates": Ending(
        1, ("runs failed",), "It ends with status 1, because many of its runs fail"
    ),
}
CARRIED_OUT = {name: raw for name, raw in studies().items() if name not in NOT_CARRIED_OUT}


def test_what_is_said_of_examples_is_of_examples_that_there_are() -> None:
    assert set(NOT_CARRIED_OUT) <= set(studies())
    assert set(ENDINGS) <= set(CARRIED_OUT)
    for name, ending in ENDINGS.items():
        assert ending.page in prose(ROOT / name.partition(":")[0])


def add_programs(text: str) -> None:
    """Bring the optional programs that a study has; skips the test if one cannot be had."""
    runs = checked_plan(parse_study(Source("study.toml", text, Path())), "study.toml")
    for extra in {end.adapter.extra for run in runs for end in run.deployment.programs} - {None}:
        found = brought(str(extra))
        if isinstance(found, HeadwayError):
            pytest.skip(str(found))


@pytest.mark.parametrize("name", CARRIED_OUT)
def test_an_example_ends_as_its_page_says(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    text = as_toml(short(CARRIED_OUT[name]))
    add_programs(text)
    Path("study.toml").write_text(text)
    status = carry_out(["run", "study.toml", "--out", "results"])
    said = capsys.readouterr().err
    ending = ENDINGS.get(name, Ending(0, (), ""))
    assert status == ending.status, said
    told = complaints(said)
    assert len(told) == len(ending.lines), said
    assert all(part in line for part, line in zip(ending.lines, told, strict=True)), said
