"""The machine: boot, clocks, network; the host's side of one run."""
