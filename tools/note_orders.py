"""Note what studies order from the lab, for `tests/unit/test_same_orders.py`.

Run it when orders change on purpose, and say in the commit what changed and why.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.unit.test_same_orders import NOTED, noted

NOTED.write_text(json.dumps(noted(), indent=1) + "\n")
