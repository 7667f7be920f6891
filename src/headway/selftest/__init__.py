"""The emulation's self-test: what a path states, measured from inside a lab."""

from headway.selftest.battery import battery
from headway.selftest.check import Check
from headway.selftest.measure import check_paths, measure_path
from headway.selftest.table import print_checks

__all__ = ["Check", "battery", "check_paths", "measure_path", "print_checks"]
