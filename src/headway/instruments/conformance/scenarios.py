"""Scenarios that cases of several families share."""

from __future__ import annotations

from headway.instruments.conformance.scenario import SenderScenario

ONE_LOSS = SenderScenario(
    rate_mbit=20, rtt_ms=60, queue_bdp=4, seconds=3.2, lost_packets=(120,), losses_s=(2.5,)
)
"""Slow start ends early, and a single packet is lost later, in congestion avoidance."""
BURST_OF_LOSSES = SenderScenario(
    rate_mbit=20,
    rtt_ms=60,
    queue_bdp=4,
    seconds=3.5,
    lost_packets=(120,),
    blackouts_s=((2.5, 2.507),),
)
"""The same with about ten packets of one flight."""
FAST_START = SenderScenario(rate_mbit=100, rtt_ms=100, queue_bdp=2, seconds=0.3)
"""A path that holds many times an initial window."""
OUTAGE = SenderScenario(
    rate_mbit=20,
    rtt_ms=60,
    queue_bdp=4,
    seconds=5,
    lost_packets=(120,),
    blackouts_s=((2.5, 5.5),),
)
"""All packets to the client are lost for three seconds."""
BURSTY_APPLICATION = SenderScenario(
    rate_mbit=50,
    rtt_ms=100,
    queue_bdp=2,
    seconds=1,
    workload={
        "kind": "video",
        "ladder": ["1 Mbit/s"],
        "segment": "1 s",
        "duration": "20 s",
        "buffer": "2 s",
        "rule": "lowest",
    },
)
"""A segment of a video each second, which is a small part of what the path would take."""
