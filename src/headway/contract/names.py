"""Names that a lab and its host share: files, directories, permissions; and one size."""

from __future__ import annotations

ORDERS_FILE = "orders.json"
OUTCOME_FILE = "outcome.json"
SAMPLES_FILE = "samples.jsonl"
CONTROLS_FILE = "tcp.json"
"""Names of the congestion controls of the connections that were sampled, by namespace."""
QLOG_DIRECTORY = "qlog"
"""In a run's directory: a directory for each host, which holds its programs' qlog files."""
CAPTURE_BUFFER_MIB = 32
"""What the kernel keeps of a device until its capture is scheduled: a burst costs no virtual time."""
NET_NAMESPACES = "net-namespaces"
"""Of what programs may be allowed: to make network namespaces, and whatever else CAP_SYS_ADMIN lets do."""
NATIVE_DIRECTORY = "/lab/extras/headway"
"""Where a lab shows Headway's own programs; they are in ``PATH`` too."""
AGENT_PROGRAM = "headway-agent"
"""Of these the one that every lab runs first, as its init (``image/init.c``) has it."""
