"""Cases of CUBIC against made courses."""

from __future__ import annotations

import pytest

from headway.instruments.conformance.cases.cubic import Decrease
from tests.unit.instruments.conformance.judging import result
from tests.unit.instruments.conformance.test_newreno import cut_to


@pytest.mark.parametrize(("share", "expected"), [(0.7, "pass"), (0.5, "fail"), (0.85, "fail")])
def test_a_loss_takes_three_tenths(share: float, expected: str) -> None:
    assert result(Decrease(), cut_to(share)) == expected
